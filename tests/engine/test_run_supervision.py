"""A supervisor and a real child process: launch, guard, stop, pause, verdict. In this process, for speed."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from run_helper import FINISHES, GOES_ON, ended, make_run, of_kind, status, wait_until

from gui.engine.errors import AlreadySupervised
from gui.engine.runs.events import (
    Answered,
    DiskWarned,
    FileSeen,
    Guarded,
    Judged,
    Kept,
    Notice,
    Paused,
    Resumed,
    Stopping,
)
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.metrics import HostRow, StepRow, read_metrics
from gui.engine.runs.processes import read_launched, tree_of
from gui.engine.runs.records import LaunchOrder
from gui.engine.runs.requests import ask
from gui.engine.runs.session import look_after
from gui.engine.runs.status import Verdict
from gui.engine.trainer.events import Exit, LossNonfinite, Step

pytestmark = pytest.mark.usefixtures("no_leftovers")


class Supervision(threading.Thread):
    """A supervisor in a thread, so that the test can act meanwhile."""

    def __init__(self, run: RunFolder, order: LaunchOrder | None, **options: Any) -> None:
        super().__init__(daemon=True)
        self.run_folder, self.order, self.options = run, order, options
        self.verdict: Verdict | None = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.verdict = look_after(self.run_folder, self.order, **self.options)
        except BaseException as error:  # noqa: BLE001 - raised again in the test
            self.error = error

    def result(self) -> Verdict:
        self.join(60)
        assert not self.is_alive()
        if self.error is not None:
            raise self.error
        assert self.verdict is not None
        return self.verdict


@contextmanager
def supervised(run: RunFolder, order: LaunchOrder | None, **options: Any) -> Iterator[Supervision]:
    thread = Supervision(run, order, **options)
    thread.start()
    try:
        yield thread
    finally:
        tree_of(run.path).stop()
        thread.join(30)


def at_step(run: RunFolder, number: int) -> Callable[[], bool]:
    return lambda: (status(run).step or 0) >= number


def test_that_a_good_training_ends_finished(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, FINISHES)
    verdict = look_after(run, order)
    assert verdict is not None
    assert (verdict.verdict, verdict.step, verdict.total, verdict.exit_status) == ("finished", 5, 5, 0)
    assert verdict.weights == "finite"
    assert verdict.clean == (tmp_path / "out" / "lora.safetensors",)
    assert [event.step for event in of_kind(run, Step)] == [1, 2, 3, 4, 5]
    assert status(run).verdict == verdict
    assert not run.reserve.exists()
    assert [row.step for row in read_metrics(run.metrics) if isinstance(row, StepRow)] == [1, 2, 3, 4, 5]
    assert any(isinstance(row, HostRow) and row.tree_rss_bytes > 0 for row in read_metrics(run.metrics))


def test_that_a_judged_run_is_left_alone(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, FINISHES)
    look_after(run, order)
    before = run.events.read_bytes()
    assert look_after(run, None) is None
    assert run.events.read_bytes() == before


def test_that_nan_is_stopped_with_workers_and_all(tmp_path: Path) -> None:
    run, order = make_run(
        tmp_path,
        """
        header(100)
        worker(); worker(own_session=True)
        for n in range(1, 101):
            if n == 1: save(f"{out}/lora-step00000001.safetensors")
            step(n, 100, 0.5 if n < 4 else float("nan"))
            sleep(0.1)
        """,
    )
    verdict = look_after(run, order)
    assert verdict is not None
    assert (verdict.verdict, verdict.reason, verdict.first_nonfinite_step) == ("stopped", "guard", 4)
    assert not tree_of(run.path).alive()
    assert [event.action for event in of_kind(run, Guarded)] == ["stop"]
    stages = [event.stage for event in of_kind(run, Stopping)]
    assert stages == ["announced", "asked", "gone"]
    assert verdict.clean == (tmp_path / "out" / "lora-step00000001.safetensors",)
    assert "lora-step00000001" in verdict.sentence
    assert verdict.loss == 0.5


def test_that_the_nan_is_written_down_before_what_it_causes(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, "header(9)\nstep(1, 9, float('nan'))\nsleep(60)")
    look_after(run, order)
    kinds = [type(event) for event in of_kind(run, (LossNonfinite, Guarded, Stopping, Exit))]
    assert kinds[:3] == [LossNonfinite, Guarded, Stopping]
    assert kinds[-1] is Exit


def test_that_a_process_deaf_to_the_wish_is_ended_by_force(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, "ignore_stop()\nheader(9)\nstep(1, 9, float('nan'))\nsleep(60)")
    verdict = look_after(run, order)
    assert verdict is not None and verdict.verdict == "stopped"
    assert [event.stage for event in of_kind(run, Stopping)] == ["announced", "asked", "killed", "gone"]


def test_that_warn_lets_it_run_and_calls_the_result_suspect(tmp_path: Path) -> None:
    source = """
    header(3)
    for n in (1, 2, 3): step(n, 3, float("nan")); sleep(0.02)
    save(f"{out}/lora.safetensors", float("nan")); saved()
    """
    run, order = make_run(tmp_path, source, guard="warn")
    verdict = look_after(run, order)
    assert verdict is not None
    assert (verdict.verdict, verdict.reason, verdict.weights) == ("suspect", "weights-nonfinite", "nonfinite")
    assert [event.action for event in of_kind(run, Guarded)] == ["warn"]
    assert [event.judgement for event in of_kind(run, Judged)] == ["nonfinite"]
    assert verdict.clean == ()
    assert verdict.causes[0].id == "loss-nonfinite"


def test_that_confirm_forgives_single_steps_by_the_steps_own_loss(tmp_path: Path) -> None:
    source = """
    tracker = Tracker(log); sleep(1.2)
    header(6)
    for n in range(1, 7):
        step(n, 6, 0.5 if n < 3 else float("nan"))
        tracker.loss(n, float("nan") if n == 3 else 0.25)
        sleep(0.15)
    save(f"{out}/lora.safetensors"); saved()
    """
    run, order = make_run(tmp_path, source, guard="confirm", tracker=True, logging_dir=tmp_path / "tracker")
    verdict = look_after(run, order)
    assert verdict is not None
    assert verdict.verdict == "finished", verdict
    assert [event.action for event in of_kind(run, Guarded)] == ["watch", "recovered"]
    losses = {event.step: event.loss for event in of_kind(run, Step)}
    assert losses[6] == 0.25 and math.isnan(losses[3])
    rows = [row for row in read_metrics(run.metrics) if isinstance(row, StepRow)]
    assert rows[-1].lr["unet"] == pytest.approx(1e-4)


def test_that_confirm_stops_what_stays_broken(tmp_path: Path) -> None:
    source = """
    tracker = Tracker(log)
    header(60)
    for n in range(1, 61):
        step(n, 60, 0.5 if n < 3 else float("nan"))
        tracker.loss(n, float("nan") if n >= 3 else 0.25)
        sleep(0.1)
    """
    run, order = make_run(tmp_path, source, guard="confirm", tracker=True, logging_dir=tmp_path / "tracker")
    verdict = look_after(run, order)
    assert verdict is not None
    assert (verdict.verdict, verdict.reason) == ("stopped", "guard")
    assert [event.action for event in of_kind(run, Guarded)] == ["watch", "stop"]
    assert verdict.step is not None and verdict.step < 12


def test_that_confirm_without_a_tracker_acts_as_stop_and_says_why(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, "header(9)\nstep(1, 9, float('nan'))\nsleep(60)", guard="confirm")
    verdict = look_after(run, order)
    assert verdict is not None and verdict.reason == "guard"
    guard = status(run).guard
    assert guard is not None and (guard.policy, guard.acts_as) == ("confirm", "stop")
    assert any("tracker" in notice.sentence for notice in of_kind(run, Notice))


def test_that_confirm_does_not_wait_for_a_tracker_that_is_silent(tmp_path: Path) -> None:
    source = """
    header(600)
    for n in range(1, 601): step(n, 600, float("nan")); sleep(0.1)
    """
    run, order = make_run(tmp_path, source, guard="confirm", tracker=True, logging_dir=tmp_path / "tracker")
    verdict = look_after(run, order)
    assert verdict is not None and verdict.reason == "guard"
    assert [event.action for event in of_kind(run, Guarded)] == ["watch", "stop"]


def test_that_stop_while_loading_leaves_nothing(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, "record('INFO', 'loading model'); worker(); sleep(60)")
    with supervised(run, order) as supervision:
        wait_until(lambda: status(run).phase == "loading")
        ask(run, "stop", "test")
        verdict = supervision.result()
    assert (verdict.verdict, verdict.reason, verdict.step) == ("stopped", "user", None)
    assert [event.done for event in of_kind(run, Answered)] == [True]


def test_that_a_save_in_progress_ends_before_the_stop(tmp_path: Path) -> None:
    source = """
    header(9)
    step(1, 9, 0.5)
    save(f"{out}/lora-step00000001.safetensors", seconds=1.5)
    sleep(60)
    """
    run, order = make_run(tmp_path, source)
    with supervised(run, order) as supervision:
        wait_until(lambda: status(run).phase == "saving")
        ask(run, "stop", "test")
        verdict = supervision.result()
    assert [event.stage for event in of_kind(run, Stopping)] == ["announced", "saving", "asked", "gone"]
    assert verdict.clean == (tmp_path / "out" / "lora-step00000001.safetensors",)


def test_that_a_save_that_never_ends_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gui.engine.runs.stopping.SAVE_PATIENCE_SECONDS", 0.5)
    source = """
    header(9); step(1, 9, 0.5)
    save(f"{out}/lora-step00000001.safetensors", seconds=60)
    """
    run, order = make_run(tmp_path, source)
    with supervised(run, order) as supervision:
        wait_until(lambda: status(run).phase == "saving")
        ask(run, "stop", "test")
        verdict = supervision.result()
    assert verdict.verdict == "stopped"
    assert verdict.clean == ()
    assert [event.judgement for event in of_kind(run, Judged)] == ["incomplete"]


def test_that_stop_after_save_waits_for_a_complete_file(tmp_path: Path) -> None:
    source = """
    header(900)
    for n in range(1, 901):
        step(n, 900, 0.5)
        if n % 10 == 0: save(f"{out}/lora-step{n:08d}.safetensors", seconds=0.8)
        sleep(0.05)
    """
    run, order = make_run(tmp_path, source)
    with supervised(run, order) as supervision:
        wait_until(at_step(run, 2))
        ask(run, "stop-after-save", "test")
        verdict = supervision.result()
    assert (verdict.verdict, verdict.reason) == ("stopped", "after-save")
    assert verdict.clean == (tmp_path / "out" / "lora-step00000010.safetensors",)


def test_that_stop_after_save_waits_for_the_state_too(tmp_path: Path) -> None:
    source = """
    import zipfile
    header(900)
    for n in range(1, 901):
        step(n, 900, 0.5)
        if n == 5:
            save(f"{out}/lora-step{n:08d}.safetensors")
            folder = Path(out, "lora-step00000005-state"); folder.mkdir()
            sleep(1)
            with zipfile.ZipFile(folder / "random_states_0.pkl", "w") as file: file.writestr("x", "y")
        sleep(0.05)
    """
    run, order = make_run(tmp_path, source, save_state=True)
    with supervised(run, order) as supervision:
        wait_until(at_step(run, 1))
        ask(run, "stop-after-save", "test")
        verdict = supervision.result()
    assert verdict.reason == "after-save"
    states = [event for event in of_kind(run, FileSeen) if event.kind == "state" and event.complete]
    assert len(states) == 1


def test_that_pause_halts_all_processes_and_resume_lets_them_go_on(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, "worker(30)\n" + GOES_ON)
    with supervised(run, order) as supervision:
        wait_until(at_step(run, 3))
        ask(run, "pause", "test")
        wait_until(lambda: status(run).state == "paused")
        assert tree_of(run.path).paused()
        at = run.output_log.stat().st_size
        time.sleep(0.3)
        assert run.output_log.stat().st_size == at
        ask(run, "pause", "test")
        ask(run, "resume", "test")
        wait_until(lambda: run.output_log.stat().st_size > at)
        ask(run, "resume", "test")
        wait_until(lambda: len(of_kind(run, Answered)) == 4)
        ask(run, "stop", "test")
        supervision.result()
    assert [event.done for event in of_kind(run, Answered)] == [True, False, True, False, True]
    assert len(of_kind(run, Paused)) == len(of_kind(run, Resumed)) == 1


def test_that_a_paused_training_can_be_stopped(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, GOES_ON)
    with supervised(run, order) as supervision:
        wait_until(at_step(run, 1))
        ask(run, "pause", "test")
        wait_until(lambda: status(run).state == "paused")
        ask(run, "stop", "test")
        assert supervision.result().verdict == "stopped"


def test_that_accept_makes_the_guard_let_go(tmp_path: Path) -> None:
    source = """
    tracker = Tracker(log)
    header(60)
    for n in range(1, 61):
        step(n, 60, float("nan"))
        if n == 1: tracker.loss(n, float("nan")); sleep(1.5)
        tracker.loss(n, float("nan"))
        sleep(0.02)
    save(f"{out}/lora.safetensors"); saved()
    """
    run, order = make_run(tmp_path, source, guard="confirm", tracker=True, logging_dir=tmp_path / "tracker")
    with supervised(run, order) as supervision:
        wait_until(lambda: (guard := status(run).guard) is not None and guard.state == "watching")
        ask(run, "accept", "test")
        ask(run, "accept", "test")
        verdict = supervision.result()
    assert (verdict.verdict, verdict.step) == ("suspect", 60)
    assert [event.done for event in of_kind(run, Answered)] == [True, False]


def test_that_a_request_that_is_no_json_is_refused(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, GOES_ON)
    with supervised(run, order) as supervision:
        (run.requests / "1.json").write_text("{", "utf-8")
        (run.requests / "2.json").write_text('{"schema": 99, "request": "stop"}', "utf-8")
        (run.requests / "note.txt").write_text("not a request", "utf-8")
        wait_until(lambda: len(of_kind(run, Answered)) == 2)
        ask(run, "stop", "test")
        supervision.result()
    assert [event.done for event in of_kind(run, Answered)] == [False, False, True]


def test_that_a_second_supervisor_refuses(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, GOES_ON)
    with supervised(run, order):
        wait_until(at_step(run, 1))
        with pytest.raises(AlreadySupervised) as refused:
            look_after(run, None)
        assert refused.value.pid == os.getpid()
        ask(run, "stop", "test")


def test_that_a_trainer_that_is_killed_failed(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, "worker(600)\n" + GOES_ON)
    with supervised(run, order) as supervision:
        wait_until(at_step(run, 2))
        launched = read_launched(run.path)
        assert launched is not None
        trained = psutil.Process(launched.trainer.pid)
        for process in (trained, *trained.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                process.kill()
        verdict = supervision.result()
    assert (verdict.verdict, verdict.exit_status) == ("failed", -signal.SIGKILL)


def test_that_what_a_trainer_leaves_behind_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gui.engine.runs.leftovers.PATIENCE_SECONDS", 0.5)
    run, order = make_run(tmp_path, "worker(600, own_session=True)\n" + FINISHES)
    verdict = look_after(run, order)
    assert verdict is not None and verdict.verdict == "finished"
    assert any(notice.id == "leftovers" for notice in of_kind(run, Notice))


def test_that_a_training_goes_on_when_only_its_wrapper_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gui.engine.runs.leftovers.PATIENCE_SECONDS", 0.2)
    source = f"""
    if len(sys.argv) == 1:
        subprocess.Popen([sys.executable, __file__, "inner"]).wait()
        end(1)
    sleep(1)
    {FINISHES.replace(chr(10), chr(10) + "    ")}
    """
    run, order = make_run(tmp_path, source, wrapped=True)
    with supervised(run, order) as supervision:
        wait_until(lambda: read_launched(run.path) is not None)
        launched = read_launched(run.path)
        assert launched is not None
        wait_until(lambda: psutil.Process(launched.trainer.pid).children())
        os.kill(launched.trainer.pid, signal.SIGTERM)
        verdict = supervision.result()
    assert (verdict.verdict, verdict.exit_status) == ("finished", -signal.SIGTERM)
    assert any(notice.id == "orphan" for notice in of_kind(run, Notice))


def test_that_a_killed_launcher_costs_only_the_exit_status(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, "sleep(1)\n" + FINISHES)
    with supervised(run, order) as supervision:
        wait_until(lambda: read_launched(run.path) is not None)
        launched = read_launched(run.path)
        assert launched is not None
        os.kill(launched.launcher.pid, signal.SIGKILL)
        verdict = supervision.result()
    assert (verdict.verdict, verdict.exit_status, verdict.step) == ("finished", None, 5)


def test_that_an_end_that_nobody_saw_is_a_failure(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, GOES_ON)
    with supervised(run, order) as supervision:
        wait_until(at_step(run, 1))
        launched = read_launched(run.path)
        assert launched is not None
        os.kill(launched.launcher.pid, signal.SIGKILL)
        os.kill(launched.trainer.pid, signal.SIGKILL)
        verdict = supervision.result()
    assert (verdict.verdict, verdict.reason, verdict.exit_status) == ("failed", "vanished", None)


@pytest.mark.parametrize(
    ("source", "word", "reason"),
    [
        ("record('ERROR', 'No data found. Please'); end(0)", "nothing-trained", "nothing-to-train"),
        ("raise ValueError('no such model')", "failed", "error"),
        ("header(2); step(1, 2, .5); step(2, 2, .4); saved()", "failed", "final-missing"),
        ("header(1); step(1, 1, .4); save(f'{out}/lora.safetensors', cut=9); saved()", "failed", "final-incomplete"),  # noqa: E501
        ("header(9); step(1, 9, .5); save(f'{out}/lora.safetensors'); saved()", "suspect", "fewer-steps"),
        ("os.kill(os.getpid(), signal.SIGTERM)", "stopped", "outside"),
        ("header(2); step(1, 2, .5); raise OSError(28, 'No space left on device')", "failed", "disk-full"),
    ],
)  # fmt: skip
def test_that_endings_are_called_by_their_name(tmp_path: Path, source: str, word: str, reason: str) -> None:
    run, order = make_run(tmp_path, source)
    verdict = look_after(run, order)
    assert verdict is not None
    assert (verdict.verdict, verdict.reason) == (word, reason), verdict
    assert verdict.sentence and "{" not in verdict.sentence


def test_that_an_old_file_of_the_same_name_is_not_taken_for_the_result(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    run, order = make_run(tmp_path, "save(f'{out}/lora.safetensors')")
    look_after(run, order)
    again, order = make_run(
        tmp_path / "again", "header(1); step(1, 1, .5); saved()", output_dir=tmp_path / "out"
    )
    verdict = look_after(again, order)
    assert verdict is not None
    assert (verdict.verdict, verdict.reason, verdict.clean) == ("failed", "final-old", ())


def test_that_a_renamed_result_is_found(tmp_path: Path) -> None:
    source = FINISHES + "sleep(1.5)\nos.rename(f'{out}/lora.safetensors', f'{out}/my best.safetensors')"
    run, order = make_run(tmp_path, source)
    verdict = look_after(run, order)
    assert verdict is not None
    assert verdict.verdict == "finished"
    assert verdict.final == tmp_path / "out" / "my best.safetensors"


def test_that_a_pickle_is_finished_but_not_checked(tmp_path: Path) -> None:
    source = """
    import zipfile
    header(1); step(1, 1, .5)
    announce(f"{out}/lora.ckpt")
    with zipfile.ZipFile(f"{out}/lora.ckpt", "w") as file: file.writestr("archive/data.pkl", b"x" * 1000)
    saved()
    """
    run, order = make_run(tmp_path, source, expected_final=tmp_path / "out" / "lora.ckpt")
    verdict = look_after(run, order)
    assert verdict is not None
    assert (verdict.verdict, verdict.weights) == ("finished", "not checked")


def test_that_the_last_clean_file_survives_the_trainers_tidying(tmp_path: Path) -> None:
    source = """
    header(9)
    step(1, 9, 0.5); save(f"{out}/lora-step00000001.safetensors"); sleep(1.5)
    step(2, 9, 0.5); save(f"{out}/lora-step00000002.safetensors", float("nan"))
    os.remove(f"{out}/lora-step00000001.safetensors"); sleep(1.2)
    step(3, 9, float("nan"))
    sleep(60)
    """
    run, order = make_run(tmp_path, source, words=("--save_last_n_steps", "1"))
    verdict = look_after(run, order)
    assert verdict is not None and verdict.reason == "guard"
    (kept,) = of_kind(run, Kept)
    assert verdict.clean == (Path(kept.kept_as),)
    assert verdict.clean[0].is_file()


def test_that_nothing_is_said_of_keeping_while_all_is_well(tmp_path: Path) -> None:
    source = """
    header(3)
    for n in range(1, 4):
        step(n, 3, 0.5); save(f"{out}/lora-step0000000{n}.safetensors"); sleep(1.2)
        Path(out, f"lora-step0000000{n - 1}.safetensors").unlink(missing_ok=True)
    save(f"{out}/lora.safetensors"); saved()
    """
    run, order = make_run(tmp_path, source, words=("--save_last_n_steps", "1"))
    verdict = look_after(run, order)
    assert verdict is not None and verdict.verdict == "finished"
    assert of_kind(run, Kept) == []
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "lora-step00000003.safetensors",
        "lora.safetensors",
    ]


def test_that_samples_are_found_though_nobody_names_them(tmp_path: Path) -> None:
    source = """
    png = bytes.fromhex("89504e47 49454e44ae426082")
    header(1); step(1, 1, .5)
    Path(out, "sample").mkdir()
    for n in (0, 1):
        Path(out, "sample", f"lora_000001_0{n}_20261130003837_1.png").write_bytes(png); sleep(0.3)
    save(f"{out}/lora.safetensors"); saved()
    """
    run, order = make_run(tmp_path, source)
    verdict = look_after(run, order)
    assert verdict is not None and verdict.verdict == "finished"
    found = [event.path for event in of_kind(run, FileSeen) if event.kind == "sample" and event.complete]
    assert len(set(found)) == 2
    assert (status(run).samples, str(status(run).last_sample)) == (2, found[-1])


def test_that_endless_lines_and_bytes_that_are_no_text_hide_nothing(tmp_path: Path) -> None:
    source = """
    header(9)
    step(1, 9, 0.5)
    for _ in range(8): sys.stdout.write("y" * (1 << 20))
    sys.stdout.flush()
    sys.stdout.buffer.write(bytes(range(256)) * 400); sys.stdout.flush()
    step(2, 9, 0.5); step(3, 9, float("nan"))
    sleep(60)
    """
    run, order = make_run(tmp_path, source)
    verdict = look_after(run, order)
    assert verdict is not None
    assert (verdict.verdict, verdict.reason, verdict.first_nonfinite_step) == ("stopped", "guard", 3)
    assert run.events.stat().st_size < 100_000


def test_that_a_trainer_that_cannot_be_started_is_said_so(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, FINISHES)
    broken = order.model_copy(update={"argv": (str(tmp_path / "no-such-python"), "x.py")})
    verdict = look_after(run, broken)
    assert verdict is not None
    assert (verdict.verdict, verdict.reason) == ("failed", "not-started")
    assert "no-such-python" in verdict.sentence
    assert not of_kind(run, Exit)


def test_that_little_room_is_warned_of_and_a_full_disk_is_the_verdict(tmp_path: Path) -> None:
    room = {"free": 2 << 30}
    run, order = make_run(tmp_path, "header(9)\nstep(1, 9, .5)\nsleep(2)\nend(1)")
    with supervised(run, order, free_bytes=lambda path: room["free"]) as supervision:
        wait_until(lambda: of_kind(run, DiskWarned))
        room["free"] = 100
        verdict = supervision.result()
    assert (verdict.verdict, verdict.reason) == ("failed", "disk-full")
    assert [event.full for event in of_kind(run, DiskWarned)] == [False, False, True, True]


def test_that_requests_left_over_are_answered_at_the_end(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, "end(1)")
    verdict = look_after(run, order)
    assert verdict is not None and ended(run)
    ask(run, "stop", "test")
    assert look_after(run, None) is None
