"""What is said to train a wake word: the phrase, what nearly sounds like it, and anything else. Pure.

The near phrases follow by rule from the phrase itself: its parts, other beginnings and endings, consonants exchanged,
syllables left out or put in, other names after its first word.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence

import numpy as np

from anovax.errors import UsageError

VOWELS = "aeiouy"
CONSONANTS = ("b", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "z", "sh", "ch", "th")
ENDINGS = ("ate", "el", "ember", "er", "ing", "ation", "ice", "ella", "ina", "ity", "o", "ert", "elty", "ian")
BEGINNINGS = ("in", "re", "sup", "cas", "bos", "ter", "al", "mag", "to", "the ", "pre", "un", "con", "super")
OPENERS = ("hey", "hi", "okay", "they", "say", "play", "hello", "may", "day", "a", "hate", "hay", "he", "her")
NAMES = (
    "Anna Hannah Amanda Nora Noah Nina Eva Oliver Olivia Ana Diana Joanna Johanna Savannah Vanessa Ivan Evan Nathan "
    "Nova Donovan Giovanni Yolanda Andrea Adam Alex Alexa Siri Google Jarvis Mycroft Computer Jonas Novak Enola Winona "
    "Ramona Fiona Leona Iona Jonah Moana Havana Montana Banana Alan Aaron Arnold Arnie Annie Abel Mom Dad there you "
    "Helena Selena Marina Sabrina Victor Vera Veronica Nicole Nicolas Norma Naomi Manuela Monica Angela Antonio Anton"
).split()
SUBJECTS = (
    "I we you they my_sister the_neighbour our_teacher somebody the_old_man this_company the_children her_brother "
    "the_doctor nobody everyone a_friend_of_mine the_driver the_band"
).split()
VERBS = (
    "saw bought forgot opened painted cleaned remembered liked wanted to_sell sold found lost visited carried drew "
    "described repaired watched heard ordered moved burned invented answered"
).split()
OBJECTS = (
    "a_new_car the_garden dinner two_tickets the_kitchen_window an_older_piano the_answer some_bread the_river "
    "a_long_letter the_innovation the_movie over_a_hundred_books her_supernova_poster the_novel the_oven "
    "the_weather_report an_overcoat the_banana_bread a_casino eleven_sandwiches an_office_chair the_november_issue"
).split()
TAILS = (
    "yesterday; before the meeting; and then went home; because it was late; in the middle of the night; again; "
    "for no reason at all; when the rain stopped; over and over; last november; on the way to the station; "
    "but nobody believed it; with an open mind; as far as I know"
).split("; ")
COMMANDS = (
    "open the calculator; what time is it; take a screenshot; close the window; play some music; stop; turn it up; "
    "search for cheap flights; type hello world; what is on my screen; remember the milk; scroll down please"
).split("; ")


def checked(phrase: str) -> str:
    """The phrase in lower case, without marks. Raises UsageError when it cannot be a wake phrase."""
    words = re.findall(r"[a-z']+", phrase.lower())
    if re.search(r"[^\w\s',.!?-]|[\d_]", phrase) or not words:
        raise UsageError(f"“{phrase}” is no phrase that can be spoken in English", 'write words, as in "hey anova"')
    if len(words) > 5 or not 4 <= len("".join(words)) <= 30:
        raise UsageError(f"“{phrase}” is too {_fault(words)} for a wake phrase", "take two or three words")
    return " ".join(words)


def _fault(words: list[str]) -> str:
    return "short" if len("".join(words)) < 4 else "long"


def ways_to_say(spellings: tuple[str, ...]) -> list[str]:
    """The phrase as it may be written for a synthesiser: marks change the melody, spellings the pronunciation."""
    ways = []
    for spelling in spellings:
        first, _, rest = spelling.partition(" ")
        ways += [spelling, f"{spelling}!", f"{spelling}?", f"{spelling}."]
        if rest:
            ways.append(f"{first.capitalize()}, {rest}.")
    return ways


def near_phrases(phrase: str, draw: np.random.Generator, count: int = 300) -> list[str]:
    """Up to ``count`` phrases that are nearly ``phrase`` and not it, in random order."""
    words = phrase.split()
    last = words[-1]
    near = [*_parts(words), *(f"{words[0]} {name.lower()}" for name in NAMES)]
    for other in (*_other_words(last), *_exchanged(last)):
        near += [other, " ".join([*words[:-1], other])]
    near += [" ".join([opener, *words[1:]]) for opener in OPENERS if len(words) > 1]
    near += [f"{opener} {part}" for opener in OPENERS for part in _cut(last)]
    different = sorted({text for text in near if _sound(text) != _sound(phrase) and len(text) > 2})
    return [different[i] for i in draw.permutation(len(different))[:count]]


def sentences(draw: np.random.Generator, count: int, near: Sequence[str] = ()) -> list[str]:
    """``count`` English sentences: made ones, with a near phrase in every third, and prose from Python's manual."""
    prose = _prose()
    made = []
    for number in range(count):
        if number % 3 == 2 and prose:
            made.append(prose[int(draw.integers(len(prose)))])
            continue
        said = " ".join(_pick(draw, table) for table in (SUBJECTS, VERBS, OBJECTS, TAILS))
        if number % 3 == 1 and near:
            said = f"{near[int(draw.integers(len(near)))]}, {said}"
        made.append(said)
    return made


