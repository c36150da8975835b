"""Commands on the machine: disks, services, processes, power, users, kernel, packages, schedules, traces."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from anovax.safety.finding import Finding, ask, notice, refuse
from anovax.safety.normalise import words
from anovax.safety.posix.words import Command

if TYPE_CHECKING:
    from anovax.safety.posix.shell import Run

Rule = Callable[[Command, "Run"], "Finding | None"]


def _always(decide: Callable[[str, str], Finding], rule: str, reason: str, names: str) -> dict[str, Rule]:
    """A rule for programs that are asked about whatever their arguments are, except plain requests for help."""

    def judge(command: Command, run: Run) -> Finding | None:
        return decide(rule, reason)

    return dict.fromkeys(words(names), judge)


def _unless(harmless: str, rule: str, reason: str, names: str, bare: bool = True) -> dict[str, Rule]:
    """A rule for programs with a harmless first operand or option (a pattern); ``bare``: harmless without arguments."""
    pattern = re.compile(harmless)

    def judge(command: Command, run: Run) -> Finding | None:
        if not command.args:
            return None if bare else ask(rule, reason)
        told = command.texts[:1] in (("-v",), ("-h",)) and len(command.args) > 1  # verbose, not version
        if not told and any(pattern.fullmatch(text) for text in command.texts[:2]):
            return None
        return ask(rule, reason)

    return dict.fromkeys(words(names), judge)


def _with_arguments(rule: str, reason: str, names: str) -> dict[str, Rule]:
    def judge(command: Command, run: Run) -> Finding | None:
        return ask(rule, reason) if command.args else None

    return dict.fromkeys(words(names), judge)


def _format(command: Command, run: Run) -> Finding | None:
    """mkfs and its kind; Windows' format has a drive letter."""
    if any(re.fullmatch(r"[a-z]:\\?|/fs:.*|/q|/y|/p:\d+", text) for text in command.low) or command.name != "format":
        return refuse("destroy", "it would erase a disk") if command.args else None
    return None


def _power(command: Command, run: Run) -> Finding | None:
    if command.name in ("init", "telinit"):
        return ask("power", "it shuts down or restarts the computer") if set(command.texts) & set("0123456sS") else None
    if (command.has("c") and command.name == "shutdown") or "/a" in command.low:
        return None
    if not _prose(command):
        return ask("power", "it shuts down, restarts or suspends the computer")
    return None


def _prose(command: Command) -> bool:
    """``shut down the argument``: words, no options and no times."""
    return bool(command.args) and all(
        re.fullmatch(r"[a-z,.!?']{2,}", text) and text not in ("now", "all", "please") for text in command.low
    )


def _kill(command: Command, run: Run) -> Finding | None:
    if command.name == "xkill":
        return ask("processes", "it kills the window that is clicked next")
    if command.name == "killall5":
        return ask("processes", "it ends all running programs")
    if not command.args or set(command.low) & {"-l", "--list", "-ln"} or "-0" in command.texts:
        return None
    operands = command.operands("sn")
    if command.name == "kill":
        named = [word for word in operands if word.open or re.fullmatch(r"-?\d+|%\S+", word.text)]
        if len(named) != len(operands) or (not operands and not re.search(r"-\w", " ".join(command.texts))):
            return None
    return ask("processes", "it ends running programs")


_SERVICE_ACTIONS = words("""start stop restart reload force-reload try-restart condrestart zap enable disable up down
    once pause cont hup alarm interrupt quit kill term exit shutdown delete purge add remove destroy reset""")


def _services(command: Command, run: Run) -> Finding | None:
    verbs = words(
            """status list-units list-unit-files list-timers list-sockets list-dependencies list-jobs list show cat
            is-active is-enabled is-failed is-system-running help get-default print blame dump managername info"""
        )  # fmt: skip
    operands = [text for text in command.low if not text.startswith("-")]
    if not operands or operands[0] in verbs or (len(operands) == 2 and operands[1] == "status"):
        return None
    if command.name in ("service", "rc-service", "sv") and not set(operands) & _SERVICE_ACTIONS:
        return None
    return ask("services", "it changes what the system runs")


def _history(command: Command, run: Run) -> Finding | None:
    return (
        ask("traces", "it deletes or hides the history of commands")
        if command.has("cdwarpse") and not command.low[0].isdigit()
        else None
    )


def _set(command: Command, run: Run) -> Finding | None:
    if "history" in command.low and "+o" in command.low:
        return ask("traces", "it stops the history of commands")
    return None


