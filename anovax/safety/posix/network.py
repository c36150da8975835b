"""Commands that talk to other machines: downloads, uploads, tunnels, scans."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from anovax.safety.finding import Finding, ask, notice, refuse, severity
from anovax.safety.normalise import words
from anovax.safety.posix.files import written
from anovax.safety.posix.statements import keep
from anovax.safety.posix.words import Command, Word
from anovax.safety.urls import judge_url

if TYPE_CHECKING:
    from anovax.safety.posix.shell import Run

Rule = Callable[[Command, "Run"], "Finding | None"]
_SENDS = re.compile(
    r"-d$|-d[^-\s]|-F|-T|--data\S*|--form\S*|--upload-file\S*|--post-(data|file)\S*|--body-\S+|--json\S*|"
    r"--mail-\S+|-Q$|--quote|--netrc\S*|-K$|--config\S*|-E$|--cert\S*"
)
_PROGRAM = re.compile(
    r"(?i)\.(sh|bash|py|pl|rb|js|exe|msi|dll|bat|cmd|ps1|vbs|scr|jar|apk|deb|rpm|run|bin|elf|appimage|dmg|pkg|"
    r"iso|sct|hta|so|php|out)(\?|#|$)"
)


def fetch(command: Command, run: Run) -> Finding | None:
    """curl, wget and their kind."""
    if any(word.open or word.substituted for word in command.args):
        return ask("exfiltrate", "where it connects or what it sends is known only then")
    method = re.search(r"(?:-X|--request|--method)[ =]?([A-Za-z]+)", " ".join(command.texts))
    sends = any(_SENDS.match(text) for text in command.texts) and command.name in (
        "curl",
        "wget",
        "http",
        "https",
        "xh",
        "curlie",
    )
    if (
        sends
        or (method and method[1].upper() not in ("GET", "HEAD", "OPTIONS"))
        or (command.piped and command.name == "curl")
    ):
        return ask("send", "it sends data to another computer")
    return _fetched(command) or _saved(command, run)


def _fetched(command: Command) -> Finding | None:
    valued = "oHAebxumKXrwYyzUECPt" if command.name == "curl" else "oOaUPeTtwiQBX"
    worst: Finding | None = None
    for word in command.operands(valued):
        found = judge_url(word.text) if re.search(r"[.:/]", word.text) else None
        if found is not None and (worst is None or severity(found.decision) > severity(worst.decision)):
            worst = found
        if _PROGRAM.search(word.text):
            return ask("download", "it downloads a program or a script")
    return worst if worst is not None and worst.decision in ("ask", "refuse") else None


def _saved(command: Command, run: Run) -> Finding | None:
    text = " ".join(command.texts)
    to = re.search(
        (
            r"(?:^|\s)(?:-[a-zA-Z]*o|--output|-O|--output-document|-P|--directory-prefix|--output-dir|-d|--dir)[ "
            r"=]?([^\s-]\S*)"
        ),
        text,
    )
    if to:
        found = written(command.path(Word(to[1]))) or (
            ask("download", "it downloads a program or a script") if _PROGRAM.search(to[1]) else None
        )
        if found:
            return found
    keeps = command.has("oO", "output", "remote-name", "output-document") or command.name != "curl"
    if not keeps:
        return None
    named = (to[1],) if to and "://" not in to[1] else (word.text.rsplit("/", 1)[-1] for word in command.args)
    for name in named:
        keep(run.files, name, None)  # nobody has looked at it: running it is another matter
    return notice("download", "it downloads a file")


def listen(command: Command, run: Run) -> Finding | None:
    """nc, socat, telnet…"""
    text = " ".join(command.low)
    if re.search(r"(^|\s)-\w*[ec]\b|--(sh-)?exec|exec:|system:|/bin/|cmd\.exe|pty", text):
        return refuse("reverse_shell", "it would give another computer control over this one")
    return ask("connection", "it opens a raw connection") if command.args else None


def look_up(command: Command, run: Run) -> Finding | None:
    """ping, dig…: harmless unless something is smuggled out in the name."""
    if any(word.substituted or word.open for word in command.args):
        return ask("exfiltrate", "it can smuggle out what another command printed")
    if command.name == "ping" and (command.has("fp") or re.search(r"-s ?\d{4,}|-l ?\d{4,}", " ".join(command.texts))):
        return ask("flood", "it floods another computer or hides data in pings")
    return None


def _scan(command: Command, run: Run) -> Finding | None:
    return ask("scan", "it scans or probes other computers") if command.args else None


def _tunnel(command: Command, run: Run) -> Finding | None:
    return ask("tunnel", "it connects this computer to another network")


_TAKEN_OVER = re.compile(
    r"--(gpu-launcher|[\w-]{1,40}-cmd-prefix|browser-subprocess-path|load-extension|remote-debugging|no-sandbox|"
    r"disable-web-security|host-rules|proxy-server)"
)


def open_file(command: Command, run: Run) -> Finding | None:
    """xdg-open and its kind, browsers too: an address or a file."""
    options = " ".join(command.low)
    if _TAKEN_OVER.search(options):
        return ask("run", "its options run another program or take away the browser's protection")
    for word in command.operands():
        if re.match(r"[A-Za-z][\w+.-]*:", word.text) or _PROGRAM.search(word.text):
            return ask("download", "it starts a program") if _PROGRAM.search(word.text) else judge_url(word.text)
    return None


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(words(
            """curl wget http https httpie xh curlie aria2c axel lwp-download lwp-request fetch lynx w3m links
            elinks wget2 youtube-dl yt-dlp"""
        ), fetch),
    **dict.fromkeys(words(
    """nc ncat netcat socat telnet cryptcat pwncat nc.traditional nc.openbsd chisel gost websocat"""
), listen),
    **dict.fromkeys(words(
    """ping ping6 host dig nslookup traceroute whois tracepath mtr drill resolvectl-query finger"""
), look_up),
    **dict.fromkeys(words(
            """nmap masscan zmap rustscan arp-scan netdiscover fping hping3 hping unicornscan nikto dirb gobuster
            ffuf wfuzz sqlmap amass subfinder nuclei wpscan enum4linux smbmap rpcclient ldapsearch snmpwalk
            onesixtyone showmount rpcinfo arping nbtscan whatweb slowloris ab wrk siege hey"""
        ), _scan),
    **dict.fromkeys(words(
            """openvpn wg wg-quick tailscale zerotier-cli tor i2pd pppd sshuttle iodine dnscat2 ptunnel frpc ngrok
            localtunnel lt teamviewer anydesk rustdesk vncserver x11vnc xfreerdp rdesktop sshd dropbear"""
        ), _tunnel),
    **dict.fromkeys(words(
            """xdg-open open gnome-open kde-open gvfs-open sensible-browser x-www-browser firefox chromium
            google-chrome chrome chromium-browser google-chrome-stable brave brave-browser microsoft-edge
            see run-mailcap"""
        ), open_file),
}  # fmt: skip
