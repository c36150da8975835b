"""Files are written whole, or stay as they were."""

from __future__ import annotations

import stat
from contextlib import suppress
from pathlib import Path

import pytest

from anovax.files import replacing, write_atomically, write_json, write_private


def test_a_block_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "kept.txt"
    write_atomically(path, "old")
    with suppress(KeyboardInterrupt), replacing(path) as temporary:
        temporary.write_text("half", "utf-8")
        raise KeyboardInterrupt
    assert path.read_text("utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("synced", [True, False])
def test_a_reader_sees_the_old_content_until_the_new_one_is_whole(tmp_path: Path, synced: bool) -> None:
    path = tmp_path / "kept.txt"
    write_atomically(path, "old")
    with replacing(path, synced=synced) as temporary:
        temporary.write_bytes(b"new")
        assert path.read_text("utf-8") == "old"
    assert path.read_text("utf-8") == "new"


def test_what_is_private_is_the_users_alone(tmp_path: Path) -> None:
    write_json(tmp_path / "folder" / "secret.json", {})
    write_private(tmp_path / "folder" / "key", b"1")
    write_atomically(tmp_path / "open", "for all")
    modes = [stat.S_IMODE(path.stat().st_mode) for path in sorted(tmp_path.rglob("*"))]
    assert modes[:3] == [0o700, 0o600, 0o600] and modes[3] & 0o600 == 0o600


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "none" / "x", "y")
