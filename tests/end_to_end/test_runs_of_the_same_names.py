"""Two runs that save under the same names: whose file is it?"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from run_helper import FINISHES, at_least_step, make_run, status, wait_until

from gui.engine.runs.folder import RunFolder
from gui.engine.runs.processes import tree_of
from gui.engine.runs.records import CommandRecord, Manifest, mark_of
from gui.engine.runs.session import look_after
from gui.engine.runs.start import start_supervisor

pytestmark = pytest.mark.usefixtures("no_leftovers")


def ended_unseen(tmp_path: Path) -> RunFolder:
    """Return a run whose training ended well after its supervisor was killed."""
    run, order = make_run(tmp_path, FINISHES.replace("sleep(0.05)", "sleep(0.3)"))
    start_supervisor(run, order)
    wait_until(lambda: at_least_step(run, 1))
    pid = status(run).supervisor_pid
    assert pid is not None
    os.kill(pid, signal.SIGTERM if os.name == "nt" else signal.SIGKILL)
    wait_until(lambda: not tree_of(run.path).alive())
    return run


def run_again(run: RunFolder) -> Path:
    """Make a later run of the same plan, which has written the last file anew; return that."""
    final = CommandRecord.read(run.command).expected_final
    assert final is not None
    mark = mark_of(final)
    assert mark is not None
    later = RunFolder(run.path.with_name("20261130-020304-a run"))
    later.path.mkdir()
    CommandRecord.read(run.command).write(later.command)
    Manifest(program="test", existing=(mark,)).write(later.manifest)
    later.events.write_bytes(b"")
    content = final.read_bytes()
    final.unlink()
    final.write_bytes(content)
    return final


def test_that_a_file_of_a_later_run_is_not_taken_for_this_ones(tmp_path: Path) -> None:
    run = ended_unseen(tmp_path)
    run_again(run)
    verdict = look_after(run, None)
    assert verdict is not None and (verdict.verdict, verdict.reason) == ("failed", "final-old")
    assert (verdict.clean, verdict.doubtful, status(run).files) == ((), (), ())
    assert "another run" in verdict.sentence


def test_that_an_untouched_file_stays_this_ones(tmp_path: Path) -> None:
    run = ended_unseen(tmp_path)
    RunFolder(run.path.with_name("20261130-020304-b")).path.mkdir()
    verdict = look_after(run, None)
    assert verdict is not None and verdict.verdict == "finished"


def test_that_a_run_that_was_never_launched_has_no_files(tmp_path: Path) -> None:
    run, _order = make_run(tmp_path, FINISHES)
    (tmp_path / "out" / "lora.safetensors").write_bytes(b"another's")
    verdict = look_after(run, None)
    assert verdict is not None and verdict.reason == "not-started"
    assert (verdict.clean, verdict.doubtful, status(run).files) == ((), (), ())
