"""What the fast path can read: one file per kind of request."""

from __future__ import annotations

import random

from anovax.planner.rules.apps import Apps
from anovax.planner.rules.beyond import beyond_rules
from anovax.planner.rules.browsing import browsing_rules
from anovax.planner.rules.clock import clock_rules
from anovax.planner.rules.desk import desk_rules
from anovax.planner.rules.editing import editing_rules
from anovax.planner.rules.keys import key_rules
from anovax.planner.rules.lookups import lookup_rules
from anovax.planner.rules.media import media_rules
from anovax.planner.rules.memory import memory_rules
from anovax.planner.rules.notation import Rule
from anovax.planner.rules.pointing import pointing_rules
from anovax.planner.rules.scrolling import scroll_rules
from anovax.planner.rules.sites import Sites
from anovax.planner.rules.smalltalk import smalltalk_rules
from anovax.planner.rules.sums import sum_rules
from anovax.planner.rules.talk import Talk
from anovax.planner.rules.typing import typing_rules
from anovax.planner.rules.units import Units
from anovax.planner.rules.web import Web


def all_rules(chance: random.Random) -> tuple[Rule, ...]:
    """Every rule, in the order in which they are tried."""
    sites = Sites()
    return (
        *media_rules(),
        *browsing_rules(),
        *desk_rules(),
        *editing_rules(),
        *scroll_rules(),
        *key_rules(),
        *typing_rules(),
        *pointing_rules(),
        *clock_rules(),
        *memory_rules(),
        *sum_rules(),
        *Units().rules(),
        *beyond_rules(),
        *Talk(chance).rules(),
        *Web(sites).rules(),
        *smalltalk_rules(),
        *lookup_rules(),
        *Apps(sites).rules(),
    )
