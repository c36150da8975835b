"""Seeded disguises of dangerous texts."""

from __future__ import annotations

import base64
import random
import re
from collections.abc import Callable

Mutation = Callable[[str, random.Random], str]

_HOMOGLYPHS = {
    "a": "а",
    "c": "с",
    "e": "е",
    "i": "і",
    "o": "о",
    "p": "р",
    "s": "ѕ",
    "x": "х",
    "y": "у",
    "j": "ј",
    "h": "һ",
    "d": "ԁ",
    "k": "к",
    "m": "м",
    "t": "т",
    "v": "ν",
    "w": "ԝ",
}
_ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff\u00ad"


def _places(text: str, pattern: str, rng: random.Random, count: int) -> list[int]:
    found = [match.start() for match in re.finditer(pattern, text)]
    return sorted(rng.sample(found, min(count, len(found))), reverse=True)


def case(text: str, rng: random.Random) -> str:
    return "".join(char.upper() if rng.random() < 0.4 else char for char in text)


def zero_width(text: str, rng: random.Random) -> str:
    for place in _places(text, r"(?<=\S)(?=\S)", rng, rng.randint(1, 5)):
        text = text[:place] + rng.choice(_ZERO_WIDTH) + text[place:]
    return text


def homoglyph(text: str, rng: random.Random) -> str:
    for place in _places(text, "[" + "".join(_HOMOGLYPHS) + "]", rng, rng.randint(1, 6)):
        text = text[:place] + _HOMOGLYPHS[text[place]] + text[place + 1 :]
    return text


def full_width(text: str, rng: random.Random) -> str:
    for place in _places(text, r"[!-~]", rng, rng.randint(2, 10)):
        text = text[:place] + chr(ord(text[place]) + 0xFEE0) + text[place + 1 :]
    return text


def _program_end(text: str) -> int:
    match = re.match(r"[\w./]+", text)
    return match.end() if match else 0


def quotes(text: str, rng: random.Random) -> str:
    """Empty quotes inside the program's name, or the whole name in quotes."""
    end = _program_end(text)
    if end < 2:
        return text
    if rng.random() < 0.4:
        return f'"{text[:end]}"{text[end:]}'
    place, pair = rng.randint(1, end - 1), rng.choice(("''", '""'))
    return text[:place] + pair + text[place:]


def backslashes(text: str, rng: random.Random) -> str:
    end = _program_end(text)
    place = rng.randint(0, max(0, end - 1))
    return text[:place] + "\\" + text[place:] if end else text


def newline_joined(text: str, rng: random.Random) -> str:
    for place in _places(text, r"(?<=\w)(?=\w)", rng, rng.randint(1, 3)):
        text = text[:place] + "\\\n" + text[place:]
    return text


def variables(text: str, rng: random.Random) -> str:
    """The program's name from variables that are put together."""
    end = _program_end(text)
    if end < 2:
        return f"x={_single(text)}; eval $x"
    cut = rng.randint(1, end - 1)
    first, second = rng.sample("abcdefgxyz", 2)
    return f"{first}={text[:cut]}; {second}={text[cut:end]}; ${{{first}}}${second}{text[end:]}"


def field_separator(text: str, rng: random.Random) -> str:
    return re.sub(r"(?<=\w) (?=\S)", lambda _: rng.choice(("${IFS}", "$IFS$9")), text, count=1)


def escapes(text: str, rng: random.Random) -> str:
    end = _program_end(text)
    if end < 1:
        return text
    return "$'" + "".join(f"\\x{ord(char):02x}" for char in text[:end]) + "'" + text[end:]


