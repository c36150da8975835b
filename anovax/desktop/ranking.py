"""From a spoken name to an installed application: pure, so that it can be measured.

Each application's names are compared with what was said, by spelling (rapidfuzz's normalised Indel similarity over
the letters) and by sound (Philips' metaphone idea, reduced to what speech recognition confuses). What fits is
certain only when it is good enough and clearly better than the next; both bounds are set by the data in
``tests/data/spoken_names.tsv``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from rapidfuzz import fuzz

from anovax.desktop.application import Application, Ranked, Resolution
from anovax.desktop.roles import ROLES, Role

CERTAIN = 82.0  # below this nothing is started
UNSURE = 81.0  # the most that a short name with another letter in it reaches: "stream" may be Steam, but ask
ASKED = 80.5  # from here up to CERTAIN the one that is meant is asked for
MARGIN = 4.0  # the runner-up must be this far behind
NEAR = 55.0  # below this it is not even a candidate worth naming
MAX_CANDIDATES = 5
_UNLIKE = 35.0  # spelt so differently that the sound is not looked at
_SHORT = 5  # letters; one letter of five makes another word

_FILLER = frozenset(
    "a an the new my our your app apps application program programme please open launch start now up "
    "window for me".split()
)
_VENDORS = frozenset("gnome kde xfce mate the mozilla google microsoft gnu apache lxde lxqt canonical".split())
_GENERIC = frozenset("viewer editor player manager browser client tool tools utility desktop suite studio".split())
_NUMBERS = {
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
    "zero": "0",
}


@lru_cache(maxsize=8192)
def words(text: str) -> tuple[str, ...]:
    """Lower-case words of a name; "LibreOffice" and "VLC-player" fall apart at case and hyphen only where spoken so."""
    text = text.casefold().replace("&", " and ").replace("++", " plus plus ").replace("'s", "s")
    return tuple(_NUMBERS.get(word, word) for word in re.findall(r"[^\W_]+", text))


def spoken_words(text: str) -> tuple[str, ...]:
    """``words`` without what surrounds a name ("the … app, please"); the name is kept if that is all there is."""
    all_words = words(text)
    kept = tuple(word for word in all_words if word not in _FILLER)
    return kept or all_words


# Names of letters as speech recognition writes them ("ex term", "kay calc").
_LETTERS = dict(
    pair.split("=")
    for pair in (
        "bee=b see=c dee=d eff=f gee=g aitch=h jay=j kay=k ell=l el=l em=m en=n pee=p cue=q queue=q are=r ess=s tee=t "
        "you=u vee=v ex=x why=y"
    ).split()
)

_SOUNDS: tuple[tuple[str, str], ...] = (
    (r"[^a-z0-9]", ""), (r"chr", "kr"), (r"ght", "t"), (r"ph", "f"), (r"wh", "w"), (r"^kn|^gn", "n"), (r"^wr", "r"),
    (r"^x", "s"), (r"^ps", "s"), (r"tch|ch", "x"), (r"sch|sh", "x"), (r"th", "t"), (r"ck|q|c(?![eiy])", "k"),
    (r"c(?=[eiy])", "s"), (r"g(?=[eiy])", "j"), (r"x(?=.)", "ks"), (r"z", "s"), (r"v", "f"), (r"d", "t"), (r"b", "p"),
    (r"g", "k"), (r"(?<=.)[aeiouyhw]+", ""), (r"^[aeiouyhw]+", "a"), (r"(.)\1+", r"\1"),
)  # fmt: skip


@lru_cache(maxsize=8192)
def sound(text: str) -> str:
    """Consonant skeleton: what is left of a word when spelling, voicing and vowels are taken away."""
    key = text.casefold()
    for pattern, by in _SOUNDS:
        key = re.sub(pattern, by, key)
    return key


@lru_cache(maxsize=8192)
def _vowels(text: str) -> str:
    """Vowels as they sound: "ee", "ea", "i" and "y" are one, a silent e at the end none."""
    key = re.sub(r"(?<=[^aeiouy])e$", "", text.casefold())
    key = re.sub(r"ee|ea|ie|y", "i", re.sub(r"oo|ou|ew", "u", key))
    return re.sub(r"[^aeiou]", "", key)


def _sounds_same(said: str, meant: str) -> bool:
    return sound(said) == sound(meant) and _vowels(said) == _vowels(meant)


def likeness(spoken: Sequence[str], name: Sequence[str]) -> float:
    """How well two names agree, 0..100, however their letters are divided into words."""
    said, meant = "".join(spoken), "".join(name)
    if not said or not meant:
        return 0.0
    if said == meant:
        return 100.0
    if set(spoken) & set(name) & _GENERIC:  # "r studio" and "obs studio" have nothing in common but the kind
        spoken, name = _without_kind(spoken), _without_kind(name)
        return 0.98 * likeness(spoken, name)
    spelled = max(fuzz.ratio(said, meant), fuzz.token_sort_ratio(" ".join(spoken), " ".join(name)))
    if spelled < _UNLIKE:
        return spelled
    one, two = sound(said), sound(meant)
    heard = fuzz.ratio(one, two) if min(len(one), len(two)) >= 3 else 0.0
    mixed = 0.6 * spelled + 0.4 * heard
    if min(len(said), len(meant)) <= _SHORT and not _sounds_same(said, meant):
        return min(UNSURE, max(spelled if len(said) > 4 else spelled - 8, mixed))
    alike = (
        84.0
        if _sounds_same(said, meant) and len(one) >= 2
        else 83.0
        if one == two and len(one) >= 4 and spelled >= 50
        else 0.0
    )
    return min(97.0, max(spelled, mixed, alike, _beginning(said, meant)))


def _without_kind(name: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for word in name if word not in _GENERIC)


def _beginning(said: str, meant: str) -> float:
    """A name cut short ("virtual" for VirtualBox): most of it must have been said."""
    if len(said) < 5 or not 0.6 <= len(said) / len(meant) < 1.0:
        return 0.0
    return 0.97 * fuzz.ratio(said, meant[: len(said)])


def _part_score(spoken: Sequence[str], name: Sequence[str]) -> float:
    """All that was said is part of the name ("writer" in "LibreOffice Writer"), or the other way round."""
    said, meant = set(spoken) - _VENDORS, set(name) - _VENDORS
    if not said or not meant:
        return 0.0
    if said == meant:
        return 98.0
    if said < meant and not said <= _GENERIC:
        return 88.0 + 6.0 * len(said) / len(meant)
    if meant < said and (said - meant) <= _GENERIC:
        return 90.0
    return 0.0


def _own_names(app: Application) -> tuple[tuple[str, ...], ...]:
    """Everything by which the application itself is called."""
    last = re.split(r"[.]", app.id)[-1]
    names = [words(name) for name in (*app.names, app.name)]
    names += [_without_kind(name) for name in names]
    ids = [words(last), words(app.id) if "." not in app.id else (), words(app.program), words(app.wm_class)]
    return tuple(dict.fromkeys(name for name in (*names, *ids) if name))


def score(spoken: Sequence[str], app: Application) -> Ranked:
    """How well one application fits, and by what."""
    best, why = 0.0, ""
    shown = {words(name) for name in (*app.names, app.name)}
    for name in _own_names(app):
        fit = max(likeness(spoken, name), _part_score(spoken, name) if name in shown else 0.0)
        fit -= 0.0 if name in shown else 1.0
        if fit > best:
            best, why = fit, "name"
    for generic in app.generic:
        fit = max(likeness(spoken, words(generic)), _part_score(spoken, words(generic))) - (
            12.0 if app.terminal else 7.0
        )
        if fit > best:
            best, why = fit, "generic name"
    for keyword in app.keywords:
        fit = 0.82 * likeness(spoken, words(keyword))
        if fit > best:
            best, why = fit, "keyword"
    return Ranked(app=app, score=round(best, 1), why=why)


def role_of(spoken: Sequence[str]) -> Role | None:
    """The role that these words name, allowing for a slip in a longer word."""
    said = " ".join(spoken)
    for role in ROLES:
        if said in role.words:
            return role
    near = [(fuzz.ratio(said, word), role) for role in ROLES for word in role.words if len(word) >= 6]
    best = max(near, key=lambda pair: pair[0], default=(0.0, None))
    return best[1] if best[0] >= 88 else None


def plays(app: Application, role: Role) -> bool:
    """Whether it declares the role's categories (and none that the role excludes: ``!Viewer``)."""
    return any(
        all((word[1:] not in app.categories) if word[0] == "!" else word in app.categories for word in group.split("+"))
        for group in role.categories
    )


