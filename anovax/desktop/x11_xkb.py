"""The XKB requests that python-xlib lacks, in its own request language (XKB protocol 1.0, section 16)."""

from __future__ import annotations

from typing import Any

_CORE_KEYBOARD = 0x100
_TYPES, _SYMBOLS, _MODIFIER_MAP = 1, 2, 4
LOCK_BIT = 2
_NEW_KEYBOARD, _MAP_CHANGED = 1, 2


class Xkb:
    """``GetMap(display, opcode).data`` and ``LatchLock(display, opcode, lock_mods, group)``; ``opcode`` is the
    extension's.

    A client that uses XKB gets its events (``event`` is their code) instead of the core MappingNotify; only those
    that say that the keymap has changed are selected."""

    def __init__(self, display: Any) -> None:
        from Xlib.protocol import rq

        found = display.query_extension("XKEYBOARD")
        self.opcode, self.event = int(found.major_opcode), int(found.first_event)
        head = (rq.Card8("opcode"),)
        tail = (rq.RequestLength(), rq.Card16("device"))

        class UseExtension(rq.ReplyRequest):  # type: ignore[misc]
            _request = rq.Struct(*head, rq.Opcode(0), rq.RequestLength(), rq.Card16("major"), rq.Card16("minor"))
            _reply = rq.Struct(
                rq.ReplyCode(), rq.Card8("supported"), rq.Card16("sequence_number"), rq.ReplyLength(), rq.Pad(24)
            )

        class GetMap(rq.ReplyRequest):  # type: ignore[misc]
            _request = rq.Struct(*head, rq.Opcode(8), *tail, rq.Card16("full"), rq.Pad(20))
            _reply = rq.Struct(
                rq.ReplyCode(),
                rq.Pad(1),
                rq.Card16("sequence_number"),
                rq.ReplyLength(),
                rq.List("data", rq.Card8Obj, pad=0),
            )

            def __init__(self, display: Any, opcode: int) -> None:
                full = _TYPES | _SYMBOLS | _MODIFIER_MAP
                super().__init__(display=display, opcode=opcode, device=_CORE_KEYBOARD, full=full)

        class LatchLock(rq.Request):  # type: ignore[misc]
            _request = rq.Struct(
                *head, rq.Opcode(5), *tail,
                rq.Card8("affect_locks"), rq.Card8("locks"), rq.Card8("lock_group"), rq.Card8("group"), rq.Pad(6),
            )  # fmt: skip

            def __init__(self, display: Any, opcode: int, locks: int, group: int) -> None:
                super().__init__(
                    display=display,
                    opcode=opcode,
                    device=_CORE_KEYBOARD,
                    affect_locks=LOCK_BIT,
                    locks=locks,
                    lock_group=1,
                    group=group,
                )

        class SetMap(rq.Request):  # type: ignore[misc]
            _request = rq.Struct(
                *head,
                rq.Opcode(9),
                *tail,
                rq.Card16("present"),
                rq.Pad(2),
                rq.Card8("low"),
                rq.Card8("high"),
                rq.Pad(2),
                rq.Card8("first"),
                rq.Card8("count"),
                rq.Card16("total"),
                rq.Pad(18),
                rq.Binary("data"),
            )

            def __init__(
                self, display: Any, opcode: int, bounds: tuple[int, int], first: int, keys: list[bytes]
            ) -> None:
                total = sum((len(key) - 8) // 4 for key in keys)
                super().__init__(
                    display=display,
                    opcode=opcode,
                    device=_CORE_KEYBOARD,
                    present=_SYMBOLS,
                    low=bounds[0],
                    high=bounds[1],
                    first=first,
                    count=len(keys),
                    total=total,
                    data=b"".join(keys),
                )

        class SelectEvents(rq.Request):  # type: ignore[misc]
            _request = rq.Struct(
                *head, rq.Opcode(1), *tail,
                rq.Card16("affect"), rq.Card16("clear"), rq.Card16("select_all"), rq.Card16("affect_map"),
                rq.Card16("map"),
            )  # fmt: skip

        self.GetMap, self.LatchLock, self.SetMap = GetMap, LatchLock, SetMap
        UseExtension(display=display.display, opcode=self.opcode, major=1, minor=0)
        both = _NEW_KEYBOARD | _MAP_CHANGED
        SelectEvents(
            display=display.display, opcode=self.opcode, device=_CORE_KEYBOARD, affect=both, clear=0, select_all=both,
            affect_map=0xFF, map=0xFF,
        )  # fmt: skip
