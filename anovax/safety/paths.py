"""Files that matter: secrets, system folders, start-up files, devices."""

from __future__ import annotations

import fnmatch
import re

HOME = "/home/user"
SYSTEM = ("/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/opt", "/proc", "/root", "/run", "/sbin",
"/srv", "/sys", "/usr",
          "/var", "/library", "/system", "/applications", "/private", "/snap", "/nix", "/mnt", "/media", "/volumes",
          "/lost+found")  # fmt: skip
_BELOW_SYSTEM = tuple(folder + "/" for folder in SYSTEM)
_HARMLESS_DEVICES = re.compile(r"/dev/(null|stdout|stderr|stdin|tty|fd/[012]|zero|full|u?random|pts/\d+)$")
_SECRETS = re.compile(
    r"""(?x)
    ^/etc/(passwd|shadow|gshadow|group-|sudoers|master\.passwd|security|ssl/private|krb5\.keytab|ssh|openvpn|wireguard|pam\.d|
      networkmanager/system-connections|ppp|ipsec|mysql|postgresql|cups/ssl|letsencrypt)([-~./]|$)
    |^/(var/)?root(/|$) | ^/proc/(self|\d+|\*|[^/]+)/(environ|mem|maps|cmdline|fd|root|cwd)
    |^/proc/(kcore|kallsyms|sysrq) | ^/dev/(mem|kmem|port)
    |^/var/(log/(auth|secure|audit|wtmp|btmp|lastlog|utmp|messages|faillog)|spool/(cron|mail)|lib/(mysql|postgresql|docker|private|gdm)|run/secrets)
    |^/run/secrets | (^|/)docker\.sock
    |(^|/)\.(ssh|gnupg|aws|azure|kube|docker|password-store|gcloud|mozilla|thunderbird|vault-token|netrc|pgpass|my\.cnf|git-credentials|
      npmrc|pypirc|s3cfg|boto|htpasswd|env|bash_history|zsh_history|python_history|mysql_history|psql_history|node_repl_history|
      sh_history|viminfo|lesshst|histfile|xauthority|iceauthority|recently-used\.xbel|dbshell)(/|$)
    |(^|/)\.config/(google-chrome|chromium|gcloud|gh|hub|rclone|bravesoftware|autostart|op|1password|evolution|doctl|filezilla|keepassxc)
    |(^|/)\.local/share/(keyrings|kwalletd|recently-used)
    |(^|/)library/(keychains|application\ support/(google|firefox))
    |(^|/)(id_(rsa|dsa|ecdsa|ed25519)(\.bak)?|authorized_keys|known_hosts|credentials(\.json)?|secrets?\.(ya?ml|json|txt)|passwords?(\.\w+)?|
      shadow(\.bak|-)?|ntds\.dit|sam|login\ data|logins\.json|key[34]\.db|cookies(\.sqlite)?|wallet\.dat|web\ data|
      wp-config\.php|\.env(\.\w+)?|local\.settings\.json|terraform\.tfstate|kubeconfig|[^/]*\.(pem|pfx|p12|kdbx|keytab|ovpn|jks|ppk|asc|gpg))$
    """
)
# What a glob may stand for: the secrets that are most often asked for, as whole paths
_SAMPLES = ("/etc/passwd", "/etc/shadow", "/etc/sudoers", "/etc/gshadow", "/root", "/home/user/.ssh/id_rsa",
"/home/user/.ssh", "/home/user/.aws",
            "/home/user/.bash_history", "/proc/self/environ", "/home/user/.gnupg", "/etc/hosts",
            "/etc/ssh")  # fmt: skip