_TRACING = words("""HISTFILE HISTSIZE HISTFILESIZE HISTCONTROL HISTIGNORE SAVEHIST HISTTIMEFORMAT""")
# Variables that name code or options for other programs, or the way to the net
_RISKY = re.compile(
    r"LD_\w+|DYLD_\w+|BASH_(ENV|FUNC_.*|LOADABLES_PATH)|PROMPT_COMMAND|ENV|ZDOTDIR|INPUTRC|PATH|IFS|SHELLOPTS|BASHOPTS|PS4|"
    r"PYTHON(STARTUP|PATH|HOME|BREAKPOINT|INSPECT)|PERL5\w+|RUBY(OPT|LIB)|NODE_(OPTIONS|PATH|TLS_REJECT_UNAUTHORIZED)|"
    r"(_JAVA|JAVA_TOOL|JDK_JAVA)_OPTIONS|CLASSPATH|LUA_INIT\w*|(VIM|EX)INIT|(TAR|ZIP|RAR|GREP)_OPTIONS|"
    r"(RSYNC|CVS)_RSH|GCONV_PATH|(GTK|QT)\d?_(MODULES|PLUGIN_PATH)|(RUSTC|CARGO_BUILD_RUSTC)_WRAPPER|npm_config_\w+|"
    r"\w*_ASKPASS|MANPAGER|LESSOPEN|(?i:(https?|all|ftp)_proxy)|"
    r"GIT_(?!AUTHOR|COMMITTER|TRACE|TERMINAL_PROMPT|OPTIONAL_LOCKS|MERGE_AUTOEDIT|CURL_VERBOSE)\w+"
)
_EVALUATED = words("PS0 PS1 PS2 PS3 PROMPT RPROMPT MAKEFLAGS GNUMAKEFLAGS")


def assignment(name: str, value: str) -> Finding | None:
    """``NAME=value`` before or instead of a command."""
    if name in _TRACING:
        return ask("traces", "it hides the history of commands")
    if (
        name == "PATH"
        and re.match(r"[\w$\"{}/:.~-]*(/usr/local/bin|/usr/bin|:/bin)", value)
        and not re.match(r"\.|/tmp", value)
    ):
        return notice("environment", "it changes where programs are looked for")
    if _RISKY.fullmatch(name) or (name in _EVALUATED and re.search(r"\$\(|`|--eval|=", value)):
        return ask("environment", f"{name} changes what every later command does")
    return None


def _unset(command: Command, run: Run) -> Finding | None:
    return next((found for text in command.texts if (found := assignment(text, ""))), None)


def _login(command: Command, run: Run) -> Finding | None:
    named = [text for text in command.low if not text.startswith("-")]
    return ask("services", "it changes sessions or the system's settings") if any(
        re.match((r"(?:set|terminate|kill|lock|unlock|enable|disable|poweroff|reboot|suspend|hibernate|halt|vacuum|"
            r"rotate|flush|delete|remove|down|up|add|del|off|on|connect|disconnect|modify|replace|change|block|dns|"
            r"domain)(?![a-z])"), text)
        for text in named
    ) or any(re.match(r"--(vacuum|rotate|flush|show-sec)", text) for text in command.low) else None  # fmt: skip


def _crypt(command: Command, run: Run) -> Finding | None:
    text = " ".join(command.low)
    if command.name.startswith("gpg") and re.search(
        r"--(export-secret|delete|symmetric|encrypt|passphrase|recipient|import|gen-key)|(^|\s)-\w*[cer]", text
    ):
        return ask("encrypt", "it locks files or gives keys away")
    if command.name == "openssl" and re.search(
        r"\b(enc|aes\S*|des\S*|rsautl|smime|cms|s_client|s_server|genrsa|pkcs12|pkey|rsa|passwd)\b", text
    ):
        return (
            refuse("reverse_shell", "it opens a hidden connection")
            if "s_client" in text and command.piped
            else ask("encrypt", "it locks files or handles keys")
        )
    return None


def _messages(command: Command, run: Run) -> Finding | None:
    if re.search(r"(?i)power|reboot|shutdown|halt|suspend|logout|delete|kill|eval|exec|run", " ".join(command.texts)):
        return ask("services", "it tells another program to act")
    return None


def _load(command: Command, run: Run) -> Finding | None:
    return ask("endless", "it can take all of the computer's time or memory")


def _mount(command: Command, run: Run) -> Finding | None:
    """Bare words such as ``mount everest`` name no disk."""
    if not any(word.open or re.search(r"[-/=:.~]", word.text) for word in command.args):
        return None
    return ask("disk", "it attaches or detaches disks")