def rank(
    name: str, apps: Sequence[Application], defaults: Mapping[str, Sequence[str]] | None = None
) -> tuple[Ranked, ...]:
    """All applications, best first. ``defaults``: MIME type or alternative -> ids (or program names) that the
    desktop has chosen for it."""
    spoken = spoken_words(name)
    role = role_of(spoken)
    letters = tuple(_LETTERS.get(word, word) for word in spoken)
    bare = spoken if role else _without_kind(spoken) or spoken
    readings = tuple(dict.fromkeys((spoken, letters, bare)))
    ranked = [max((score(reading, app) for reading in readings), key=lambda entry: entry.score) for app in apps]
    if role is not None:
        chosen = _chosen(role, apps, defaults or {})
        ranked = [_with_role(entry, role, chosen) for entry in ranked]
    return tuple(
        sorted(ranked, key=lambda entry: (-entry.score, entry.app.terminal, len(entry.app.name), entry.app.id))
    )


def _chosen(role: Role, apps: Sequence[Application], defaults: Mapping[str, Sequence[str]]) -> str:
    """Id of the application that the desktop has chosen for the role, or empty."""
    for key in (*role.mime, role.alternative):
        for ident in defaults.get(key, ()):
            for app in apps:
                if ident in (app.id, app.program):
                    return app.id
    return ""


