"""What is written down: whole lines only, nothing lost on a full disk, nothing twice after an adoption."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.errors import AlreadySupervised, CannotWrite
from gui.engine.runs import journal
from gui.engine.runs.board import Board
from gui.engine.runs.events import (
    Answered,
    DiskWarned,
    FileSeen,
    Guarded,
    Judged,
    Kept,
    Launching,
    Notice,
    Stopping,
    VerdictGiven,
    read_events,
)
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.history import read_history
from gui.engine.runs.journal import EventJournal, Lines
from gui.engine.runs.ledger import Ledger
from gui.engine.runs.lock import SupervisorLock, is_held
from gui.engine.runs.status import RunStatus, Verdict
from gui.engine.trainer.events import LossNonfinite, Step, Warned


def steps(path: Path) -> list[int]:
    return [event.step for event in read_events(path) if isinstance(event, Step)]


def test_that_lines_are_appended(tmp_path: Path) -> None:
    lines = Lines(tmp_path / "deep" / "events.jsonl")
    assert lines.flush(), "nothing to write is written"
    for n in (1, 2):
        lines.add(Step(step=n, total=9, loss=float("nan")))
        lines.flush()
    lines.close()
    assert steps(tmp_path / "deep" / "events.jsonl") == [1, 2]


def test_that_half_a_line_of_a_dead_writer_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(Step(step=1, total=9).model_dump_json().encode() + b'\n{"event": "st')
    lines = Lines(path)
    lines.add(Step(step=2, total=9))
    lines.close()
    assert steps(path) == [1, 2]
    assert b"st\n" not in path.read_bytes()


def test_that_a_file_of_one_half_line_is_emptied(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"x" * 200_000)
    lines = Lines(path)
    lines.add(Step(step=2, total=9))
    lines.close()
    assert steps(path) == [2]


def test_that_a_full_disk_delays_lines_and_cuts_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "events.jsonl"
    lines = Lines(path)
    lines.add(Step(step=1, total=9))
    assert lines.flush()
    full = True

    def write(file: Any, data: bytes) -> None:
        if full:
            file.write(data[:10])
            raise OSError(errno.ENOSPC, "No space left on device")
        file.write(data)

    monkeypatch.setattr(journal, "_write_all", write)
    for n in (2, 3):
        lines.add(Step(step=n, total=9))
        assert not lines.flush()
    assert lines.problem == "No space left on device"
    assert steps(path) == [1] and path.read_bytes().endswith(b"\n")
    full = False
    lines.close()
    assert steps(path) == [1, 2, 3] and lines.problem is None


def test_that_a_folder_that_cannot_be_written_is_no_crash(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", "utf-8")
    lines = Lines(tmp_path / "file" / "events.jsonl")
    lines.add(Step(step=1, total=9))
    assert not lines.flush()
    assert lines.problem


@given(st.lists(st.integers(1, 4), max_size=12), st.integers(0, 12))
def test_that_reading_again_writes_only_what_is_missing(numbers: list[int], written: int) -> None:
    import tempfile

    events = [Warned(message=f"w{n}") if n == 4 else Step(step=n, total=9, avr_loss=0.5) for n in numbers]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "events.jsonl")
        first = EventJournal(path)
        first.add(Notice(id="x", sentence="not the trainer's"))
        for event in events[:written]:
            first.add_read(event.model_copy(update={"t": 1.0}))
        first.close()
        second = EventJournal(path)
        second.remember_written()
        for event in events:
            second.add_read(event)
        second.forget_written()
        assert second.add_read(Step(step=99, total=100))
        second.close()
        trainers = [event for event in read_events(path) if not isinstance(event, Notice)]
        expected = [*events, Step(step=99, total=100)]
        assert [event.model_copy(update={"t": None}) for event in trainers] == expected


# --- history -------------------------------------------------------------------------------------


def test_that_history_tells_what_was_done(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    assert not read_history(path).begun
    lines = Lines(path)
    for event in (
        Launching(boot_id="b", boot_seconds=1.0),
        Step(step=1, total=2),
        Answered(number=1, request="stop-after-save", done=True, sentence=""),
        Answered(number=2, request="accept", done=True, sentence=""),
        Answered(number=3, request="stop", done=False, sentence=""),
        Guarded(action="watch", step=1, sentence=""),
        FileSeen(path="/a", kind="model", complete=True, size=1),
        Judged(path="/a", judgement="clean", sentence=""),
        Kept(path="/a", kept_as="/b", how="link"),
        Notice(id="n", sentence=""),
        LossNonfinite(step=1, source="tracker"),
        DiskWarned(path="/d", free_bytes=5, sentence=""),
        DiskWarned(path="/e", free_bytes=0, full=True, sentence=""),
        Stopping(stage="announced", reason="after-save", sentence=""),
        VerdictGiven(verdict="stopped", sentence=""),
    ):
        lines.add(event)
    lines.close()
    history = read_history(path)
    assert history.begun and history.launching and history.accepted and history.verdict
    assert (history.answered, history.stop, history.disk_full) == ({1, 2, 3}, "after-save", "/e")
    assert history.after_save == frozenset() and history.complete == {Path("/a")}
    assert len(history.said) == 6


# --- the ledger ----------------------------------------------------------------------------------


def test_that_status_is_written_at_most_four_times_a_second(tmp_path: Path) -> None:
    ledger = Ledger(RunFolder(tmp_path), Board("r"))
    ledger.flush()
    ledger.board.put(step=1)
    ledger.flush()
    assert RunStatus.read(tmp_path / "status.json").step is None
    ledger.flush(at_once=True)
    assert RunStatus.read(tmp_path / "status.json").step == 1


def test_that_times_count_from_the_trainers_start_whatever_the_clock_on_the_wall_says(tmp_path: Path) -> None:
    now = [100.0]
    ledger = Ledger(RunFolder(tmp_path), Board("r"), clock=lambda: now[0])
    assert ledger.t() is None
    ledger.started = 90.0
    assert ledger.t() == 10.0
    now[0] = 130.0
    assert ledger.status().elapsed_seconds == 40.0
    ledger.ended = 110.0
    assert ledger.status().elapsed_seconds == 20.0


def test_that_the_same_is_not_said_twice(tmp_path: Path) -> None:
    ledger = Ledger(RunFolder(tmp_path), Board("r"))
    for _ in range(3):
        ledger.notice("gpu", "no GPU")
        ledger.say_once(Judged(path="/a", judgement="clean", sentence=""))
    ledger.close()
    assert len(list(read_events(tmp_path / "events.jsonl"))) == 2


def test_that_the_verdict_finds_room_in_the_reserve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = RunFolder(tmp_path)
    ledger = Ledger(run, Board("r"))
    ledger.keep_reserve()
    real = RunStatus.write

    def write(self: RunStatus, path: Path, *, durable: bool = True) -> None:
        if run.reserve.exists():
            raise CannotWrite(path, "No space left on device")
        real(self, path, durable=durable)

    monkeypatch.setattr(RunStatus, "write", write)
    ledger.board.end(Verdict(verdict="failed", reason="disk-full"))
    ledger.flush(at_once=True)
    assert ledger.problem == "No space left on device"
    ledger.close()
    assert RunStatus.read(run.status).verdict is not None
    assert ledger.problem is None and not run.reserve.exists()


# --- the lock ------------------------------------------------------------------------------------


def test_that_the_lock_is_for_one(tmp_path: Path) -> None:
    path = tmp_path / "supervisor.lock"
    assert not is_held(path)
    with SupervisorLock(path):
        assert is_held(path)
        with pytest.raises(AlreadySupervised) as refused:
            SupervisorLock(path).take()
        assert refused.value.pid == os.getpid()
        assert str(os.getpid()) in str(refused.value)
    assert not is_held(path)


def test_that_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "supervisor.lock"
    source = (
        "import sys, time; from pathlib import Path; from gui.engine.runs.lock import SupervisorLock\n"
        "lock = SupervisorLock(Path(sys.argv[1])); lock.take(); print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", source, str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline().strip() == b"held"
        assert is_held(path)
        process.kill()
    assert not is_held(path)
    with SupervisorLock(path):
        assert is_held(path)


def test_that_a_lock_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite):
        SupervisorLock(tmp_path / "no such folder" / "supervisor.lock").take()


def test_that_an_unreadable_holder_is_no_crash(tmp_path: Path) -> None:
    path = tmp_path / "supervisor.lock"
    lock = SupervisorLock(path)
    lock.take()
    path.write_text("who?", "utf-8")
    with pytest.raises(AlreadySupervised) as refused:
        SupervisorLock(path).take(0.1)
    assert refused.value.pid is None
    lock.release()
    lock.release()


def test_that_events_of_a_newer_version_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(
        json.dumps({"event": "hologram", "t": 1}) + "\n" + Step(step=1, total=2).model_dump_json() + "\n",
        "utf-8",
    )
    assert steps(path) == [1]
    assert list(read_events(tmp_path / "nothing.jsonl")) == []
