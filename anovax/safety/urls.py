"""What opening an address would be. An address is parsed as a browser does (WHATWG URL), not searched for words."""

from __future__ import annotations

import html
import ipaddress
import re
import unicodedata
from urllib.parse import unquote, urlsplit

from anovax.safety.finding import APPROVED, Finding, ask, notice, refuse, strictest
from anovax.safety.normalise import fold, words

_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.\-]*):")
_KNOWN_SCHEMES = words(
    """javascript data file vbscript gopher ftp ftps sftp tftp dict ldap ldaps ssh telnet smb nfs jar netdoc php phar
    expect glob zlib rar ogg ws wss blob filesystem about chrome edge brave opera view-source resource moz-extension
    chrome-extension ms-settings ms-msdt search-ms ms-word ms-excel ms-powerpoint ms-officecmd shell mailto tel sms
    callto skype zoommtg steam itms vscode slack intent market content cid mid feed livescript mocha jscript mhtml
    x-javascript wyciwyg res local ms-its its mk hcp help ms-help shellcommand ssh+git git svn rtsp rtmp mms magnet
    bitcoin tg whatsapp imap pop3 pop smtp nntp news irc ircs xmpp sip sips facetime apple-systempreferences x-apple
    ms-appinstaller ms-cxh ms-gamingoverlay bingmaps calculator onenote device udp tcp unix http3 https3"""
)  # fmt: skip
_INSIDE = words(
    """localhost localhost.localdomain localdomain ip6-localhost ip6-loopback broadcasthost router gateway modem
    fritz.box speedport.ip tplinkwifi.net tplinklogin.net routerlogin.net routerlogin.com orbilogin.com
    asusrouter.com router.asus.com linksyssmartwifi.com myrouter.local mywifiext.net dlinkrouter.local easy.box
    repeater metadata metadata.google.internal instance-data kubernetes kubernetes.default kubernetes.default.svc
    host.docker.internal gateway.docker.internal consul vault jenkins nas printer intranet internal lan home corp
    server dc01 db redis elasticsearch wpad isatap instance-data.ec2.internal metadata.azure.internal
    metadata.packet.net metadata.tencentyun.com"""
)
_INSIDE_ENDS = tuple(
    """.local .localhost .internal .lan .home .intranet .corp .home.arpa .localdomain .private .box .cluster.local .svc
    .test .invalid .onion .i2p""".split()
)
# Public names that resolve to this computer or to an address that is written in the name
_REBINDING = re.compile(r"(^|\.)(nip\.io|xip\.io|sslip\.io|localtest\.me|lvh\.me|vcap\.me|lacolhost\.com|yoogle\.com|"
    r"fbi\.com\.localdomain|1u\.ms|rbndr\.us|burpcollaborator\.net|oastify\.com|interact\.sh|"
                        r"oast\.(pro|live|site|online|fun|me)|dnslog\.cn|ceye\.io|requestbin\.net|"
                            r"webhook\.site|pipedream\.net|canarytokens\.com|xss\.ht|bxss\.me|ngrok\.io|"
                            r"ngrok-free\.app|trycloudflare\.com|"
                        r"localhost\.run|serveo\.net|loca\.lt|spoofed\.\S+|domaincontrol\.com|"
                            r"localh\.st|bugbounty\.dod\.network|mail\.ebc\.apple\.com|make-\S+-rr\.\S+|zhack\.ca|grabify\.link|iplogger\.(org|com)|0\.0\.0\.0|"
                            r"127\.\S+)$")  # fmt: skip
