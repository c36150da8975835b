"""Text as it is read aloud: no markup; numbers, units, addresses and signs in words; cut into short pieces."""

from __future__ import annotations

import re

UNITS = {
    "%": "percent", "°C": "degrees Celsius", "°F": "degrees Fahrenheit", "°": "degrees", "km/h": "kilometres per hour",
    "km": "kilometres", "cm": "centimetres", "mm": "millimetres", "kg": "kilograms", "GHz": "gigahertz",
    "MHz": "megahertz", "kHz": "kilohertz", "Hz": "hertz", "TB": "terabytes", "GB": "gigabytes", "MB": "megabytes",
    "KB": "kilobytes", "kB": "kilobytes", "GiB": "gibibytes", "MiB": "mebibytes", "ms": "milliseconds",
    "min": "minutes", "s": "seconds", "h": "hours", "m": "metres", "px": "pixels",
}  # fmt: skip
SINGULAR = {"feet": "foot"}
ABBREVIATIONS = {
    "e.g.": "for example", "i.e.": "that is", "etc.": "and so on", "vs.": "versus", "approx.": "approximately",
    "Dr.": "Doctor", "Mr.": "Mister", "Mrs.": "Missis", "Ms.": "Miss", "St.": "Saint", "No.": "number",
}  # fmt: skip
SIGNS = {
    "&": " and ", "+": " plus ", "=": " equals ", "×": " times ", "÷": " divided by ", "≈": " about ", "≤": " at most ",
    "≥": " at least ", "→": " to ", "@": " at ", "€": " euros ", "£": " pounds ", "…": ", ", "·": ", ", "•": ", ",
    "~": " about ", "^": " to the power of ", "#": " number ", "<": " less than ", ">": " greater than ",
}  # fmt: skip
KEYS = {
    "ctrl": "control",
    "alt": "alt",
    "shift": "shift",
    "super": "super",
    "cmd": "command",
    "esc": "escape",
    "del": "delete",
}
FIRST_WORDS = 5
MAX_WORDS = 28
NEVER_AT_END = re.compile(
    r"^(an?|and|as|at|but|by|for|from|in|into|is|its?|my|not?|o[fnr]|our|so|than|that|the|their|this|to|was|with|your|slash|dot|point)$",
    re.IGNORECASE,
)


def speakable(text: str) -> str:
    """``text`` without markup and with everything that is not a word put into words. One line; may be empty."""
    text = _markup(text)
    text = re.sub(r"(?:https?|ftp)://\S+|\bwww\.\S+", lambda m: _address(m.group()), text)
    text = re.sub(r"\b[\w.+-]+@[\w-]+(\.[\w-]+)+", lambda m: _dots(m.group().replace("@", " at ")), text)
    text = re.sub(r"(?<![\w/])(?:~|\.{1,2})?(?:/[\w.+-]+){2,}/?", lambda m: _path(m.group()), text)
    text = re.sub(r"\b(ctrl|alt|shift|super|cmd)((?:\+\w+)+)", lambda m: _chord(m.group()), text, flags=re.IGNORECASE)
    text = _numbers(text)
    for short, words in ABBREVIATIONS.items():
        text = re.sub(rf"(?<!\w){re.escape(short)}", words, text)
    for sign, words in SIGNS.items():
        text = text.replace(sign, words)
    return _cleaned(text)


def sentences(text: str) -> list[str]:
    """The pieces in which ``text`` is spoken, ready for the synthesiser: sentences, long ones cut at clauses, the first
    one short, so that speech begins soon."""
    whole = re.split(r"(?<=[.!?])\s+(?=\S)", speakable(text))
    pieces = [piece for sentence in whole if sentence for piece in _clauses(sentence, MAX_WORDS)]
    if not pieces:
        return []
    return [*_first(pieces[0]), *pieces[1:]]


def _markup(text: str) -> str:
    text = "".join(sign for sign in text if sign.isprintable() or sign.isspace())
    # Control signs and half characters cannot be said; blank lines and margins say nothing, and patterns that look back
    # over long runs of them take for ever.
    text = "\n".join(filter(None, map(str.strip, text.splitlines())))
    text = re.sub(r"```[\w-]*\n?(.*?)```", r"\1", text, flags=re.DOTALL)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<[/a-zA-Z][^<>]*>", " ", text)
    text = re.sub(r"^[ \t:-]*\|[ \t:|-]*$", "", text, flags=re.MULTILINE)  # between the head and the body of a table
    text = re.sub(r"^\s{0,3}(#{1,6}|>|[-*+]|\d+[.)])\s+", "", text, flags=re.MULTILINE)
    text = re.sub(r"(\*\*|__|~~|`+)(.+?)\1", r"\2", text)
    text = re.sub(r"(?<!\w)([*_])(\S(?:.*?\S)?)\1(?!\w)", r"\2", text)
    text = text.replace("|", ", ")
    return re.sub(r"(?<![.!?:,;])\s*\n+\s*", ". ", text.strip()).replace("\n", " ")


