"""What a command prints when that can be told beforehand: decoders and formatters that disguises are made with."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Callable, Mapping

from anovax.safety.posix.expand import ansi_c
from anovax.safety.posix.words import Command

_MAX = 20_000
# Filters whose operands are files, and their options that take a value
_READS_FILES = {"base64": "w", "base32": "w", "xxd": "lcso", "rev": "", "tac": "s", "sort": "kto", "uniq": "fsw",
                "cut": "cdfb"}  # fmt: skip
# Commands whose output is a text turned into another one: what runs it should be asked about
DECODERS = frozenset(
    {
        "base64",
        "base32",
        "xxd",
        "rev",
        "tr",
        "od",
        "openssl",
        "uudecode",
        "sed",
        "cut",
        "gunzip",
        "zcat",
        "awk",
        "hexdump",
        "iconv",
    }
)
UNPACKERS = frozenset({"base64", "base32", "xxd", "rev", "uudecode", "gunzip", "zcat", "openssl"})


def output(command: Command, files: Mapping[str, str | None]) -> str | None:
    """The constant output of a command with its constant input; None when it cannot be known."""
    made = _KNOWN.get(command.name)
    if made is None or any(word.open for word in command.args):
        return None
    valued = _READS_FILES.get(command.name)
    if valued is not None and any(w.text not in files and w.text != "-" for w in command.operands(valued)):
        return None  # a file that is there already
    stdin = command.stdin
    try:
        result = made(command, _input(command, files) if stdin is not None else None)
    except (ValueError, binascii.Error, LookupError, OverflowError):
        return None
    return None if result is None else result[:_MAX]


def _input(command: Command, files: Mapping[str, str | None]) -> str | None:
    named = [files[word.text] for word in command.args if word.text in files]
    return named[-1] if named else command.stdin


def _echo(command: Command, _: str | None) -> str:
    texts = list(command.texts)
    flags = ""
    while texts and re.fullmatch(r"-[neE]+", texts[0]):
        flags += texts.pop(0)
    text = " ".join(texts)
    return (_escaped(text) if "e" in flags else text) + ("" if "n" in flags else "\n")


def _escaped(text: str) -> str:
    r"""As ``echo -e`` and ``printf %b`` read it: an octal code has a zero before it."""
    return ansi_c(re.sub(r"\\0(?=[0-7])", r"\\", text))


def _printf(command: Command, _: str | None) -> str | None:
    texts = [text for text in command.texts if text != "--"]
    if not texts or texts[0] == "-v":
        return "" if texts else None
    form, values = ansi_c(texts[0]), texts[1:]
    holes = len(re.findall(r"%[-\d.]*[sbdicxq]", form))
    rounds = max(1, -(-len(values) // holes)) if holes else 1
    source = iter(values)

    def fill(match: re.Match[str]) -> str:
        value = next(source, "")
        return _escaped(value) if match[0].endswith("b") else value

    return "".join(re.sub(r"%[-\d.]*[sbdicxq]", fill, form) for _ in range(min(rounds, 200))).replace("%%", "%")


def _base64(command: Command, stdin: str | None) -> str | None:
    if stdin is None or not (command.has("dD", "decode")):
        return None if stdin is None else base64.b64encode(stdin.encode()).decode()
    data = re.sub(r"[^A-Za-z0-9+/]", "", stdin)
    return base64.b64decode(data + "=" * (-len(data) % 4)).decode(errors="replace")


def _base32(command: Command, stdin: str | None) -> str | None:
    if stdin is None or not command.has("dD", "decode"):
        return None
    return base64.b32decode(re.sub(r"\s", "", stdin).upper()).decode(errors="replace")


def _xxd(command: Command, stdin: str | None) -> str | None:
    if stdin is None or not command.has("r"):
        return None
    data = re.sub(r"(?m)^[0-9a-f]+: |\s|\\x|0x|,", "", stdin)
    return bytes.fromhex(re.sub(r"[^0-9a-fA-F]", "", data)[: len(data) // 2 * 2]).decode(errors="replace")


def _rev(_: Command, stdin: str | None) -> str | None:
    return None if stdin is None else "\n".join(line[::-1] for line in stdin.split("\n"))


def _tac(_: Command, stdin: str | None) -> str | None:
    return None if stdin is None else "\n".join(reversed(stdin.rstrip("\n").split("\n"))) + "\n"


def _cat(command: Command, stdin: str | None) -> str | None:
    named = [
        word
        for word in command.operands()
        if word.text not in ("-", "/dev/stdin") and not word.text.startswith("/dev/fd/")
    ]
    return stdin if not named else None


def _set_of(spec: str) -> str:
    classes = {"[:upper:]": "A-Z", "[:lower:]": "a-z", "[:digit:]": "0-9", "[:space:]": " \t\n", "[:alpha:]": "A-Za-z"}
    for name, meaning in classes.items():
        spec = spec.replace(name, meaning)
    spec = ansi_c(spec)
    return re.sub(
        r"(.)-(.)",
        lambda m: "".join(chr(c) for c in range(ord(m[1]), min(ord(m[2]) + 1, ord(m[1]) + 300))),
        spec,
        flags=re.DOTALL,
    )


def _tr(command: Command, stdin: str | None) -> str | None:
    if stdin is None:
        return None
    sets = [_set_of(word.text) for word in command.operands()]
    if command.has("d") and sets:
        return "".join(char for char in stdin if char not in sets[0])
    if len(sets) < 2 or not sets[1]:
        return None
    padded = sets[1].ljust(len(sets[0]), sets[1][-1])
    return stdin.translate({ord(a): b for a, b in zip(sets[0], padded, strict=False)})


def _sed(command: Command, stdin: str | None) -> str | None:
    scripts = [word.text for word in command.operands()]
    match = re.fullmatch(r"s(.)(.*?)\1(.*?)\1(g?)", scripts[0]) if len(scripts) == 1 and len(scripts[0]) < 200 else None
    if stdin is None or match is None or re.search(r"[\[\](){}.*+?^$\\&]", match[2] + match[3]):
        return None
    return "\n".join(line.replace(match[2], match[3], -1 if match[4] else 1) for line in stdin.split("\n"))


def _cut(command: Command, stdin: str | None) -> str | None:
    match = re.search(r"(?:^| )-c ?(\d+)(?:-(\d+))?(?: |$)", " ".join(command.texts))
    if stdin is None or match is None:
        return None
    start, stop = int(match[1]) - 1, int(match[2] or match[1])
    return "\n".join(line[start:stop] for line in stdin.split("\n"))


def _lines(command: Command, stdin: str | None) -> str | None:
    if stdin is None or command.operands("nc"):
        return None
    count = re.search(r"\d+", " ".join(command.texts))
    kept = stdin.splitlines(keepends=True)
    number = int(count[0]) if count else 10
    return "".join(kept[:number] if command.name == "head" else kept[-number:])


def _which(command: Command, _: str | None) -> str:
    return "".join(f"/usr/bin/{word.text}\n" for word in command.operands())


def _rot13(_: Command, stdin: str | None) -> str | None:
    return None if stdin is None else codecs.encode(stdin, "rot13")


def _openssl(command: Command, stdin: str | None) -> str | None:
    return _base64(command, stdin) if {"base64", "-base64", "-a"} & set(command.texts) else None


def _seq(command: Command, _: str | None) -> str:
    return "\n".join(command.texts[:1]) + "\n"


def _pass(command: Command, stdin: str | None) -> str | None:
    return stdin


def _nothing(_: Command, __: str | None) -> str:
    return ""


_KNOWN: Mapping[str, Callable[[Command, str | None], str | None]] = {
    "echo": _echo, "printf": _printf, "base64": _base64, "base32": _base32, "xxd": _xxd, "rev": _rev, "tac": _tac,
    "cat": _cat,
    "tr": _tr, "sed": _sed, "cut": _cut, "head": _lines, "tail": _lines, "which": _which, "rot13": _rot13,
    "caesar": _rot13,
    "openssl": _openssl, "seq": _seq, "tee": _pass, "true": _nothing, ":": _nothing, "cd": _nothing, "export": _nothing,
    "sort": _pass, "uniq": _pass, "xargs": _pass, "sleep": _nothing, "set": _nothing, "unset": _nothing,
    "test": _nothing,
}  # fmt: skip
