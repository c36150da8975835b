"""Judge a line as cmd.exe and PowerShell would read it."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator

from anovax.safety.budget import Budget
from anovax.safety.finding import Finding, ask, notice, refuse
from anovax.safety.normalise import words
from anovax.safety.posix.code import OFFENSIVE
from anovax.safety.windows import rules
from anovax.safety.windows.lexer import Statement, expanded, statements, tricks
from anovax.safety.windows.tables import ALIASES, JUDGED

MAX_DEPTH = 4
VERBS = words(
    """set new remove stop invoke start add enable disable clear reset restart uninstall install import export register
    unregister initialize move rename copy format suspend resume update mount dismount expand compress send save
    publish grant revoke block unblock lock unlock limit checkpoint restore repair optimize enter connect disconnect
    receive protect unprotect undo trace debug backup complete confirm convert deny edit switch step submit sync tee
    wait watch redo pop push write read use out"""
)  # fmt: skip
_HARMLESS_CMDLETS = words(
    """set-location start-sleep write-host write-output write-verbose write-warning write-error write-progress
    read-host out-host out-null out-string out-gridview format-table format-list format-wide format-custom
    convertto-json convertfrom-json wait-process push-location pop-location clear-host clear-variable new-guid
    new-timespan set-variable new-variable update-help use-culture add-member start-transcript-off clear-history-off
    tee-object trace-command set-psreadlineoption new-alias-off write-debug write-information import-csv
    import-clixml out-default compress-archive expand-archive"""
)  # fmt: skip


Other = Callable[[str], Iterable[Finding]]


def judge(text: str, budget: Budget, depth: int = 0, other: Other | None = None) -> Iterator[Finding]:
    """All findings about a text read as cmd.exe or PowerShell. ``other`` judges texts that it hands to programs.
    Raises TooDeepError when the budget is spent."""
    budget.spend(text=len(text))
    if depth > MAX_DEPTH:
        yield ask("too_deep", "the command is too deeply nested to be judged")
        return
    why = tricks(text)
    if why:
        yield ask("hidden", why)
    plain = expanded(text)
    yield from rules.anywhere(plain)
    if depth and other is not None:
        yield from other(plain)
    for statement in statements(plain):
        yield from _statement(statement, budget, depth, other)


def _statement(statement: Statement, budget: Budget, depth: int, other: Other | None) -> Iterator[Finding]:
    name = statement.name
    budget.spend(nodes=4)
    if name in OFFENSIVE:
        yield refuse("attack_tool", "it is a tool for attacking computers or stealing passwords")
    if re.search(r"(?<![|&\w])>>?\s*\S", statement.raw):
        yield from rules.redirected(statement)
    inner = _UNWRAP.get(name)
    if inner is not None:
        for text in inner(statement):
            if isinstance(text, str):
                yield from judge(text, budget, depth + 1, other)
            else:
                yield text
    yield from rules.judge(statement)
    name = ALIASES.get(name, name)
    verb, dash, _ = name.partition("-")
    if (
        dash
        and verb in VERBS
        and re.fullmatch(r"[a-z]+-[a-z]{3,}", name)
        and name not in _HARMLESS_CMDLETS
        and name not in JUDGED
    ):
        yield ask("powershell", f"{name} changes something on this computer")


# --- commands that run another command -------------------------------------------------------------------------------


def _after(statement: Statement, pattern: str) -> str | None:
    """What stands behind an option, as written."""
    match = re.search(pattern, statement.raw, re.IGNORECASE | re.DOTALL)
    return None if match is None else _bare(statement.raw[match.end() :])


def _cmd(statement: Statement) -> Iterator[Finding | str]:
    rest = _after(statement, r"\s/[a-z/]*[ckr]\b\s*")
    if rest:
        yield notice("script", "it runs a command")
        yield rest


def _powershell(statement: Statement) -> Iterator[Finding | str]:
    encoded = re.search(r"(?i)\s[-/–]e(?:c|nc?|nco\w*|ncodedcommand)?\s+[\"']?([A-Za-z0-9+/=]{8,})", statement.raw)
    if encoded:
        yield ask("assembled", "the command is hidden in an encoding")
        yield decoded(encoded[1])
    if re.search(
        (
            r"(?i)\s[-/](w(in\w*)?\s+h|windowstyle\s+hidden|noni|ep\s|ex\w*\s+(bypass|unrestricted)|"
            r"executionpolicy|sta\b|version\s+2|v\s+2)"
        ),
        statement.raw,
    ):
        yield ask("powershell", "it starts PowerShell without its protections or hidden")
    if re.search(r"(?i)\s[-/]f(i(l(e)?)?)?\s", statement.raw) or re.search(r"\.ps1\b", statement.text):
        yield ask("script", "it runs a script")
    rest = _after(statement, r"\s[-/]c(o\w*)?\s+")
    plain = (
        rest if rest else (re.sub(r"^\S+\s*", "", statement.raw) if len(statement.words) > 1 and not encoded else "")
    )
    if plain:
        yield _bare(plain)


def _bare(text: str) -> str:
    """Without the brackets or the pair of quotes around all of it."""
    text = text.strip("&{} ")
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def decoded(text: str) -> str:
    """Base64 of UTF-16 (as -EncodedCommand) or UTF-8."""
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return ""
    form = "utf-16-le" if data[1::2].count(0) > len(data) // 4 else "utf-8"
    return data.decode(form, errors="replace")


def _rest(skip: str) -> Callable[[Statement], Iterator[Finding | str]]:
    """The command stands behind the options that ``skip`` matches."""

    def unwrap(statement: Statement) -> Iterator[Finding | str]:
        rest = re.sub(rf"(?is)^\S+\s*{skip}", "", statement.raw).strip("\"' ")
        if rest and rest != statement.raw:
            yield rest

    return unwrap


_UNWRAP: dict[str, Callable[[Statement], Iterator[Finding | str]]] = {
    "cmd": _cmd, "powershell": _powershell, "pwsh": _powershell, "start": _rest(r"(\"[^\"]*\"\s*)?(/\w+\s+)*"),
    "saps": _rest(r"(-\w+\s+)*"), "start-process": _rest(r"(-filepath\s+)?"),
    "forfiles": _rest(r".*?/c\s+"), "pcalua": _rest(r"-a\s+"), "conhost": _rest(r"(--\w+\s+)*"),
    "runas": _rest(r"(/\S+\s+)*"), "for": _rest(r".*?\bdo\s+"),
    "invoke-expression": _rest(""), "iex": _rest(""), "invoke-command": _rest(r".*?-scriptblock\s+"),
    "icm": _rest(r".*?-scriptblock\s+"), "sudo": _rest(""), "gsudo": _rest(""),
    "if": _rest(r"(/i\s+)?(not\s+)?(exist\s+\S+|errorlevel\s+\d+|\S+\s*==\s*\S+)\s+"), "exist": _rest(r"\S+\s+"),
    "nohup": _rest(""), "env": _rest(r"(\w+=\S*\s+)*"), "xargs": _rest(r"(-\S+\s+)*"),
    "wsl": _rest(r"(-\S+\s+)*"), "wt": _rest(r"(new-tab\s+)?(-\w+\s+\S+\s+)*"),
    "scriptrunner": _rest(r".*?-appvscript\s+"), "-c": _rest(""), "/c": _rest(""), "bash": _rest(r"-\w*c\s+"),
    "sh": _rest(r"-\w*c\s+"), "nice": _rest(r"(-n\s*\d+\s+)?"),
    "watch": _rest(r"(-\S+\s+)*"),
    "timeout": _rest(r"\d+\s+"), "setsid": _rest(""), "time": _rest(""), "exec": _rest(""), "eval": _rest(""),
    "doas": _rest(""), "command": _rest(""), "ionice": _rest(r"(-c\s*\d\s+)?"),
}  # fmt: skip
