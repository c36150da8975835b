"""Which time zone a spoken place lies in: tzdata's zone names and countries, and cities without a zone of their own."""
# ruff: noqa: E501 - a line of the table is a zone

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache
from importlib import resources
from zoneinfo import ZoneInfo, available_timezones

from rapidfuzz import fuzz, process
from rapidfuzz.distance import Levenshtein

from anovax.errors import AmbiguousTarget, ToolError

# Places that people name and tzdata does not: zone -> names.
_PLACES: dict[str, str] = {
    "America/New_York": "boston, washington, washington dc, dc, miami, philadelphia, atlanta, orlando, tampa, pittsburgh, cleveland, "
    "baltimore, charlotte, buffalo, columbus, cincinnati, nyc, new york city, manhattan, brooklyn, east coast, eastern, eastern time, "
    "est, edt, florida, georgia usa, massachusetts, pennsylvania, virginia, ohio, maryland, new jersey, north carolina, south carolina, "
    "connecticut, maine, vermont, new hampshire, rhode island, delaware, michigan",
    "America/Chicago": "houston, dallas, austin, san antonio, minneapolis, st louis, saint louis, milwaukee, nashville, new orleans, "
    "memphis, kansas city, oklahoma city, omaha, central, central time, cst, cdt, texas, illinois, minnesota, wisconsin, missouri, "
    "louisiana, alabama, mississippi, iowa, oklahoma, arkansas",
    "America/Denver": "salt lake city, albuquerque, mountain, mountain time, mst, mdt, colorado, utah, montana, wyoming, new mexico",
    "America/Phoenix": "arizona, tucson, flagstaff",
    "America/Los_Angeles": "san francisco, seattle, portland, san diego, las vegas, sacramento, oakland, silicon valley, hollywood, la, "
    "west coast, pacific, pacific time, pst, pdt, california, nevada, oregon, washington state, palo alto, mountain view, redmond",
    "America/Anchorage": "alaska",
    "Pacific/Honolulu": "hawaii, waikiki, maui",
    "America/Toronto": "montreal, ottawa, quebec, quebec city, ontario",
    "America/Edmonton": "calgary, alberta",
    "America/Vancouver": "victoria bc, british columbia",
    "America/Sao_Paulo": "rio, rio de janeiro, brasilia, brazil",
    "America/Mexico_City": "guadalajara, mexico",
    "America/Argentina/Buenos_Aires": "argentina",
    "Europe/London": "manchester, edinburgh, glasgow, liverpool, birmingham, leeds, bristol, oxford, cambridge, cardiff, england, scotland, "
    "wales, uk, united kingdom, great britain, britain, bst",
    "Europe/Berlin": "munich, frankfurt, hamburg, cologne, stuttgart, dusseldorf, leipzig, dresden, nuremberg, hanover, bremen, germany, "
    "cet, cest, central european time",
    "Europe/Paris": "lyon, marseille, nice, toulouse, bordeaux, strasbourg, lille",
    "Europe/Rome": "milan, naples, turin, florence, venice, bologna, palermo, sicily",
    "Europe/Madrid": "barcelona, valencia, seville, malaga, bilbao, spain",
    "Europe/Zurich": "geneva, basel, bern, lausanne",
    "Europe/Vienna": "salzburg, graz, innsbruck",
    "Europe/Amsterdam": "rotterdam, the hague, utrecht, eindhoven, holland",
    "Europe/Brussels": "antwerp, ghent, bruges",
    "Europe/Stockholm": "gothenburg, malmo",
    "Europe/Lisbon": "porto, portugal",
    "Europe/Warsaw": "krakow, gdansk, wroclaw, poznan, lodz",
    "Europe/Moscow": "saint petersburg, st petersburg",
    "Europe/Kyiv": "kiev, ukraine, odessa, lviv",
    "Europe/Athens": "thessaloniki, crete, eet",
    "Europe/Istanbul": "ankara, izmir, turkey",
    "Asia/Kolkata": "mumbai, bombay, delhi, new delhi, bangalore, bengaluru, chennai, hyderabad, pune, calcutta, india, ist",
    "Asia/Shanghai": "beijing, peking, shenzhen, guangzhou, wuhan, chengdu, china, hangzhou, xian",
    "Asia/Tokyo": "osaka, kyoto, nagoya, yokohama, sapporo, fukuoka, hiroshima, jst",
    "Asia/Seoul": "busan, korea, south korea",
    "Asia/Ho_Chi_Minh": "saigon, hanoi, ho chi minh city, vietnam",
    "Asia/Dubai": "abu dhabi, emirates",
    "Asia/Jerusalem": "tel aviv, haifa",
    "Asia/Riyadh": "mecca, jeddah",
    "Asia/Karachi": "lahore, islamabad",
    "Asia/Manila": "philippines, cebu",
    "Africa/Johannesburg": "cape town, durban, pretoria",
    "Africa/Cairo": "alexandria",
    "Africa/Casablanca": "marrakesh, rabat, fes",
    "Australia/Sydney": "canberra, new south wales",
    "Australia/Brisbane": "gold coast, queensland",
    "Pacific/Auckland": "wellington, christchurch, new zealand",
    "UTC": "utc, gmt, universal time, greenwich, zulu, coordinated universal time",
}  # fmt: skip
_AREAS = (
    "Africa/",
    "America/",
    "Antarctica/",
    "Arctic/",
    "Asia/",
    "Atlantic/",
    "Australia/",
    "Europe/",
    "Indian/",
    "Pacific/",
)