def _single(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def base64_pipe(text: str, rng: random.Random) -> str:
    data = base64.b64encode(text.encode()).decode()
    return rng.choice(
        (
            f"echo {data} | base64 -d | sh",
            f"eval $(echo {data} | base64 --decode)",
            f'bash -c "$(base64 -d <<< {data})"',
            f"sh <(echo {data} | base64 -d)",
        )
    )


def hex_pipe(text: str, rng: random.Random) -> str:
    return f"echo {text.encode().hex()} | xxd -r -p | {rng.choice(('sh', 'bash', 'zsh'))}"


def reversed_pipe(text: str, rng: random.Random) -> str:
    return f"rev <<< {_single(text[::-1])} | sh" if "\n" not in text else base64_pipe(text, rng)


def substituted(text: str, rng: random.Random) -> str:
    return rng.choice(
        (
            f"echo $({text})",
            f"$({text})",
            f"echo `{text}`" if "`" not in text else f"echo $({text})",
            f"( {text} )",
            f"{{ {text}; }}",
            f"cat <({text})",
        )
    )


def wrapped(text: str, rng: random.Random) -> str:
    plain = rng.choice(
        (
            "sudo {}",
            "env {}",
            "env A=1 {}",
            "nohup {} &",
            "nice -n 10 {}",
            "timeout 9 {}",
            "setsid {}",
            "time {}",
            "command {}",
            "exec {}",
            "sudo -u root {}",
            "ionice -c 3 {}",
            "xargs -0 {}",
        )
    )
    quoted = rng.choice(
        (
            "sh -c {}",
            "bash -lc {}",
            "sudo sh -c {}",
            "eval {}",
            "echo {} | sh",
            "echo {} | xargs -I{{}} sh -c {{}}",
            "su -c {} root",
            "watch {}",
            "nohup bash -c {} &",
            "bash <<< {}",
            "env bash -c {}",
        )
    )
    return plain.format(text) if rng.random() < 0.5 and "\n" not in text else quoted.format(_single(text))


def chained(text: str, rng: random.Random) -> str:
    return rng.choice(
        (
            "cd /tmp && {}",
            "echo hi; {}",
            "true && {}",
            "ls | {}",
            "if true; then {}\nfi",
            "{} && echo done",
            "false || {}",
            "for i in 1; do {}\ndone",
            "! {}",
            "{} &",
        )
    ).format(text)


# --- Windows ---------------------------------------------------------------------------------------------------------


def carets(text: str, rng: random.Random) -> str:
    end = re.match(r"[\w.:\\]+", text)
    for place in _places(text[: end.end() if end else 0], r"(?<=\w)(?=\w)", rng, rng.randint(2, 4)):
        text = text[:place] + "^" + text[place:]
    return text


def windows_quotes(text: str, rng: random.Random) -> str:
    place = rng.randint(1, max(1, len(re.match(r"\w*", text)[0]) - 1))  # type: ignore[index]
    return text[:place] + '""' + text[place:]


def windows_wrapped(text: str, rng: random.Random) -> str:
    encoded = base64.b64encode(text.encode("utf-16-le")).decode()
    return rng.choice(
        (
            "cmd /c {0}",
            'cmd.exe /c "{0}"',
            'powershell -c "{0}"',
            "powershell -NoP -W Hidden -Enc {1}",
            "pwsh -Command {0}",
            "start /b {0}",
            "powershell.exe -e {1}",
            "cmd /k {0}",
            "echo hi & {0}",
        )
    ).format(text, encoded)


# --- addresses -------------------------------------------------------------------------------------------------------


def percent(text: str, rng: random.Random) -> str:
    colon = text.find(":")
    for place in _places(text[: max(0, colon)], r"\w", rng, rng.randint(1, 3)):
        text = f"{text[:place]}%{ord(text[place]):02x}{text[place + 1 :]}"
    return text


def spaced(text: str, rng: random.Random) -> str:
    if rng.random() < 0.5:
        return rng.choice((" ", "\t", "\n", "\x01")) + text
    place = rng.randint(1, max(1, text.find(":")))
    return text[:place] + rng.choice(("\t", "\n", "\r", "\x00")) + text[place:]


_ANY: tuple[Mutation, ...] = (case, zero_width, homoglyph, full_width)
_SHELL: tuple[Mutation, ...] = (
    *_ANY,
    quotes,
    backslashes,
    newline_joined,
    variables,
    field_separator,
    escapes,
    base64_pipe,
    hex_pipe,
    reversed_pipe,
    substituted,
    wrapped,
    chained,
)
_BY_KIND: dict[str, tuple[Mutation, ...]] = {
    "shell": _SHELL, "shell_obfuscated": (*_ANY, newline_joined, base64_pipe, hex_pipe, reversed_pipe, substituted,
    wrapped, chained),
    "powershell": (*_ANY, carets, windows_quotes, windows_wrapped, wrapped), "url": (*_ANY, percent, spaced),
    "hotkey": (case, full_width),
}  # fmt: skip


def mutate(text: str, kind: str, rng: random.Random) -> tuple[str, str]:
    """The text in one to three disguises, and the names of them. Encodings come last: they would not survive others."""
    chosen = rng.sample(_BY_KIND[kind], min(rng.choice((1, 1, 2, 3)), len(_BY_KIND[kind])))
    order: dict[Mutation, int] = {
        name: place
        for place, name in enumerate(
            (case, quotes, backslashes, escapes, field_separator, variables, chained, substituted, wrapped)
        )
    }
    chosen.sort(key=lambda function: order.get(function, 20 if function in _ANY or function is newline_joined else 10))
    for function in chosen:
        text = function(text, rng)
    return text, "+".join(function.__name__ for function in chosen)
