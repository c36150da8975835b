"""Settings of the machine: kernel values, clock, network, firewall."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from anovax.safety.finding import Finding, ask, notice, refuse
from anovax.safety.normalise import words
from anovax.safety.posix.words import Command

if TYPE_CHECKING:
    from anovax.safety.posix.shell import Run

Rule = Callable[[Command, "Run"], "Finding | None"]


def _settings(command: Command, run: Run) -> Finding | None:
    """sysctl, date, hostname…: reading is harmless, setting asks."""
    if (
        command.name == "date"
        and not command.has("s", "set")
        and not any(re.fullmatch(r"\d{8,12}(\.\d\d)?", t) for t in command.texts)
    ):
        return None
    if command.name in ("ulimit", "umask", "xset", "setxkbmap", "stty"):
        return notice("settings", "it changes a setting of this session") if command.args else None
    if (
        command.name in ("hostname", "domainname", "dmesg", "swapon")
        and not command.has("bFcCnDa")
        and (command.name in ("dmesg",) or not command.operands())
    ):
        return None
    if command.name == "hostname" and command.texts and command.texts[0] in ("-i", "-I", "-f", "-s", "-A", "-d"):
        return None
    if (
        command.name == "sysctl"
        and not command.has("wp", "write", "load", "system")
        and "=" not in " ".join(command.texts)
    ):
        return None
    return ask("settings", "it changes a setting of the whole system") if command.args else None


def _network_settings(command: Command, run: Run) -> Finding | None:
    text = " ".join(command.low)
    if re.search(
        (
            r"\b(up|down|add|del|delete|flush|set|replace|change|up|disconnect|connect|off|modify|netns|promisc|"
            r"hw|mtu|-s|-d|append)\b|(^|\s)-[sdf]\b"
        ),
        text,
    ):
        return ask("network", "it changes the network")
    if command.name in ("ifconfig", "iwconfig") and len(command.operands()) > 1:
        return ask("network", "it changes the network")
    return None


def _firewall(command: Command, run: Run) -> Finding | None:
    text = " ".join(command.low)
    if not command.args or re.fullmatch(
        (
            r"(-t \w+ )?-(l|s|nl|vnl|lnv|vl|ln|l -n|l -v|l -n -v|v -l)|status( verbose| numbered)?|--(list|state|"
            r"get)\S*|list( ruleset| tables)?|show.*"
        ),
        text,
    ):
        return None
    if re.search(r"(^|\s)-[fx]\b|disable|flush|reset|--panic|policy.*accept|-p \w+ accept", text):
        return refuse("firewall", "it would take down the firewall")
    return ask("firewall", "it changes the firewall")


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(
        words("""sysctl date hostname domainname dmesg ulimit umask xset stty setxkbmap hwclock swapon"""), _settings
    ),
    **dict.fromkeys(words("""ip ifconfig route arp iwconfig ethtool tc brctl"""), _network_settings),
    **dict.fromkeys(
        words(
            """iptables ip6tables nft ufw firewall-cmd iptables-restore ebtables pfctl ipset iptables-legacy csf
            fail2ban-client"""
        ),
        _firewall,
    ),
}
