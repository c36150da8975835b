"""What the fast path can read: one file per kind of request."""

from __future__ import annotations

from anovax.planner.rules.apps import Apps
from anovax.planner.rules.desk import desk_rules
from anovax.planner.rules.grammar import Rule
from anovax.planner.rules.hands import hand_rules
from anovax.planner.rules.keys import key_rules
from anovax.planner.rules.memory import memory_rules
from anovax.planner.rules.sites import Sites
from anovax.planner.rules.web import Web


def all_rules() -> tuple[Rule, ...]:
    """Every rule, in the order in which they are tried."""
    sites = Sites()
    return (
        *desk_rules(),
        *hand_rules(),
        *memory_rules(),
        *key_rules(),
        *Web(sites).rules(),
        *Apps(sites).rules(),
    )
