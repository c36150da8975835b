"""Proof that nothing leaves the machine: a network namespace with only loopback, and a count of attempts.

On Linux a process can give up its network (unshare(2), CLONE_NEWNET); what it starts afterwards has none either. In the
new namespace the kernel counts packets that found no way out, so the count covers child processes too. Where that is
not allowed, an audit hook counts the attempts of this process alone.
"""

from __future__ import annotations

import ctypes
import fcntl
import ipaddress
import itertools
import os
import socket
import struct
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CLONE_NEWNET = 0x40000000
CLONE_NEWUSER = 0x10000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1


@dataclass
class Attempts:
    """Addresses beyond loopback that this process tried to reach, or names that it tried to look up."""

    seen: list[str] = field(default_factory=list)

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.getaddrinfo":
            self._note(arguments[0])
        elif event in ("socket.connect", "socket.sendto", "socket.sendmsg") and isinstance(arguments[-1], tuple):
            self._note(arguments[-1][0])

    def _note(self, host: object) -> None:
        name = host.decode() if isinstance(host, bytes) else str(host)
        if name and not is_loopback(name):
            self.seen.append(name)


@dataclass(frozen=True)
class Isolation:
    """How this process is cut off. ``namespace``: it has no network but loopback; else only attempts are counted."""

    namespace: bool
    attempts: Attempts
    before: int

    def left(self) -> tuple[int, str]:
        """Attempts to leave the machine until now, and what was looked at to know."""
        if self.namespace:
            tried = max(len(self.attempts.seen), unroutable() - self.before)
            return tried, "the kernel's count of unroutable packets in a network namespace with only loopback"
        return len(self.attempts.seen), "an audit of this process's own connections"


def isolate() -> Isolation:
    """Cut this process and its children off from the network, if the system allows it, and count attempts.

    Call it while the process has one thread; a second call changes nothing but starts a new count.
    """
    attempts = Attempts()
    sys.addaudithook(attempts.hook)
    return Isolation(namespace=cut_off(), attempts=attempts, before=unroutable())


def cut_off() -> bool:
    """Leave this process, and whatever it starts, no network but loopback; False where the system does not allow it.

    Call it while the process has one thread; a second call changes nothing.
    """
    if sys.platform != "linux":
        return False
    if only_loopback():
        return True
    if not _allowed():
        return False
    _leave()
    return only_loopback()


def is_loopback(host: str) -> bool:
    if host in ("localhost", "", "0.0.0.0", "::"):
        return True
    try:
        return ipaddress.ip_address(host.split("%", maxsplit=1)[0]).is_loopback
    except ValueError:
        return False


def unroutable(version: int | None = None) -> int:
    """Packets that found no route in this namespace so far; of IPv4 and IPv6, or of one ``version``."""
    total = 0
    for number, path, key in ((4, "/proc/net/snmp", "OutNoRoutes"), (6, "/proc/net/snmp6", "Ip6OutNoRoutes")):
        if version in (None, number):
            with suppress(OSError):
                total += _counter(Path(path).read_text(encoding="ascii"), key)
    return total


def _counter(text: str, key: str) -> int:
    lines = [line.split() for line in text.splitlines()]
    for names, values in itertools.pairwise(lines):
        if names[0] == "Ip:" and key in names:
            return int(values[names.index(key)])
        if names[0] == key:
            return int(names[1])
    return 0


def _allowed() -> bool:
    """Whether the system lets a process leave its network: tried by a child, as there is no way back from half of it
    (some let a process into a user namespace and then do nothing there)."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _leave()
            code = 0 if only_loopback() else 1
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


def _leave() -> None:
    """Go into a network namespace with nothing but loopback. OSError where that is forbidden."""
    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET if user == 0 else CLONE_NEWNET | CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    if user != 0:
        _map_user(user, group)
    _loopback_up()


def only_loopback() -> bool:
    """Whether this process sees no network interface but loopback."""
    return {name for _, name in socket.if_nameindex()} <= {"lo"}


def _map_user(user: int, group: int) -> None:
    """Keep our own user and group ids inside the new user namespace (user_namespaces(7))."""
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")


def _loopback_up() -> None:
    """Switch the loopback interface on (netdevice(7)); a new namespace has it switched off."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(handle, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(handle, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))