def _with_role(entry: Ranked, role: Role, chosen: str) -> Ranked:
    if entry.app.id == chosen:
        fit, why = 98.5, "the default for it"
    elif plays(entry.app, role):
        fit, why = (88.0 if not entry.app.terminal else 83.0), "its kind"
    else:
        return entry
    return entry if entry.score > fit else Ranked(app=entry.app, score=fit, why=why)


def resolve(
    name: str,
    apps: Sequence[Application],
    defaults: Mapping[str, Sequence[str]] | None = None,
    aliases: Mapping[str, str] | None = None,
) -> Resolution:
    """What ``name`` stands for. ``aliases`` are the user's own names, taken as said."""
    own = {" ".join(spoken_words(key)): value for key, value in (aliases or {}).items()}
    ranked = rank(own.get(" ".join(spoken_words(name)), name), apps, defaults)
    if ranked and ASKED <= ranked[0].score < CERTAIN:
        unsure = tuple(entry for entry in ranked if entry.score >= max(ASKED, ranked[0].score - MARGIN))
        return Resolution(kind="ambiguous", candidates=unsure[:MAX_CANDIDATES])
    if not ranked or ranked[0].score < CERTAIN:
        near = tuple(entry for entry in ranked[:MAX_CANDIDATES] if entry.score >= NEAR)
        return Resolution(kind="none", candidates=near, akin=_akin(name, apps, defaults or {}))
    first = ranked[0]
    close = [entry for entry in ranked if entry.score >= first.score - MARGIN and not _variant(entry, first)]
    if len(close) == 1 or first.score >= 100:
        return Resolution(kind="found", app=first.app, candidates=ranked[:MAX_CANDIDATES])
    return Resolution(kind="ambiguous", candidates=tuple(close[:MAX_CANDIDATES]))


def _akin(name: str, apps: Sequence[Application], defaults: Mapping[str, Sequence[str]]) -> Application | None:
    """What is installed of the kind of application that is known by ``name`` elsewhere."""
    said = " ".join(spoken_words(name))
    role = next((role for role in ROLES if said in role.akin), None)
    return resolve(role.words[0], apps, defaults).app if role else None


def _variant(entry: Ranked, base: Ranked) -> bool:
    """Another start of the same thing ("Mousepad Preferences", UXTerm beside XTerm, a second entry for one program)."""
    if entry.app.id == base.app.id:
        return False
    one, two = base.app.name.casefold(), entry.app.name.casefold()
    return base.app.program == entry.app.program or (one != two and len(one) >= 4 and one in two)
