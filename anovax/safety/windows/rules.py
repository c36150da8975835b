"""What Windows commands do."""

from __future__ import annotations

import re
from collections.abc import Iterator

from anovax.safety.finding import APPROVED, Finding, ask, notice, refuse
from anovax.safety.normalise import words
from anovax.safety.paths import seeks_secrets
from anovax.safety.windows.lexer import Statement
from anovax.safety.windows.tables import ALIASES, ANYWHERE, RISKY, TABLE, WITH_ARGUMENTS

_REMOVE = words("remove-item ri rd del erase rmdir rm")
_SYSTEM_PATH = re.compile(
    r"(?i)(^|[\s\"'=])([a-z]:)?\\?(windows|program files|programdata|users|system32|boot|recovery|"
    r"\$recycle\.bin|system volume information)?\\?\*?(\.\*)?[\"']?(\s|$)|c:\\windows|\\system32|\$recycle|"
    r"\\program files|c:\\users\\?(\*|\s|$)|c:\\?(\*|\s|$)|c:/(\s|$|windows)"
)
_SECRET_PATH = re.compile(
    r"(?i)\\config\\(sam|system|security)|hklm\\(sam|security|system)\b|ntds\.dit|lsass|login data|"
    r"\\credentials\\|\\protect\\|\\vault\\|consolehost_history|unattend|sysprep|groups\.xml|"
                          r"\.kdbx|id_rsa|\\\.ssh|\\\.aws|cookies\.sqlite|logins\.json|key4\.db|"
                              r"wlan(?:(?!wlan).)*key\s*=\s*clear|web\.config|\\repair\\sam|wallet\.dat|\.rdp\b|"
                              r"bitlocker.*recoverypassword")  # fmt: skip
_STARTUP_PATH = re.compile(
    r"(?i)currentversion\\(run|runonce|policies|image file execution|winlogon|appinit|shell)|\\start ?up(\\|$|"
    r"\")|\\tasks\\|\\services\\|drivers\\etc\\hosts|\\profile\.ps1|\$profile|\\environment|"
                           r"userinitmprlogonscript|\\shell\\open\\command|\\inprocserver32|\\lsa\\|"
                               r"\\safeboot|\\defender|\\exclusions")  # fmt: skip

_DECIDE = {"ask": ask, "refuse": refuse, "notice": notice}
_Entry = tuple[re.Pattern[str], str, str, str]


def _by_name() -> dict[str, tuple[_Entry, ...]]:
    """The tables, by program."""
    found: dict[str, list[_Entry]] = {}
    for names, pattern, decision, rule, reason in (*TABLE, *WITH_ARGUMENTS):
        for name in names.split("|"):
            found.setdefault(name, []).append((re.compile(pattern), decision, rule, reason))
    return {name: tuple(entries) for name, entries in found.items()}


_RULES = _by_name()
# English words that are harmless unless an entry above says otherwise
_WORDS = words(
    """sc net net1 at label subst replace recover compact attrib mklink assoc ftype logoff shutdown finger telnet
    update te tracker url expand format convert csi handle print"""
)
PROGRAMS = (frozenset(_RULES) | RISKY | _REMOVE | frozenset(ALIASES) | words("cmd powershell pwsh")) - words(
    "print update handle url te set find start at"
)
_TELLING = tuple((re.compile(pattern), decision, rule, reason) for pattern, decision, rule, reason in ANYWHERE)


def anywhere(text: str) -> Iterator[Finding]:
    """What is telling wherever it stands."""
    low = text.casefold()
    for pattern, decision, rule, reason in _TELLING:
        if pattern.search(low):
            yield _DECIDE[decision](rule, reason)


def redirected(statement: Statement) -> Iterator[Finding]:
    target = re.split(r"(?<![|&\w])>>?\s*", statement.raw)[-1]
    if re.search(
        r"(?i)^\"?[a-z]:\\(windows|program|boot)|\\system32|%windir%|system32", target
    ) or _STARTUP_PATH.search(target):
        yield ask("system", "it writes to a system folder")


def judge(statement: Statement) -> Iterator[Finding]:
    name = ALIASES.get(statement.name, statement.name)
    rest = " ".join(statement.args)
    if name in _REMOVE:
        yield from _removed(name, rest, statement)
    if name.endswith(("iex", "invoke-expression")) and statement.args:
        yield ask("assembled", "it runs a text as a command")
    decided = _decide(name, rest)
    if decided is not None:
        yield decided
    elif name in RISKY and statement.args:
        yield ask("system", f"{name} can change the system or run other programs")
    if statement.args and (_SECRET_PATH.search(rest) and not name.startswith(("echo", "write-"))):
        yield ask("secrets", "it uses files that hold secrets")
    if name in (
        "new-item",
        "copy",
        "copy-item",
        "xcopy",
        "move",
        "set-content",
        "add-content",
        "out-file",
        "new-itemproperty",
        "set-itemproperty",
        "reg",
        "schtasks",
    ) and _STARTUP_PATH.search(rest):
        yield ask("startup", "it makes something run by itself")


def _decide(name: str, rest: str) -> Finding | None:
    for pattern, decision, rule, reason in _RULES.get(name, ()):
        if not pattern.search(rest):
            continue
        if decision == "secrets":
            if seeks_secrets(rest):
                return ask(rule, reason)
            continue
        return APPROVED if decision == "approve" else _DECIDE[decision](rule, reason)
    return APPROVED if name in _WORDS else None


def _removed(name: str, rest: str, statement: Statement) -> Iterator[Finding]:
    """del, rd, Remove-Item and their aliases. The POSIX namesakes are judged by their own rules."""
    if name in ("rm", "rmdir") and not re.search(
        r"(^|\s)/[sqf]\b|\\|:|-(recurse|force|path|literalpath|confirm|r\b)", rest
    ):
        return
    if not rest or rest in ("/?", "-?"):
        return
    wide = re.search(r"(^|\s)(/s|-r\w*)\b", rest) is not None
    windowsy = name not in ("del", "erase") or re.search(r"[\\/.*:~-]", rest) or len(statement.args) <= 2
    if wide and _SYSTEM_PATH.search(rest + " "):
        yield refuse("destroy", "it would delete everything in a folder that matters")
    elif windowsy:
        yield ask("delete", "it deletes for good")