_STARTUP = re.compile(
    r"""(?x)(^|/)\.(bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|kshrc|cshrc|tcshrc|inputrc|
    xinitrc|xsession|xprofile|xsessionrc|vimrc|emacs|gitconfig|gitignore_global|pam_environment|tmux\.conf|screenrc|wgetrc|curlrc|
    bash_history|zsh_history|forward|rhosts|hushlogin|netrc|npmrc|pythonrc|gdbinit|
    zlogout|login|logout|xmodmap|xmodmaprc|xresources|xdefaults|xbindkeysrc|xserverrc|fehbg|dmrc|selected_editor|mailcap|mailrc|
    mutt|muttrc|pip|condarc|cargo/(config|config\.toml|env|bin)|m2|gradle|rprofile|irbrc|pryrc|ipython|jupyter|pdbrc|psqlrc|
    sqliterc|my\.cnf|octaverc|ghci|lldbinit|hgrc|nanorc|exrc|gvimrc|vim|emacs\.d|lessfilter|direnvrc|envrc|
config/(autostart|systemd|fish|environment\.d|nvim|git|
    pip|openbox|i3|sway|hypr|awesome|bspwm|sxhkd|qtile|herbstluftwm|kitty|alacritty|wezterm|tmux|zsh|plasma-workspace|mimeapps\.list)|ssh|gnupg|aws|kube|docker|mozilla|local/share/(applications|systemd|keyrings|dbus-1)|local/bin|git/hooks|
    git/config|git)(/|$) | (^|/)library/(launchagents|launchdaemons|startupitems) | (^|/)authorized_keys$"""
)
_SEARCHED = re.compile(
    r"(?i)pass(word|wd|phrase|code)?s?\b|passw|credential|secret|token|api.?key|private.?key|id_rsa|bearer|"
    r"aws_|pwd=|begin(?:(?!begin).)*key|begin (rsa|dsa|ec|openssh|pgp|private)|\.pem|\.kdbx|\.key\b|wallet"
)


def is_secret(path: str) -> bool:
    """Reading it would give away a credential or a private record."""
    path = path.casefold().rstrip("/") or "/"
    if _SECRETS.search(path):
        return True
    if not re.search(r"[*?\[]", path):
        return False
    return any(_matches(sample, path) for sample in _SAMPLES) and not re.fullmatch(
        r"[*/.]*|/home/\*|/home/user/\*", path
    )


def _matches(sample: str, pattern: str) -> bool:
    return sample.count("/") == pattern.count("/") and fnmatch.fnmatchcase(sample, pattern)


def is_system(path: str) -> bool:
    """A system folder or something below it (devices that only swallow or yield bytes are not)."""
    path = path.casefold()
    if path in ("/", "//", "/*", "/."):
        return True
    if _HARMLESS_DEVICES.match(path) or (
        path.startswith(("/var/tmp/", "/dev/shm/", "/run/user/", "/media/", "/mnt/")) and path.count("/") > 3
    ):
        return False
    if path in SYSTEM or path.startswith(_BELOW_SYSTEM):
        return True
    return bool(re.match(r"/[^/]*[*?\[]", path))


_EVERYTHING = ("*", ".*", "*.*", ".[!.]*", "{*,.*}", ".??*", ".")


def is_whole(path: str) -> bool:
    """A root, a home, everybody's homes, the folder above, or all of one of them: losing it is losing everything."""
    path = path.casefold().rstrip("/") or "/"
    parts = path.split("/")
    while len(parts) > 1 and parts[-1] in _EVERYTHING:
        parts.pop()
    path = "/".join(parts) or "/"
    if path in ("/", "/home", "/users", "..", "~", "/root", "/data", "/tmp", "/home/*", "*") or re.fullmatch(
        r"/(home|users)/[^/]+", path
    ):
        return True
    return (
        path in SYSTEM
        or (path.startswith(SYSTEM) and path.count("/") <= 2 and is_system(path))
        or (set(path) <= set("./") and ".." in path)
    )


def is_startup(path: str) -> bool:
    """A file that a shell, a login, a desktop or a tool reads by itself."""
    return bool(_STARTUP.search(path.casefold()))


def is_device(path: str) -> bool:
    return (
        path.casefold().startswith(("/dev/", "\\\\.\\"))
        and not _HARMLESS_DEVICES.match(path)
        and not path.startswith("/dev/shm/")
    )


def is_scratch(path: str) -> bool:
    """Something below a temporary folder, named as a whole."""
    return bool(re.match(r"/(var/)?tmp/[\w.+-]+[^*?]*$", path)) and ".." not in path


def seeks_secrets(pattern: str) -> bool:
    return bool(_SEARCHED.search(pattern))
