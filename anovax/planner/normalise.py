"""Spoken forms to written forms. Pure text functions; each is idempotent: f(f(x)) == f(x).

Speech-to-text writes what it hears ("twenty one", "wikipedia dot org", "control shift t", "Please open it.");
the rules and the tools want what would be written ("21", "wikipedia.org", "ctrl+shift+t", "open it").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from anovax.planner.numbers import spoken_numbers

_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "`": "'", "\u00a0": " "})
_SPACE = re.compile(r"\s+")
_EDGES = " \t\n.,;:!?…-"

# What people say around a request. Longer phrases first: an alternation takes the first that fits.
_LEAD = re.compile(
    r"(?:um+|uh+|er+m?|hm+|ok|okay|alright|all right|so|well|yeah|oh|and|also|now|then|just|actually"
    r"|(?:hey|ok|okay) (?:google|siri|cortana|alexa)|alexa|siri|cortana|olly|mycroft"
    r"|(?P<verb>open|close|launch|search|press|click|scroll|turn|play|start)(?= (?P=verb) )"
    r"|(?:no|yes|first|sorry|oops|wait)(?=,? (?:open|close|go to|search|press|click|take|scroll|turn|launch|switch)\b)"
    r"|go (?:online|on the (?:internet|web)) (?:and|to)|good (?:morning|afternoon|evening|night)|goodnight|thanks|"
    r"thank you"
    r"|i(?:'d| would)? (?:like|want|need|love) to know|i wanna know"
    r"|hey there|hi there|hello there|hey|hi|hello|jarvis|computer|"
    r"anova ?x?|buddy|dude"
    r"|(?:please|pls|kindly|quickly|simply)"
    r"|(?:can|could|would|will) (?:you|u)(?: (?:please|kindly|just|possibly|able to|be able to|go ahead and|help me|"
    r"help me to|try to))*"
    r"|would you mind|is it possible to|are you able to|do you think you could|be so kind and|be so kind as to"
    r"|i(?:'d| would)? (?:really )?(?:want|need|like|love)(?: for)? you to|i(?:'d| would)? like to|i (?:want|need|"
    r"wanna) to"
    r"|i wanna|you (?:should|can|could|may)(?: now| just)?|i'm asking you to|i am asking you to"
    r"|let'?s|let us|let me|help me(?: to)?|go ahead and|try to|do me a favou?r and|make sure to|be sure to)"
    r"(?=[\s,.!])[\s,.!]*",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"[\s,]*\b(?:please|pls|for me|right now|now|right away|immediately|at once|asap|thanks|thank you|thanks a lot"
    r"|thank you very much|will you|would you|could you|can you|if you can|if you could|if possible|if you please"
    r"|if you don't mind|if you would|when you can|real quick|okay|ok|jarvis)$|,\s*computer$",
    re.IGNORECASE,
)


def unquoted(text: str) -> str:
    """Without the quotation marks around the whole (the last may be lost already). Those around a part of it stay."""
    text = text.strip(" ,")
    for mark in ('"', "'"):
        inner = text.removeprefix(mark).removesuffix(mark)
        if inner != text and not re.search(rf"(?<!\w){mark}|{mark}(?!\w)", inner):
            return inner
    return text


def tidy(text: str) -> str:
    """One line, single spaces, straight quotes, no punctuation or quotes around the whole. Case is kept."""
    text = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    text = "".join(ch if ch.isprintable() else " " for ch in text)
    before = None
    while text != before:
        before = text
        text = _SPACE.sub(" ", text).strip(_EDGES)
        if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" and text[0] not in text[1:-1]:
            text = text[1:-1]
    return text


_VERB = "open|close|start|launch|type|press|click|search|focus|scroll|say|write|find|play|show"
_PAUSE = re.compile(rf"((?:^|[.;,] |\b(?:and|then),? )(?:(?:and|then),? )*(?:{_VERB})), (?=\S)", re.IGNORECASE)
# Not after "type" and the like: there it may be what is to be written.
_HESITATION = re.compile(
    r"((?:^|[.;,] |\b(?:and|then|you|uh+|um+),? )(?:open|close|launch|start|press|click(?: on)?|go to|"
    r"switch to|search for|scroll)),?"
    r" (?:uh+m*|um+|er+m?|hm+),? (?=\S)",
    re.IGNORECASE,
)
_LINK_PAUSE = re.compile(rf"\b((?:and )?then|and), (?=(?:{_VERB})\b)", re.IGNORECASE)


def without_pauses(text: str, complete: Callable[[str], bool] = lambda words: False) -> str:
    """Without the comma that speech-to-text writes where somebody thinks of the name: "Open, the calculator".

    The comma stays before words that are a request of their own, as ``complete`` tells: "open, louder".
    """

    def joined(match: re.Match[str]) -> str:
        following = re.split("[,.;]", text[match.end() :], maxsplit=1)[0]
        return match.group() if complete(following) else f"{match.group(1)} "

    return _LINK_PAUSE.sub(r"\1 ", _PAUSE.sub(joined, _HESITATION.sub(r"\1 ", text)))


def without_lead(text: str) -> str:
    """The request without what is said before it ("hey, could you please …"). Never empties a text."""
    while (match := _LEAD.match(text)) and text[match.end() :].strip(_EDGES):
        text = text[match.end() :].lstrip(_EDGES)
    return text


_BARE = re.compile(
    r"^(what|where|who|how|when|that|there|it|here|let)s\b(?=[ ,])|^(do|did|does|is|can|wo)nt\b|^(i)m\b", re.IGNORECASE
)


def with_apostrophe(text: str) -> str:
    """The apostrophe that speech-to-text leaves out of a first word: "whats up" -> "what's up"."""

    def mended(match: re.Match[str]) -> str:
        word = match.group()
        return f"{word[:-2]}n't" if match[2] else f"{word[:-1]}'{word[-1]}"

    return _BARE.sub(mended, text)


def without_tail(text: str) -> str:
    """The request without what is said after it ("… for me, please"). Never empties a text."""
    while (match := _TAIL.search(text)) and text[: match.start()].strip(_EDGES):
        text = text[: match.start()].rstrip(_EDGES)
    return text


def courtesy_free(text: str) -> str:
    """``without_lead`` and ``without_tail`` until nothing changes."""
    before = None
    while text != before:
        before, text = text, without_tail(without_lead(text))
    return text


# --- arithmetic ------------------------------------------------------------------------------------------------------

_OPERATORS = (
    (r"(?:multiplied by|times|x|×|\*)", "*"),
    (r"(?:divided by|over|÷|/)", "/"),
    (r"(?:plus|added to|\+)", "+"),
    (r"(?:minus|less|take away|subtract|−|–|-)", "-"),
    (r"(?:to the power of|raised to|\^|\*\*)", "^"),
)
_OPERATOR_WORDS = tuple((re.compile(rf"(?<=[\d)%]) ?{word} ?(?=[\d(.-])"), sign) for word, sign in _OPERATORS)
_SUM = re.compile(r"^-?\(?\d+(?:\.\d+)?%?\)?(?: ?(?:[-+*/^]|\*\*) ?-?\(?\d+(?:\.\d+)?%?\)?)+ ?=?$")


def arithmetic(text: str) -> str | None:
    """A sum as it is typed: "21 plus 21" -> "21+21"; None when the text is no sum of numbers."""
    line = spoken_numbers(text.lower().replace(",", "") if re.search(r"\d,\d{3}", text) else text.lower()).strip()
    line = re.sub(r"\b(?:equals|is)$", "=", line)
    line = re.sub(r"(?<=\d) percent\b", "%", line)
    line = re.sub(r"(?<=\d) squared\b", "^2", re.sub(r"(?<=\d) cubed\b", "^3", line))
    line = re.sub(r"\bpoint (?=\d)", ".", line)
    for pattern, sign in _OPERATOR_WORDS:
        line = pattern.sub(sign, line)
    return line.replace(" ", "") if _SUM.match(line) else None


# --- addresses -------------------------------------------------------------------------------------------------------

_TOP = (
    "com|org|net|edu|gov|io|co|uk|de|fr|es|it|nl|eu|us|ca|au|in|jp|tv|me|info|dev|app|ai|gg|ly|fm|xyz|biz|at|ch|br|"
    "pl|se|no|fi|dk|nz|ie|"
    "be|pt|mil|int|museum|online|site|tech|cloud|page|wiki|news|blog|shop|store"
)
_DOT = re.compile(r"\s+dot\s+|\s*\.\s*(?=(?:" + _TOP + r")\b)", re.IGNORECASE)
_HOST = re.compile(
    rf"^(?:https?://)?(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:{_TOP})(?::\d{{1,5}})?(?:[/?#][^\s]*)?$", re.IGNORECASE
)
_LOCAL = re.compile(r"^(?:https?://)?(?:localhost|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?(?:/[^\s]*)?$", re.IGNORECASE)
_EMAIL = re.compile(rf"^[a-z0-9._+-]+@(?:[a-z0-9-]+\.)+(?:{_TOP})$", re.IGNORECASE)


def _joined(text: str) -> str:
    text = _DOT.sub(".", " " + text + " ").strip()
    text = re.sub(r"\s*\b(?:forward )?slash\b\s*", "/", text, flags=re.IGNORECASE)
    text = re.sub(r"\s*\b(?:dash|hyphen)\b\s*", "-", text, flags=re.IGNORECASE)
    text = re.sub(r"\s*\bunderscore\b\s*", "_", text, flags=re.IGNORECASE)
    text = re.sub(r"\s*\bcolon\b\s*", ":", text, flags=re.IGNORECASE)
    return re.sub(r"^(?:www|w w w|double u double u double u)[ .]+", "www.", text, flags=re.IGNORECASE)


def address(text: str) -> str | None:
    """A web address: "wikipedia dot org slash wiki" -> "wikipedia.org/wiki"; None when it is none. A host of several
    words is joined ("new york times dot com")."""
    if "," in text or " and " in text:
        return None
    line = _joined(text)
    head, slash, rest = line.partition("/") if "://" not in line else (line, "", "")
    if "://" not in line:
        line = head.replace(" ", "").lower() + slash + rest.replace(" ", "")
    return line if _HOST.match(line) or _LOCAL.match(line) else None


def email(text: str) -> str | None:
    """An e-mail address: "jane underscore doe at example dot com" -> "jane_doe@example.com"; None when it is none."""
    line = re.sub(r"\s+at(?: sign)?\s+", "@", _joined(text), flags=re.IGNORECASE)
    line = line.lower()
    return line if _EMAIL.match(line) else None


_SYMBOLS = tuple(
    (re.compile(pattern, re.IGNORECASE), sign)
    for pattern, sign in (
        (r"\s*\bat sign\b\s*", "@"),
        (r"\s*\bunderscore\b\s*", "_"),
        (r"\bhash ?tag\s+(?=\w)", "#"),
        (
            r"\s+dot\s+(?=(?:com|org|net|edu|gov|io|txt|pdf|py|md|csv|html|png|jpe?g|docx?|xlsx?|pptx?|odt|json|zip|log|mp[34])\b)",
            ".",
        ),
    )
)


# "my e-mail is jane at example.com"; but "look at example.com"
_MAIL_WITHIN = re.compile(rf"(?<=mail is )([\w.+-]+) at ((?:[a-z0-9-]+\.)+(?:{_TOP}))(?![\w.])", re.IGNORECASE)


def written(text: str) -> str:
    """Text to be typed, with the few spoken symbols that cannot be meant as words ("at sign", "underscore")."""
    if (mail := email(text)) is not None:
        return mail
    for pattern, sign in _SYMBOLS:
        text = pattern.sub(sign, text)
    return _MAIL_WITHIN.sub(r"\1@\2", text)