def _mac(command: Command, run: Run) -> Finding | None:
    if command.name == "diskutil" and not re.match(r"list|info|activity", " ".join(command.low)):
        return refuse("destroy", "it would erase or change a disk")
    if command.name == "defaults" and command.low[:1] in (("read",), ("find",), ("domains",)):
        return None
    return ask("settings", "it changes the system's settings or secrets") if command.args else None


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(words(
            """mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs mkfs.exfat
            mkfs.f2fs mke2fs mkdosfs mkntfs mkswap wipefs blkdiscard format sgdisk zerofree nwipe dban"""
        ), _format),
    **dict.fromkeys(words(
            """shutdown reboot halt poweroff init telinit suspend hibernate pm-suspend pm-hibernate
            systemctl-poweroff rtcwake"""
        ), _power),
    **dict.fromkeys(words(
    """kill pkill killall killall5 skill snice fuser xkill slay tkill"""
), _kill),
    **dict.fromkeys(words(
            """systemctl service rc-service rc-update update-rc.d chkconfig launchctl initctl start-stop-daemon
            invoke-rc.d sv svc supervisorctl pm2 monit brew-services"""
        ), _services),
    "history": _history, "set": _set, "setopt": _set, "shopt": _set, "unset": _unset, "fc": _history,
    **dict.fromkeys(words(
            """loginctl hostnamectl timedatectl localectl journalctl nmcli bluetoothctl rfkill machinectl
            resolvectl systemd-resolve networkctl iw"""
        ), _login),
    **dict.fromkeys(words(
            """gpg gpg2 openssl"""
        ), _crypt),
    **dict.fromkeys(words(
    """dbus-send busctl gdbus qdbus"""
), _messages),
    **dict.fromkeys(words(
    """yes stress stress-ng forkbomb sysbench cpuburn memtester"""
), _load),
    **dict.fromkeys(words(
            """diskutil defaults csrutil nvram tmutil spctl pmset scutil systemsetup networksetup security dscl
            dseditgroup kextload kextunload fdesetup profiles bless asr xattr chflags"""
        ), _mac),
    **_unless(r"-l|--list|-h|--help|-v|--version|print|list|display|status|luksdump|--detail|isluks", "disk",
    "it changes disks or partitions",
              "fdisk sfdisk cfdisk parted gparted gdisk partprobe kpartx cryptsetup mdadm lvremove "
                  "vgremove pvremove lvreduce lvresize lvextend vgreduce pvcreate vgcreate "
              "lvcreate hdparm badblocks tune2fs e2fsck fsck fsck.ext4 xfs_repair resize2fs debugfs "
                  "losetup dmsetup nvme sdparm smartctl eject partclone zpool zfs btrfs "
              "e4crypt veritysetup fstrim growfs ntfsfix testdisk photorec "
                  "ddrescue sg_format growpart bcache wodim cdrecord flashrom fwupdmgr "
              "efibootmgr grub-install update-grub grub-mkconfig lilo bootctl mokutil update-initramfs "
                  "dracut mkinitcpio", bare=False),
    "mount": _mount,
    **_with_arguments("disk", "it attaches or detaches disks",
    "umount swapoff pivot_root udisksctl mount.cifs mount.nfs sshfs fusermount encfs"),
    **_unless(r"-s|--status|--help|-h|list|--list", "users", "it changes users, groups or passwords",
              "useradd userdel usermod adduser deluser groupadd groupdel groupmod addgroup delgroup "
                  "passwd chpasswd chage gpasswd newusers visudo vipw vigr "
              "pwconv pwunconv grpconv pwck samba-tool smbpasswd pdbedit realm faillock pam_tally2 "
                  "htpasswd kpasswd sysadminctl createhomedir authconfig authselect "
              "vncpasswd newgidmap newuidmap ssh-copy-id expiry", bare=False),
    **_with_arguments("users", "it changes users, groups or passwords", "chsh chfn"),
    **_with_arguments("container", "it leaves the protection of this session",
    "nsenter unshare chroot capsh setpriv runcon bwrap"),
    **_with_arguments("kernel", "it changes the running kernel or its protection",
                      "insmod rmmod modprobe kexec depmod setenforce auditctl aa-disable aa-teardown "
                          "aa-complain aa-remove-unknown apparmor_parser setsebool semodule "
                      "load_policy ausearch-delete chcpu bpftool bpftrace ldconfig "
                          "update-ca-certificates update-ca-trust update-alternatives trust dkms kmod kpatch "
                          "sestatus-off "
                      "alternatives augenrules setserial ldattach msr-tools wrmsr keyctl"),
    **_always(ask, "traces", "it deletes or rewrites records",
    """logrotate last-clear utmpdump wtmpclean zap logtamper faillog auditd-clear bleachbit debugfs-rm"""),
    **_always(ask, "kernel", "it stops protection or accounting",
    "accton auditd setenforce-off unhide-kill disable-selinux"),
    **_unless(r"-\w*[lF]\w*", "secrets", "it makes or changes keys", "ssh-keygen", bare=False),
    **_always(ask, "secrets", "it reads passwords or keys",
              "secret-tool pass gopass op bw lpass keyring kwallet-query unshadow gpp-decrypt credstash "
                  "chamber security-find ykman keepassxc-cli getent vault "
              "ssh-add ssh-agent ssh-keyscan klist kinit ktutil gcore makepwd truecrypt veracrypt"),
    **_always(ask, "spying", "it records keys, screens or network traffic",
              "tcpdump tshark dumpcap wireshark ngrep ettercap bettercap dsniff logkeys showkey evtest "
                  "xinput xev keylogger xspy xwd arecord ffmpeg-record script-key "
              "screencapture fswebcam streamer scrot grim maim parecord parec xclip xsel pbpaste wl-paste"),
}  # fmt: skip