def _plain(text: str) -> str:
    text = text.casefold().replace("_", " ").replace("'s", "")
    for accented, plain in (
        ("éèêe", "e"),
        ("áàâãäå", "a"),
        ("öóôõ", "o"),
        ("üúû", "u"),
        ("íî", "i"),
        ("ç", "c"),
        ("ñ", "n"),
    ):
        text = re.sub(f"[{accented}]", plain, text)
    return " ".join(re.findall(r"[^\W_]+", text))


@lru_cache(maxsize=1)
def _cities() -> dict[str, str]:
    """Every known place that lies in one zone -> the zone."""
    zones = [name for name in sorted(available_timezones()) if name.startswith(_AREAS)]
    table = {_plain(name.rsplit("/", 1)[1]): name for name in zones}
    table |= {_plain(name): name for name in zones}
    for zone, names in _PLACES.items():
        table |= {_plain(name): zone for name in names.split(",")}
    return table


@lru_cache(maxsize=1)
def _countries() -> dict[str, tuple[str, ...]]:
    """Country name -> its zones (ISO 3166 and zone.tab, as tzdata ships them)."""
    codes = {row[0]: row[1] for row in _rows("iso3166.tab")}
    zones: dict[str, list[str]] = {}
    for row in _rows("zone.tab"):
        zones.setdefault(_plain(codes.get(row[0], row[0])), []).append(row[2])
    extra = {
        "usa": "united states",
        "us": "united states",
        "america": "united states",
        "the us": "united states",
        "czechia": "czech republic",
    }
    table = {name: tuple(found) for name, found in zones.items()}
    return table | {short: table[name] for short, name in extra.items() if name in table}


def _rows(name: str) -> list[list[str]]:
    text = resources.files("tzdata").joinpath("zoneinfo", name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]


def zone_of(place: str) -> ZoneInfo:
    """The time zone of a city, region or country. AmbiguousTarget for a country with several times, ToolError with
    the nearest names for a place that is not known."""
    said = re.sub(r"^(?:in|at|over in|the city of)\s+|\s+(?:time|time zone)$", "", _plain(place))
    for name in _readings(said, place):
        if name in _cities():
            return ZoneInfo(_cities()[name])
        if name in _countries():
            return _of_country(name, _countries()[name])
    return _nearest(said, place)


def _readings(said: str, place: str) -> tuple[str, ...]:
    """The name as said, then the city before a comma or before a country or region ("paris france", "paris texas")."""
    parts = [_plain(part) for part in place.split(",")]
    words = said.split()
    names = [said, said.removeprefix("the "), parts[0]]
    for cut in range(len(words) - 1, 0, -1):
        head, tail = " ".join(words[:cut]), " ".join(words[cut:])
        if tail in _cities() or tail in _countries():
            inside = head in _cities() and _cities()[head] in _zones_of(tail)
            names += [head, tail] if inside or tail in _countries() else [tail]
    return tuple(dict.fromkeys(filter(None, names[:2] + names[3:] + names[2:3])))


def _zones_of(region: str) -> tuple[str, ...]:
    return _countries().get(region) or ((_cities()[region],) if region in _cities() else ())


def _of_country(name: str, zones: tuple[str, ...]) -> ZoneInfo:
    now = datetime.now(UTC)
    if len({now.astimezone(ZoneInfo(zone)).utcoffset() for zone in zones}) == 1:
        return ZoneInfo(zones[0])
    some = tuple(zone.rsplit("/", 1)[1].replace("_", " ") for zone in zones[:5])
    raise AmbiguousTarget(
        f"{name.title()} has more than one time zone",
        "name a city",
        f"{name.title()} has more than one time zone. Which city?",
        some,
    )


def _nearest(said: str, place: str) -> ZoneInfo:
    names = [*_cities(), *_countries()]
    found = process.extract(said, names, scorer=fuzz.ratio, limit=3, score_cutoff=70)
    slips = 1 if len(said) < 10 else 2
    if found and len(said) >= 5 and Levenshtein.distance(said, found[0][0]) <= slips:
        name = found[0][0]
        return ZoneInfo(_cities()[name]) if name in _cities() else _of_country(name, _countries()[name])
    near = tuple(name.title() for name, _, _ in found)
    raise ToolError(
        f"The place {place!r} is not known", "name a larger city nearby", f"I do not know where {place} is.", near
    )
