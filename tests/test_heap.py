"""What is free in the process goes back to the system."""

from __future__ import annotations

import platform

import psutil
import pytest

from anovax.heap import give_back

PIECE, MANY = 100_000, 500  # below what glibc maps by itself


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps what is free")
def test_what_is_free_between_what_is_used_goes_back() -> None:
    pieces = [bytearray(b"x" * PIECE) for _ in range(MANY)]
    kept = pieces[::200]
    pieces.clear()
    give_back()
    before = psutil.Process().memory_info().rss
    pieces = [bytearray(b"x" * PIECE) for _ in range(MANY)]
    last = pieces[-1]
    pieces.clear()
    give_back()
    assert psutil.Process().memory_info().rss < before + PIECE * MANY / 10
    assert len(last) == len(kept[0])