_PROGRAM = re.compile(
    r"(?i)\.(exe|msi|scr|bat|cmd|ps1|vbs|hta|jar|apk|deb|rpm|appimage|dmg|pkg|sh|run|iso|lnk|reg|dll|com|pif|"
    r"cpl|sct|xll|docm|xlsm|url|desktop|jnlp|application|wsf|chm|inf|bin|elf|py|pl)(\?|#|$)"
)
_SCRIPTED = re.compile(
    r"(?i)<\s*/?\s*[a-z!]|javascript\s*:|vbscript\s*:|\bon(error|load|click|mouse\w+|focus|toggle)\s*=|"
    r"document\.(cookie|location|write)|\balert\s*\(|\beval\s*\(|"
                       r"union\s+(all\s+)?select|\bor\s+1\s*=\s*1|\.\./\.\./|\betc/passwd|\{\{.*\}\}|"
                           r"\$\{.*\}|\bsleep\(\d|;\s*(cat|rm|curl|wget|id|ls)\b|\r|\n|\x00|"
                               r"169\.254\.169\.254")  # fmt: skip
_DANGEROUS_SCHEMES = words("javascript data file vbscript livescript mocha jscript x-javascript")
_SHORTENERS = words(
    """bit.ly tinyurl.com t.ly is.gd cutt.ly rb.gy ow.ly goo.gl v.gd shorturl.at adf.ly bit.do tiny.cc"""
)
_PORTS = frozenset((80, 443, 8080, 8443))


def judge_url(text: str) -> Finding:
    """An address, a site's name or a search, as it would be opened."""
    return strictest(_judge(reading) for reading in _readings(text))


def _readings(text: str) -> tuple[str, ...]:
    """As it is, without invisible characters and look-alikes, with its escapes read, and both."""
    folded = fold(text)
    return tuple(dict.fromkeys((text, folded, _unescaped(text), _unescaped(folded), fold(_unescaped(folded)))))


_ADDRESS_SIGNS = (":", "\\", "%", "&#", "//")
_NUMBER_LINE = re.compile(r"(?i)\W*+([\da-fx.]++)?\W*+")  # possessive: going back would cost the cube of the dots


def has_address_sign(text: str) -> bool:
    """False where no line of the text can be taken for an address. Quick, for texts are long."""
    if any(sign in text for sign in _ADDRESS_SIGNS) or "local" in text.casefold():
        return True
    if any((found := _NUMBER_LINE.fullmatch(line)) and (found[1] or "." in line) for line in set(text.split("\n"))):
        return True
    return (folded := fold(text)) != text and has_address_sign(folded)


def is_address(text: str) -> bool:
    """Whether a text in a run box or an unknown field would be taken for an address, however it is written."""
    if not has_address_sign(text) or re.fullmatch(r"\w+: [\w ,.'!?-]+", text):
        return False
    return any(_addressed(reading.strip()) for reading in _readings(text))


def _addressed(text: str) -> bool:
    return _scheme(text) is not None or _numeric(text) or re.match(r"localhost([:/]|$)|//", text.casefold()) is not None


def _unescaped(text: str) -> str:
    r"""The text with ``%41``, ``\x41``, ``\u0041`` and ``&#65;`` read, as deep as a few layers."""
    for _ in range(4):
        before = text
        text = re.sub(r"(?i)\\x([0-9a-f]{2})|\\u\{?([0-9a-f]{4})\}?", lambda m: chr(int(m[1] or m[2], 16)), text)
        text = re.sub(r"\\([0-7]{2,3})", lambda m: chr(int(m[1], 8)), text)
        text = html.unescape(text)
        scheme = text.split("?")[0]
        if re.search(r"%[0-9a-fA-F]{2}", scheme):
            text = unquote(scheme) + text[len(scheme) :]
        if text == before:
            return text
    return text


def _judge(text: str) -> Finding:
    bare = text.strip().strip("'\"<>`")
    if re.search(r"[\x00-\x1f\x7f]", bare):
        squeezed = re.sub(r"[\x00-\x20\x7f]", "", bare)
        return strictest(
            [
                refuse("url", "control characters are hidden in the address"),
                _judge(squeezed) if squeezed != text else None,
            ]
        )
    scheme = _scheme(bare)
    if scheme is None:
        return _no_scheme(bare)
    if scheme not in ("http", "https"):
        return refuse("url_scheme", f"only http and https addresses are opened, not {scheme}")
    return _web(bare)


