"""Which addresses and names this computer has on the LAN, and who may talk to it."""

from __future__ import annotations

import ipaddress
import socket

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


def is_near(address: str) -> bool:
    """True for loopback, private and link-local addresses: the companion answers nobody else."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    shared = ip.version == 4 and ip in ipaddress.ip_network("100.64.0.0/10")
    return ip.is_loopback or ip.is_link_local or ip.is_private or shared


def lan_addresses() -> tuple[str, ...]:
    """IPv4 addresses of interfaces that are up, loopback and public ones left out, best guess first."""
    import psutil

    up = {name for name, stats in psutil.net_if_stats().items() if stats.isup}
    found = [
        entry.address
        for name, entries in psutil.net_if_addrs().items()
        if name in up
        for entry in entries
        if entry.family == socket.AF_INET and is_near(entry.address) and not entry.address.startswith("127.")
    ]
    default = _address_of_default_route()
    return tuple(sorted(set(found), key=lambda address: (address != default, address)))


def _address_of_default_route() -> str:
    """The address that a packet to the outside would carry; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return ""


def local_name() -> str:
    """This computer's mDNS name, such as ``mylaptop.local``."""
    host = socket.gethostname().split(".")[0].lower()
    safe = "".join(char if char.isascii() and (char.isalnum() or char == "-") else "-" for char in host).strip("-")
    return f"{safe or 'anovax'}.local"


def host_names(lan: bool) -> tuple[str, ...]:
    """Every name under which a browser may reach this server, as it stands in a Host header without the port."""
    return (*LOOPBACK_NAMES, *((*lan_addresses(), local_name()) if lan else ()))