def _address(url: str) -> str:
    """Host and last readable part: people want to know where, not every parameter."""
    url, end = re.match(r"(.*?)([.,;:!?)\]]*)$", url).groups()  # type: ignore[union-attr]
    host, _, rest = re.sub(r"^(\w+://)?(www\.)?", "", url).partition("/")
    host = re.sub(r":\d+$", "", host)
    words = [w for w in re.split(r"[/_+%-]+", re.split(r"[?#]", rest)[0]) if w.isalpha() and len(w) < 15]
    return _dots(host) + (" slash " + " ".join(words[:4]) if words else "") + end


def _dots(text: str) -> str:
    return text.replace(".", " dot ")


def _path(path: str) -> str:
    """Only the last part of a path, with its ending spelled."""
    stem, end = (path[:-1], path[-1]) if path.endswith(".") else (path, "")
    return _dots(stem.rstrip("/").rsplit("/", 1)[-1]).replace("_", " ").replace("-", " ").strip() + end


def _chord(chord: str) -> str:
    return " ".join(KEYS.get(key.lower(), key) for key in chord.split("+"))


def _numbers(text: str) -> str:
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    text = re.sub(r"\$(\d+(?:\.\d+)?)( million| billion)?", r"\1\2 dollars", text)
    text = re.sub(r"\b(\d{1,2}):(\d{2})(?::\d{2})?\b", _clock, text)
    text = re.sub(r"\b(\d{4})-(\d{2})-(\d{2})\b", r"\1 \2 \3", text)
    names = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
    text = re.sub(rf"(?<![\w.])(\d+(?:\.\d+)?)\s?({names})(?![\w/])", _unit, text)
    text = re.sub(r"\b(\d+)\.(\d+)\.(\d+)\b", r"\1 point \2 point \3", text)
    text = re.sub(r"(?<=\d)\s*[x*]\s*(?=\d)", " times ", text)
    text = re.sub(r"(?<=\d)\s+/\s+(?=\d)", " divided by ", text)
    text = re.sub(r"(?<=\d)\s+-\s+(?=\d)", " minus ", text)
    text = re.sub(r"(?<=\d)\s?[–-]\s?(?=\d)", " to ", text)
    return re.sub(r"(?<![\w)])-(?=\d)", "minus ", text)


def _clock(match: re.Match[str]) -> str:
    hour, minute = int(match[1]), match[2]
    if hour > 23 or int(minute) > 59:
        return match.group()
    spoken = "o'clock" if minute == "00" else f"oh {minute[1]}" if minute[0] == "0" else minute
    return f"{hour} {spoken}"


def _unit(match: re.Match[str]) -> str:
    name = UNITS[match[2]]
    if match[1] == "1":
        name = SINGULAR.get(
            name,
            re.sub(r"^degrees", "degree", name) if name.startswith("degrees") else re.sub(r"s\b", "", name, count=1),
        )
    return f"{match[1]} {name}"


def _cleaned(text: str) -> str:
    text = re.sub(r"[\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F\u200d]", " ", text)
    text = re.sub(r"\b(\w+)_(?=\w)", r"\1 ", text).replace("_", " ")
    text = re.sub(r"[*`\\{}\[\]|\"“”«»]", " ", text)
    text = re.sub(r"\s[–—-]\s|—", ", ", text)
    text = re.sub(r"\(([^()]*)\)", r", \1,", text)
    text = re.sub(r"\s*/\s*", " or ", text)
    text = re.sub(r"(?<!\S)[^\w\s,.!?]+(?!\S)", " ", text)
    text = re.sub(r"\s+([.,;:!?])", r"\1", text)
    text = re.sub(r"([,;:])(?:\s*[,;:])+", r"\1", text)
    text = re.sub(r"[,;:]\s*([.!?])", r"\1", text)
    return re.sub(r"\s+", " ", text).strip(" ,;:")


def _clauses(sentence: str, longest: int) -> list[str]:
    """Cut a sentence of more than ``longest`` words at commas, or where it must be."""
    words, pieces = sentence.split(), []
    while len(words) > longest:
        commas = [i for i in range(longest // 3, longest) if words[i][-1] in ",;:"]
        cut = commas[-1] + 1 if commas else longest
        pieces.append(" ".join(words[:cut]))
        words = words[cut:]
    return [*pieces, " ".join(words)] if words else pieces


def _first(sentence: str) -> list[str]:
    """Cut a short piece off a long first sentence: at a comma, or before a word that begins a phrase."""
    words = sentence.split()
    if len(words) <= FIRST_WORDS + 3:
        return [sentence]
    cut = next((i + 1 for i in range(1, FIRST_WORDS + 1) if words[i][-1] in ",;:"), FIRST_WORDS)
    while cut > 2 and NEVER_AT_END.match(words[cut - 1]):
        cut -= 1
    return [" ".join(words[:cut]), " ".join(words[cut:])]