def _scheme(text: str) -> str | None:
    match = _SCHEME.match(text)
    if match is None:
        squeezed = re.sub(r"[\s\\/]+", "", text[:40]).casefold()
        return next((name for name in _DANGEROUS_SCHEMES if squeezed.startswith(name + ":")), None)
    name = match[1].casefold()
    rest = text[match.end() :]
    if name in ("http", "https"):
        return name
    if re.match(r"\d{1,5}(/|\?|#|$)", rest) and name not in _KNOWN_SCHEMES:
        return None  # host:port
    if (
        name in _KNOWN_SCHEMES
        or rest.startswith("//")
        or (not rest.startswith(" ") and re.search(r"[/(%;,<]", rest) and "." not in name)
    ):
        return name
    return None


def _no_scheme(text: str) -> Finding:
    """``wikipedia.org``, ``youtube``, or words to search for."""
    low = text.casefold()
    if re.match(r"[\\/]{2,}|[\\/]+[^\\/\s]", text) or re.match(r"[a-z]:[\\/]", low):
        return refuse("url", "it is a file or an address without a scheme")
    if "\\" in text.split("?", maxsplit=1)[0]:
        return refuse("url", "an address has no backslashes")
    host = re.split(r"[/?#]", low)[0]
    if (" " in host.strip() and not re.search(r"@|:\d", host)) or _is_search(low):
        return APPROVED  # words to search for
    if "." in host or ":" in host or "@" in host or "/" in low or _numeric(host) or host in _INSIDE:
        return _web("http://" + text)
    return ask("url", "it holds code") if _SCRIPTED.search(text) else APPROVED


# ``AC/DC live``, ``9/11``, ``10:30 to 12``: blanks behind what has no dot, pairs of words or of small numbers
_SEARCHED = re.compile(
    r"([^\W\d_]+)(/[^\W\d_]+){1,2}|(\d{1,3})([/:]\d{1,4}){1,2}|([\w'&+-]+)([/:][\w'&+,!-]*)+ [\w ,.'&+!?:/-]*|"
    r"([^\W\d_][\w']*) [\w ,.'&+!?:-]*"
)


def _is_search(text: str) -> bool:
    found = _SEARCHED.fullmatch(text)
    if found is None:
        return False
    host = found[1] or found[3] or found[5] or found[7]
    return (
        host not in _INSIDE and not (host.isdigit() and (int(host) == 0 or len(host) > 7)) and not host.startswith("0x")
    )


def _numeric(host: str) -> bool:
    return bool(re.fullmatch(r"(0x[0-9a-f]+|\d+)(\.(0x[0-9a-f]+|\d+)){0,3}\.?|\d{8,}", host)) and (
        ("." in host) or host.startswith("0x") or len(host) >= 8
    )


def _web(text: str) -> Finding:
    rest = text.split(":", 1)[1]
    if not re.match(r"//[^/\\]", rest):
        return refuse("url", "the address is malformed so that it leads elsewhere than it seems")
    if "\\" in text.split("?", maxsplit=1)[0]:
        return refuse("url", "an address has no backslashes")
    try:
        parts = urlsplit(text)
        host, port, user = (parts.hostname or "").rstrip("."), parts.port, "@" in parts.netloc
    except ValueError:
        return refuse("url", "the address cannot be parsed")
    found = [_host(host), _port(port), _tail(text)]
    if user or re.match(r"[^/]*[#?]@", text.split("//", 1)[1]):
        found.append(refuse("url_user", "an @ hides where the address leads"))
    return strictest(found)


