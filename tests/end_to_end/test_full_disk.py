"""A disk that really fills: a small file system of its own, where this user may mount one."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from run_helper import FINISHES, make_run, of_kind, status

from gui.engine.errors import CannotWrite
from gui.engine.runs.events import DiskWarned
from gui.engine.runs.ledger import RESERVE_BYTES
from gui.engine.runs.processes import tree_of
from gui.engine.runs.requests import ask, read_requests
from gui.engine.runs.session import look_after
from gui.engine.trainer.events import Step

pytestmark = pytest.mark.usefixtures("no_leftovers")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a file system of four mebibytes."""
    folder = tmp_path / "small disk"
    folder.mkdir()
    mount = shutil.which("mount")
    command = [str(mount), "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount a file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


FLOODS = """
header(2000)
for n in range(1, 2001):
    step(n, 2000, 0.5)
    say("x" * 20_000)
    sleep(0.005)
"""


def test_that_a_log_disk_that_fills_is_the_verdict_and_nothing_is_lost(small_disk: Path) -> None:
    run, order = make_run(small_disk, FLOODS)
    verdict = look_after(run, order)
    assert verdict is not None
    assert (verdict.verdict, verdict.reason) == ("failed", "disk-full")
    assert str(run.path) in verdict.sentence
    assert status(run).verdict == verdict, "the verdict has found room"
    assert not tree_of(run.path).alive()
    numbers = [event.step for event in of_kind(run, Step)]
    assert numbers == list(range(1, numbers[-1] + 1)) and len(numbers) > 50
    assert any(event.full for event in of_kind(run, DiskWarned))


def test_that_a_save_that_found_no_room_is_not_taken_for_a_result(small_disk: Path, tmp_path: Path) -> None:
    source = """
    header(2); step(1, 2, .5); step(2, 2, .5)
    announce(f"{out}/lora.safetensors")
    data = weights(size=500_000)
    with open(f"{out}/lora.safetensors", "wb", buffering=0) as file:
        view = memoryview(data)
        while view: view = view[file.write(view):]
    saved()
    """
    run, order = make_run(tmp_path / "elsewhere", source, output_dir=small_disk)
    verdict = look_after(run, order)
    assert verdict is not None
    assert (verdict.verdict, verdict.reason, verdict.clean) == ("failed", "disk-full", ())
    assert verdict.doubtful == (small_disk / "lora.safetensors",)
    assert str(small_disk) in verdict.sentence


def test_that_a_run_on_a_small_but_sufficient_disk_is_fine(small_disk: Path) -> None:
    run, order = make_run(small_disk, FINISHES)
    verdict = look_after(run, order)
    assert verdict is not None and verdict.verdict == "finished"
    assert of_kind(run, DiskWarned)


def test_that_a_run_on_a_full_disk_can_be_told_to_stop(small_disk: Path) -> None:
    run, _order = make_run(small_disk, FINISHES)
    run.reserve.write_bytes(bytes(RESERVE_BYTES))
    with contextlib.suppress(OSError), (small_disk / "fill").open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
    assert ask(run, "stop", "test") == 1
    (found,) = read_requests(run, set())
    assert found.request is not None and found.request.request == "stop"
    with contextlib.suppress(OSError), (small_disk / "more").open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
    with pytest.raises(CannotWrite):
        ask(run, "stop", "test")
    assert [path.name for path in run.requests.iterdir()] == ["1.json"], "half a request is none"
