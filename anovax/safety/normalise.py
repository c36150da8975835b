"""Two readings of a text: raw, as it would be typed, and folded, as a person would read it. Both are judged; only the
raw one is ever acted on."""

from __future__ import annotations

import functools
import re
import unicodedata


def words(text: str) -> frozenset[str]:
    """A set of words from a blank-separated list; keeps long vocabularies readable."""
    return frozenset(text.split())


# Letters of other scripts that pass for Latin ones (the core of Unicode TR39's confusables) and signs that speech
# recognition and language models write in place of the ASCII ones.
_LOOK_ALIKES = {
    "a": "аαɑᴀаɐ", "b": "ЬвβʙᏏƄь", "c": "сϲᴄⅽ", "d": "ԁɗᴅⅾ", "e": "еεҽᴇℯ", "f": "ғƒꜰſ", "g": "ɡցɢ", "h": "һнհʜ",
    "i": "іιıɩӏɪї", "j": "јϳᴊ", "k": "кκᴋ", "l": "ⅼʟłḷ", "m": "мᴍⅿ", "n": "ոηпɴń", "o": "оοσօᴏө", "p": "рρᴘ",
    "q": "ԛգ", "r": "гᴦʀɾ", "s": "ѕꜱʂ", "t": "тτᴛƭ", "u": "υսᴜц", "v": "νѵᴠⅴ", "w": "ԝωᴡѡ", "x": "хχⅹ×", "y": "уүγʏ",
    "z": "ᴢʐż", "A": "АΑᎪ", "B": "ВΒ", "C": "СϹ", "D": "Ꭰ", "E": "ЕΕ", "F": "Ϝ", "G": "Ԍ", "H": "НΗ", "I": "ІΙӀ",
    "J": "Ј",
    "K": "КΚ", "L": "Ꮮ", "M": "МΜ", "N": "Ν", "O": "ОΟ", "P": "РΡ", "Q": "Ԛ", "R": "Ꭱ", "S": "Ѕ", "T": "ТΤ", "V": "Ѵ",
    "W": "Ԝ", "X": "ХΧ", "Y": "УΥ", "Z": "Ζ", "'": "‘’‚‛′`´ʹʼ", '"': "“”„‟″«»", "-": "‐‑‒–—―−﹣－", "/": "⁄∕⧸",
    "\\": "∖⧵",
    "|": "∣ǀ│", ":": "∶꞉", ".": "․。", "~": "∼˜", "*": "∗⁎", ";": ";", "&": "﹠", "$": "﹩", ">": "›", "<": "‹",
}  # fmt: skip
_TABLE = {ord(other): latin for latin, others in _LOOK_ALIKES.items() for other in others if other != "`"}
# NFKC first would turn some of these into something else (the modifier letters, the Greek question mark)
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
_SPACES = re.compile(r"[^\S\n]{2,}|[^\S\n ]")  # a single blank stays as it is
_STAYING = re.compile("[\x00-\x7f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]+")  # ASCII, Han, Hangul: thousands of letters
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def fold(text: str) -> str:
    """The text without tricks: NFKC, no invisible or control characters, look-alike letters as Latin ones, no accents,
    single blanks, joined backslash-newlines. Letter case stays (encodings need it). Idempotent."""
    previous = None
    while text != previous and not text.isascii():  # decomposing can reveal another look-alike
        previous = text
        text = unicodedata.normalize("NFKC", _plain(text))
    return _tidy(text)


def _plain(text: str) -> str:
    """Each character by itself without tricks. A text has few different ones, however long it is."""
    distinct = set(_STAYING.sub("", text))
    changed = {char: plain for char in distinct if (plain := _plain_char(char)) != char}
    if len(changed) > 20:
        return text.translate({ord(char): plain for char, plain in changed.items()})
    for char, plain in sorted(changed.items()):
        text = text.replace(char, plain)
    return text


@functools.lru_cache(maxsize=4096)
def _plain_char(char: str) -> str:
    if _INVISIBLE.match(char):
        return ""
    parts = unicodedata.normalize("NFKD", char.translate(_TABLE))
    kept = "".join(part for part in parts if unicodedata.category(part) not in ("Mn", "Cf", "Cs", "Cn", "Co"))
    return unicodedata.normalize("NFKC", kept).translate(_TABLE)


def _tidy(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if _is_tidy(text):
        return text.strip(" ")
    previous = None
    while text != previous:
        previous = text
        text = _SPACES.sub(" ", _CONTROL.sub("", text.replace("\\\n", "")))
    return text.strip(" ")


def _is_tidy(text: str) -> bool:
    """Most texts are; long ones are seen to be without a regular expression."""
    return text.isascii() and "  " not in text and "\\\n" not in text and text.replace("\n", "").isprintable()


def readings(text: str) -> tuple[str, ...]:
    """The different readings that must be judged: raw, folded."""
    folded = fold(text)
    return (text,) if folded == text else (text, folded)


def simple(text: str) -> str:
    """Folded and lower-case, for comparing what was said with what is planned."""
    return " ".join(fold(text).casefold().split())