def _host(host: str) -> Finding:
    if not host or re.search(r"[\s<>\"'`^{}|,;()$!*&+=%]", host) or len(host) > 253:
        return refuse("url", "the address names no proper computer")
    address = _address(host)
    if address is not None:
        return _by_number(address)
    if host in _INSIDE or host.endswith(_INSIDE_ENDS) or "." not in host:
        return ask("url_inside", f"{host} is a computer in your own network")
    if _REBINDING.search(host) or re.search(r"(^|[.-])(127|10|192|169)[.-]\d+[.-]\d+[.-]\d+([.-]|$)", host):
        return ask("url_inside", f"{host} leads to a computer in your own network or to a trap")
    if re.search(r"\.(com|net|org|gov|edu)\.(?!\w\w$).", host):
        return ask("url_look_alike", f"{host} only begins like a name that you know")
    if not host.isascii() or "xn--" in host:
        return _foreign(host)
    return notice("url_short", f"{host} hides where it leads") if host in _SHORTENERS else APPROVED


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """An IP address in any notation that a browser understands: decimal, octal, hexadecimal, shortened, IPv6."""
    try:
        return ipaddress.ip_address(host.strip("[]").split("%")[0])
    except ValueError:
        pass
    parts = unicodedata.normalize("NFKC", host).split(".")
    if re.fullmatch(r"\d+|0[xo][0-9a-f]*", parts[-1]) and (
        len(parts) > 4 or not all(re.fullmatch(r"0x[0-9a-f]*|\d+", part) for part in parts)
    ):
        return ipaddress.IPv4Address(0)  # a name that ends in a number is an address, however strangely written
    if not 1 <= len(parts) <= 4 or not all(re.fullmatch(r"0x[0-9a-f]*|\d+", part) for part in parts):
        return None
    try:
        numbers = [
            int(p, 16)
            if p.startswith("0x") and len(p) > 2
            else int(p, 8)
            if p.startswith("0") and len(p) > 1
            else int(p or "0")
            for p in parts
        ]
    except ValueError:
        return ipaddress.IPv4Address(0)
    value = numbers[-1]
    for index, number in enumerate(numbers[:-1]):
        value += number << (8 * (3 - index))
    return ipaddress.IPv4Address(value & 0xFFFFFFFF)


def _by_number(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> Finding:
    inner = getattr(address, "ipv4_mapped", None) or getattr(address, "sixtofour", None) or address
    if inner.is_link_local or str(inner) in ("169.254.169.254", "100.100.100.200", "192.0.0.192", "fd00:ec2::254"):
        return refuse("url_inside", "the address gives away the keys of a cloud computer")
    if inner.is_loopback or inner.is_unspecified:
        return ask("url_inside", "the address leads to this computer itself")
    if not inner.is_global:
        return ask("url_inside", "the address leads to a computer in your own network")
    return ask("url_number", "the address is a number without a name")


def _foreign(host: str) -> Finding:
    """Letters of other scripts can look like a well-known name."""
    return ask("url_look_alike", f"{host} may only look like a name that you know")


def _port(port: int | None) -> Finding:
    if port is None or port in _PORTS:
        return APPROVED
    return ask("url_port", f"port {port} is no ordinary web port")


def _tail(text: str) -> Finding:
    path = re.split(r"://[^/?#]*", text, maxsplit=1)[-1]
    read = unquote(unquote(path))
    if _SCRIPTED.search(read):
        return ask("url_code", "the address carries code")
    if re.search(
        (
            r"(?i)[?&](url|redirect|next|goto|return|dest\w*|continue|u|redir\w*|target)=\s*(javascript:|data:|file:|//|\\\\|"
            r"(https?:)?/*\\*(localhost|127\.|169\.254|10\.|192\.168|\[|0x|2130706433))"
        ),
        read,
    ):
        return ask("url_inside", "the address passes on to a computer in your own network")
    return (
        ask("url_program", "the address downloads a program")
        if _PROGRAM.search(path.split("?")[0]) and path.count("/")
        else APPROVED
    )
