"""cmd.exe's and PowerShell's words: statements, quotes, escapes, variables, as far as they are constant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

_VARIABLES = {
    "programfiles": r"C:\Program Files", "systemroot": r"C:\Windows", "windir": r"C:\Windows", "systemdrive": "C:",
    "comspec": r"C:\Windows\System32\cmd.exe",
    "userprofile": r"C:\Users\user", "homedrive": "C:", "homepath": r"\Users\user",
    "temp": r"C:\Users\user\AppData\Local\Temp", "tmp": r"C:\Users\user\AppData\Local\Temp",
    "appdata": r"C:\Users\user\AppData\Roaming", "localappdata": r"C:\Users\user\AppData\Local",
    "programdata": r"C:\ProgramData", "allusersprofile": r"C:\ProgramData",
    "public": r"C:\Users\Public", "username": "user", "os": "Windows_NT", "pathext": ".COM;.EXE;.BAT;.CMD",
    "programfiles(x86)": r"C:\Program Files (x86)",
}  # fmt: skip


@dataclass(frozen=True)
class Statement:
    """One command: ``words`` without their quotes, ``text`` the words joined by blanks, both lower-case;
    ``raw`` as written."""

    words: tuple[str, ...]
    raw: str

    @cached_property
    def text(self) -> str:
        return " ".join(self.words)

    @cached_property
    def name(self) -> str:
        return program(self.words[0]) if self.words else ""

    @property
    def args(self) -> tuple[str, ...]:
        return self.words[1:]


_TRICK_SIGN = re.compile(r"[%^`*?!]|(?i:\[char|xor\b|-join|-f\s|::|\.replace|-split|[&.]\s*[($']|\$env:|\$\w+\[)")


_PATTERN_PATH = re.compile(
    r"(?i)(?<![^\s\"])(?>[^\s\"]*?[a-z]:?\\)[^\s\"]*[*?][^\s\"\\*?]*\\|"
    r"(?:^|[\s&|])[a-z]:\\(?>[^\s]*?[*?])[^\s]*(exe|e\?e|\.e)"
)


_EXTENSIONS = frozenset(("exe", "com", "bat", "cmd", "ps1", "vbs", "scr", "pif"))
# Words before a command, and the words of one
_LEADING = re.compile(
    r"(?i)^[\s@]*((then|do|else|not|in|call|try|catch|finally|foreach|%|return)\s+|[.&]\s*(?=['\"]))*"
)
_WORD = re.compile(r"(?:\"[^\"]*\"?|'[^']*'|[^\s\"])+")
_QUOTES = re.compile(r"\"|(?<!\w)'|'(?!\w)")


def program(word: str) -> str:
    """The base name of a program, lower-case, without its extension."""
    base = word.strip("@\"'").rstrip("\\/").replace("\\", "/").rpartition("/")[2].casefold()
    stem, dot, extension = base.rpartition(".")
    return stem if dot and extension in _EXTENSIONS else base


def tricks(text: str) -> str:
    """Why the text looks as if it hides something, "" when it does not."""
    if not _TRICK_SIGN.search(text):
        return ""
    if re.search(r"%[\w()]+:~-?\d*(,-?\d+)?%|%[\w()]+:[^%=~]+=[^%]*%|![\w]+:~", text):
        return "letters are cut out of variables"
    if re.search(r"(\^[\w\"'.]){2,}|\w\^\w+\^\w|(^|[\s&|])@?\^?\w\^\w", text) and not re.search(r"\d\s*\^\s*\d", text):
        return "carets stand between the letters"
    if (
        re.search(r"(?i)\b[a-z]+`[a-z]+(`|-|\b)", text)
        and re.search(r"`\w+`?\w*-|-\w*`\w|^\s*\w+`\w", text)
        and text.count("`") % 2
    ):
        return "backticks stand between the letters"
    if _PATTERN_PATH.search(text):
        return "a pattern stands for the program"
    if re.search(
        (
            r"(?i)\[char\]\s*\(?\d|\[char\[\]\]|-b?xor\b|-join\s*[\[('$]|\"\s*-f\s*['\"]|\{\d\}.*-f\s|"
            r"\[string\]::|\[array\]::reverse|\.replace\(.*\)\s*\||(-split|-replace).*\|\s*iex"
        ),
        text,
    ):
        return "the text is put together letter by letter"
    if re.search(
        (
            r"(?i)(^|[;|&{(]\s*)[&.]\s*(\(|\$|'[^']+'\s*\+)|\$env:\w+\[|\$\w+\[\d+(,\d+)*\]|\$pshome\[|"
            r"\$shellid\[|\$verbosepreference"
        ),
        text,
    ):
        return "which command runs is put together at run time"
    return ""


def _variable(match: re.Match[str]) -> str:
    value = _VARIABLES.get(match[1].casefold())
    if value is None:
        return match[0]
    if match[2]:
        numbers = re.match(r":~(-?\d+)(?:,(-?\d+))?", match[2])
        if numbers:
            start = int(numbers[1])
            stop = (
                None if numbers[2] is None else (start + int(numbers[2]) if int(numbers[2]) >= 0 else int(numbers[2]))
            )
            return value[start:stop]
    return value


def expanded(text: str) -> str:
    """Variables filled in, carets and word-inner backticks removed, constant strings joined."""
    if not re.search(r"[%$^`+]", text):
        return text
    text = re.sub(r"%([\w()]+)(:[^%]*)?%", _variable, text)
    text = re.sub(r"(?i)\$\{?env:(\w+)\}?", lambda m: _VARIABLES.get(m[1].casefold(), m[0]), text)
    text = re.sub(r"\^(?=\S)", "", text)
    text = re.sub(r"(?<=\w)`(?=\w)|(?<![\w\s])`(?=\w+[-`])", "", text)
    return re.sub(r"(['\"])\s*\+\s*\1", "", text)


def statements(text: str, limit: int = 60) -> list[Statement]:
    """Split at newlines, ``&``, ``|``, ``;``, brackets and braces, outside of quotes."""
    found: list[Statement] = []
    current = ""
    quote = ""
    for char in text + "\n":
        if quote:
            quote = "" if char == quote else quote
            current += char
        elif char == '"' or (char == "'" and (not current or current[-1] in " \t,=(+")):
            quote = char
            current += char
        elif char in "\n&|;(){}":
            _add(found, current)
            current = ""
        else:
            current += char
        if len(found) >= limit:
            break
    _add(found, current)
    return found


def _add(found: list[Statement], raw: str) -> None:
    raw = _LEADING.sub("", raw)
    quoted = '"' in raw or "'" in raw
    parts = [_QUOTES.sub("", part) for part in _WORD.findall(raw)] if quoted else raw.split()
    parts = [part for part in (p.strip(",") for p in parts) if part]
    if parts:
        parts[0] = parts[0].lstrip("@").removeprefix("&")
        found.append(Statement(tuple(part.casefold() for part in parts if part), raw.strip()))