def _pick(draw: np.random.Generator, table: list[str]) -> str:
    return table[int(draw.integers(len(table)))].replace("_", " ")


def _parts(words: list[str]) -> list[str]:
    """Beginnings and endings of the phrase, and each word twice."""
    whole = range(1, len(words))
    return [*(" ".join(words[:n]) for n in whole), *(" ".join(words[n:]) for n in whole), *(f"{w} {w}" for w in words)]


def _cut(word: str) -> list[str]:
    """The word without its first or its last syllable."""
    groups = re.findall(r"[^aeiouy]*[aeiouy]+|[^aeiouy]+$", word)
    return ["".join(groups[1:]), "".join(groups[:-1])] if len(groups) > 1 else []


def _other_words(word: str) -> list[str]:
    """Other beginnings and endings: for "anova" among others casanova, innova, anovate, nova, novelty."""
    short = _cut(word)
    core = word.rstrip(VOWELS)
    stems = [core, *(part.rstrip(VOWELS) for part in short if len(part) > 2)]
    ended = [stem + ending for stem in stems for ending in ENDINGS]
    begun = [start + rest for start in BEGINNINGS for rest in (word, *short[:1])]
    return [*short, *ended, *begun, *(start + end for start in BEGINNINGS for end in ended[:5])]


def _exchanged(word: str) -> list[str]:
    """The word with one consonant replaced."""
    found = []
    for at, letter in enumerate(word):
        if letter not in VOWELS:
            found += [word[:at] + other + word[at + 1 :] for other in CONSONANTS if other != letter]
    return found


def _sound(text: str) -> str:
    """A rough key: texts with one key may well be the same words to the ear ("hey anova", "hay a nova")."""
    return "".join(_word_sound(word) for word in re.findall("[a-z]+", text.lower()))


def _word_sound(word: str) -> str:
    word = word.replace("ph", "f").replace("c", "k")
    return re.sub(r"([^a])\1+", r"\1", re.sub(r"[aeiouyh]+", "a", word))


def _prose() -> list[str]:
    """Sentences of Python's own reference manual, which is on every machine that runs this."""
    from pydoc_data import topics

    text = inspect.cleandoc(" ".join(topics.topics.values()))
    text = re.sub(r"[*`\"_“”]|\s+", " ", text)
    found = re.findall(r"(?<=[.:] )[A-Z][a-z]+[a-z ,']{40,160}(?=[.;:])", text)
    return sorted(set(found))
