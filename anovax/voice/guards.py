"""Guards against what Whisper invents: when to doubt it, when not to believe it, and how to end its loops. Pure."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, replace

# What Whisper writes when it hears nothing, from its subtitled training data
INVENTED = re.compile(
    r"^\W*((thank you|thanks)( (so|very) much)?( for (watching|listening))?|you|bye( bye)?|okay|so|the|i|oh|uh|um|"
    r"hmm|mm|please subscribe|\[.*\]|\(.*\)|♪.*)?\W*$",
    re.IGNORECASE,
)
NOISE_NOTE = re.compile(r"\[[^\]]*\]|\([^)]*\)|♪+|\*[^*]*\*")
SURE = -0.2  # mean log probability from which a decoding is not questioned
HINT_GAIN = 0.2


@dataclass(frozen=True)
class Decoded:
    """One run of the decoder."""

    text: str
    no_speech: float
    logprob: float
    window_s: float


def doubtful(result: Decoded, seconds: float) -> bool:
    """Whether a short-window result needs the full window: repetition, low confidence, too much text or none.

    The fewer words, the less confident Whisper is even when it is right, so more doubt is allowed there.
    """
    words = _words(result.text)
    dense = len(words) > 6 * seconds + 2
    unsure = result.logprob < least_confidence(len(words))
    return repeats(words) or dense or unsure or compression(result.text) > 2.0 or not words


def wants_hint(result: Decoded) -> bool:
    """Whether a decoding without the vocabulary hint is so unsure that one with it may know better."""
    return result.logprob < SURE


def likelier(plain: Decoded, hinted: Decoded) -> Decoded:
    """The hinted decoding only if it is clearly likelier: the hint raises the likelihood of its own words a little."""
    return hinted if hinted.logprob > plain.logprob + HINT_GAIN else plain


def least_confidence(words: int) -> float:
    """The mean log probability from which so many words are believed at once."""
    return -1.25 if words <= 3 else -0.64 if words <= 6 else -0.48


def believed(result: Decoded, spoken_s: float) -> Decoded:
    """The result, or the same without its text when that is more likely an invention than something that was said."""
    silent = result.no_speech > 0.6 and result.logprob < -0.8
    invented = bool(INVENTED.match(result.text)) and (
        result.no_speech > 0.35 or spoken_s < 0.25 or result.logprob < -0.9
    )
    nonsense = result.logprob < -1.6
    if silent or invented or nonsense:
        return replace(result, text="")
    return replace(result, text=unlooped(result.text))


def repeats(words: list[str]) -> bool:
    """Whether a phrase is said again at once: two or more words twice, one word three times, or nothing but one."""
    if len(words) >= 2 and len(set(words)) == 1:
        return True
    for size in range(1, len(words) // 2 + 1):
        times = 3 if size == 1 else 2
        for start in range(len(words) - times * size + 1):
            phrase = words[start : start + size]
            if all(words[start + k * size : start + (k + 1) * size] == phrase for k in range(1, times)):
                return True
    return False


def unlooped(text: str) -> str:
    """``text`` with a phrase (of one to eight words) that follows itself four times or more said only once."""
    found = list(re.finditer(r"[\w']+", text))
    words = [match.group().lower() for match in found]
    for size in range(1, 9):
        for start in range(len(words) - 4 * size + 1):
            times = 1
            while words[start + times * size :][:size] == words[start : start + size]:
                times += 1
            if times >= 4:
                kept, rest = found[start + size - 1].end(), found[start + times * size - 1].end()
                return unlooped(text[:kept] + text[rest:])
    return text


def compression(text: str) -> float:
    """Length over zlib length; Whisper's own measure of a loop."""
    raw = text.encode()
    return len(raw) / len(zlib.compress(raw)) if raw else 0.0


def tidy(text: str) -> str:
    """Without notes such as [music] and without doubled blanks."""
    return re.sub(r"\s+", " ", NOISE_NOTE.sub(" ", text)).strip()


def _words(text: str) -> list[str]:
    return re.findall(r"[\w']+", text.lower())
