"""Parts of the supervisor on their own, where a whole run would not reach every corner."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from run_helper import make_run, wait_until

from gui.engine.errors import CannotWrite
from gui.engine.runs import journal
from gui.engine.runs.adoption import find_trainer
from gui.engine.runs.board import Board
from gui.engine.runs.counting import Counting
from gui.engine.runs.desk import RequestDesk
from gui.engine.runs.events import Answered, Notice, read_events
from gui.engine.runs.finishing import _read_exit
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.history import History
from gui.engine.runs.inspector import Inspector
from gui.engine.runs.journal import EventJournal, Lines
from gui.engine.runs.keeper import CleanKeeper, KeptFile
from gui.engine.runs.launched import launched_settings
from gui.engine.runs.ledger import Ledger
from gui.engine.runs.leftovers import Leftovers
from gui.engine.runs.lock import SupervisorLock, is_held
from gui.engine.runs.process_tree import StopReport, StopSteps
from gui.engine.runs.requests import ask
from gui.engine.runs.savedesk import SaveDesk
from gui.engine.runs.status import FileNow
from gui.engine.runs.stopping import Stopper
from gui.engine.runs.wishes import Wishes
from gui.engine.trainer.events import Saved, Step
from gui.engine.trainer.tensors import TensorReport

GIB = 1 << 30


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    made = Ledger(RunFolder(tmp_path), Board("r"))
    yield made
    made.close()


def said(tmp_path: Path, ledger: Ledger, kind: type[Any]) -> list[Any]:
    ledger.flush()
    return [event for event in read_events(tmp_path / "events.jsonl") if isinstance(event, kind)]


# --- files ---------------------------------------------------------------------------------------


def test_that_many_lines_do_not_wait(tmp_path: Path) -> None:
    lines = Lines(tmp_path / "events.jsonl")
    for n in range(1001):
        lines.add(Step(step=n + 1, total=9999))
    assert len(list(read_events(tmp_path / "events.jsonl"))) == 1000
    lines.close()


def test_that_a_disk_that_fails_in_every_way_is_no_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_args: object) -> int:
        raise OSError(5, "Input/output error")

    lines = Lines(tmp_path / "events.jsonl")
    lines.add(Step(step=1, total=2))
    with monkeypatch.context() as patch:
        patch.setattr(journal, "_end_of_last_line", fails)
        assert not lines.flush()
    assert lines.flush()
    lines.add(Step(step=2, total=2))

    class Gone:
        def write(self, _data: bytes) -> int:
            raise OSError(5, "Input/output error")

        truncate = seek = write

        def close(self) -> None:
            pass

    real, lines._file = lines._file, Gone()  # type: ignore[assignment]
    assert not lines.flush() and lines._file is None
    assert real is not None
    real.close()
    lines.close()
    assert [event.step for event in read_events(tmp_path / "events.jsonl")] == [1, 2]  # type: ignore[union-attr]


def test_that_a_new_journal_remembers_nothing(tmp_path: Path) -> None:
    new = EventJournal(tmp_path / "events.jsonl")
    new.remember_written()
    assert new.add_read(Step(step=1, total=2))
    new.close()


def test_that_a_lock_that_cannot_be_looked_at_counts_as_held(tmp_path: Path) -> None:
    (tmp_path / "supervisor.lock").mkdir()
    assert is_held(tmp_path / "supervisor.lock")


def test_that_a_lock_is_taken_when_whoever_looked_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "supervisor.lock"
    looking = SupervisorLock(path)
    looking.take()
    import threading

    threading.Timer(0.2, looking.release).start()
    lock = SupervisorLock(path)
    lock.take(patience_seconds=10)
    lock.release()


# --- requests and wishes -------------------------------------------------------------------------


def test_that_what_is_left_is_refused_at_the_end(tmp_path: Path, ledger: Ledger) -> None:
    ask(RunFolder(tmp_path), "pause", "test")
    ask(RunFolder(tmp_path), "stop", "test")
    desk = RequestDesk(RunFolder(tmp_path), ledger, {1}, {})
    desk.refuse_all("over")
    assert [(a.number, a.done, a.sentence) for a in said(tmp_path, ledger, Answered)] == [(2, False, "over")]


class Watch:
    def accept(self) -> bool:
        return False


class Saves:
    def __init__(self) -> None:
        self.complete: dict[str, set[Path]] = {"model": set(), "state": set()}


class Obeys:
    """A tree that does what is asked, or not."""

    def __init__(
        self, others: tuple[int, ...] = (), survivors: tuple[int, ...] = (), processes: int = 3
    ) -> None:
        self.others, self.survivors, self.is_paused = others, survivors, False
        self.stops = self.resumes = 0
        self.processes = processes

    def paused(self) -> bool:
        return self.is_paused

    def pause(self) -> Any:
        return self

    def resume(self) -> None:
        self.resumes += 1

    def alive(self) -> bool:
        return self.processes > 0

    def stop(self, steps: StopSteps | None = None, meanwhile: Any = None) -> StopReport:
        self.stops += 1
        return StopReport(seconds=1, steps=(), survivors=self.survivors)


def test_that_wishes_that_make_no_sense_are_refused(ledger: Ledger) -> None:
    wishes = Wishes(ledger, Watch(), Saves(), save_state=False)  # type: ignore[arg-type]
    acts = wishes.acts()
    assert [acts[kind]()[0] for kind in ("pause", "resume", "accept")] == [False, False, False]
    assert acts["stop"]()[0] and acts["stop"]()[0]
    assert not acts["stop-after-save"]()[0] and not acts["pause"]()[0]
    wanted = wishes.take_wanted()
    assert wanted is not None and wanted.reason == "user"
    assert wishes.take_wanted() is None
    wishes.want_stop("guard")
    assert wishes.take_wanted() is None, "what is being stopped is not stopped again by itself"
    assert acts["stop"]()[0] and wishes.take_wanted() is not None, "but a user may insist"


def test_that_a_pause_that_fails_is_told(ledger: Ledger) -> None:
    wishes = Wishes(ledger, Watch(), Saves(), save_state=False)  # type: ignore[arg-type]
    tree = Obeys(others=(7,))
    wishes.tree = tree  # type: ignore[assignment]
    done, sentence = wishes.acts()["pause"]()
    assert not done and "Not all" in sentence
    assert tree.resumes == 1, "half a pause is undone"


def test_that_nothing_is_claimed_of_a_training_that_has_just_ended(ledger: Ledger) -> None:
    wishes = Wishes(ledger, Watch(), Saves(), save_state=False)  # type: ignore[arg-type]
    wishes.tree = Obeys(processes=0)  # type: ignore[assignment]
    assert wishes.acts()["pause"]() == (False, "There is nothing to pause now.")
    done, sentence = wishes.acts()["stop"]()
    assert done and "Nothing of the training is running" in sentence
    assert wishes.take_wanted() is None


def test_that_a_paused_training_says_that_it_will_save_nothing(ledger: Ledger) -> None:
    wishes = Wishes(ledger, Watch(), Saves(), save_state=False)  # type: ignore[arg-type]
    tree = Obeys()
    tree.is_paused = True
    wishes.tree = tree  # type: ignore[assignment]
    done, sentence = wishes.acts()["stop-after-save"]()
    assert done and "paused" in sentence


def test_that_processes_that_do_not_die_are_named(tmp_path: Path, ledger: Ledger) -> None:
    tree = Obeys(survivors=(4711,))
    Stopper(ledger, tree, lambda: None, lambda: None).stop("user", 0.0)  # type: ignore[arg-type]
    (notice,) = said(tmp_path, ledger, Notice)
    assert "4711" in notice.sentence


def test_that_damaged_notes_of_the_launcher_are_no_crash(tmp_path: Path, ledger: Ledger) -> None:
    run = RunFolder(tmp_path)
    run.exit.write_text("{", "utf-8")
    run.launcher.write_text("[]", "utf-8")
    assert _read_exit(run) is None
    leftovers = Leftovers(run, ledger, wrapped=True)
    assert leftovers._signal_of_wrapper() is None
    assert "died" in find_trainer(run, History(launching=True)).not_started


def test_that_a_launcher_that_could_start_nothing_is_believed(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    run.exit.write_text(
        '{"schema": 1, "status": null, "started_boottime": 1, "ended_boottime": 2, "ended": 3, '
        '"boot_id": "b", "reason": "not-found", "error": "no such file"}',
        "utf-8",
    )
    assert "no such file" in find_trainer(run, History(launching=True)).not_started


# --- what is saved -------------------------------------------------------------------------------


class Full(CleanKeeper):
    def hold(self, path: Path) -> None:
        raise CannotWrite(path, "no room")


def test_that_a_file_that_cannot_be_kept_is_told(tmp_path: Path) -> None:
    path = tmp_path / "lora.safetensors"
    path.write_bytes(b"x")
    inspector = Inspector(Full(tmp_path / "kept"))
    inspector.read(path)
    wait_until(lambda: inspector.collect() or not inspector.busy)
    assert inspector.problem is not None and "no room" in inspector.problem
    inspector.close()


class Tidied(CleanKeeper):
    """Lets the trainer remove a file as soon as it is held."""

    def hold(self, path: Path) -> KeptFile | None:
        held = super().hold(path)
        path.unlink(missing_ok=True)
        return held


def test_that_a_held_file_is_looked_into_though_the_trainer_has_removed_it(tmp_path: Path) -> None:
    from acting import weights

    path = tmp_path / "lora.safetensors"
    path.write_bytes(weights())
    inspector = Inspector(Tidied(tmp_path / "kept"))
    inspector.read(path)
    found: list[tuple[Path, TensorReport]] = []
    wait_until(lambda: found.extend(inspector.collect()) or not inspector.busy)
    ((read, report),) = found
    assert (read, report.path, report.finite) == (path, str(path), True)
    inspector.consider(path, "clean")
    wait_until(lambda: not inspector.collect() and not inspector.busy)
    assert inspector.kept[path].judgement == "clean" and inspector.kept[path].kept.exists()
    inspector.close()


def test_that_a_file_that_is_gone_has_no_report(tmp_path: Path) -> None:
    inspector = Inspector(None)
    inspector.read(tmp_path / "gone.safetensors")
    wait_until(lambda: not inspector.collect() and not inspector.busy)
    inspector.consider(tmp_path / "gone.safetensors", "clean")
    inspector.release()
    assert not inspector.busy
    inspector.close()


def test_that_a_save_is_in_progress_until_all_of_it_is_there(tmp_path: Path) -> None:
    from acting import weights

    from gui.engine.runs.records import CommandRecord, Manifest, mark_of

    run, _order = make_run(tmp_path, "")
    old = tmp_path / "out" / "lora.safetensors"
    old.write_bytes(weights())
    before = mark_of(old)
    assert before is not None
    command = CommandRecord.read(run.command)
    ledger = Ledger(run, Board("r"))
    counting = Counting(ledger, launched_settings(run), None)
    manifest = Manifest(program="1", existing=(before,))
    desk = SaveDesk(ledger, command, manifest, Inspector(None), counting)
    assert desk.in_progress(None) is None
    assert desk.in_progress(Saved(path="x.png", kind="sample")) is None
    announced = Saved(path=str(old), kind="model")
    assert desk.in_progress(announced) == "lora.safetensors", "the old file is still there"
    old.write_bytes(weights()[:-5])
    assert desk.in_progress(announced) == "lora.safetensors"
    old.unlink()
    old.write_bytes(weights(0.5))
    assert desk.in_progress(announced) is None
    assert desk.report(old).finite
    desk.close()


def test_that_the_list_of_notices_has_an_end() -> None:
    board = Board("r")
    assert [board.notice(str(n), "x") for n in range(60)].count(True) == 50
    assert not board.notice("1", "x") and board.notice("1", "y")


def test_that_clean_files_are_told_of_though_hundreds_were_saved_after_them() -> None:
    board = Board("r")
    for step in range(1, 2001):
        judged = "clean" if step <= 100 else "after-nonfinite"
        path = Path(f"/out/m-step{step:08d}.safetensors")
        board.file(FileNow(path=path, kind="model", complete=True, size=1, step=step, judgement=judged))
    told = board.status(guard=None, elapsed_seconds=None).files
    assert [file.step for file in told if file.judgement == "clean"] == list(range(81, 101))
    assert [file.step for file in told[20:]] == list(range(1801, 2001))
