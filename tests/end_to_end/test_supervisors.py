"""Supervisors as processes of their own: they die, others take over, and nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from run_helper import (
    FINISHES,
    GOES_ON,
    WAITS,
    at_least_step,
    ended,
    make_run,
    of_kind,
    status,
    wait_until,
)

from gui.engine.errors import CannotRead, NewerDocument, RunRefused
from gui.engine.runs.events import Adopted, Answered, FileSeen, Guarded, Judged, Launching, Stopping
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.journal import Lines
from gui.engine.runs.lock import is_held
from gui.engine.runs.metrics import StepRow, read_metrics
from gui.engine.runs.processes import boottime, tree_of
from gui.engine.runs.requests import ask
from gui.engine.runs.session import look_after
from gui.engine.runs.start import ensure_supervisor, start_supervisor
from gui.engine.trainer.events import Step

pytestmark = pytest.mark.usefixtures("no_leftovers")


def kill_supervisor(run: RunFolder) -> None:
    pid = status(run).supervisor_pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_held(run.lock))


def go_on(tmp_path: Path) -> None:
    """Let a training go on that waits for it."""
    (tmp_path / "out" / "go").touch()


def test_that_a_supervisor_is_detached_and_says_nothing(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, WAITS)
    start_supervisor(run, order)
    wait_until(lambda: status(run).supervisor_pid is not None)
    pid = status(run).supervisor_pid
    assert pid is not None
    assert os.getsid(pid) == pid != os.getsid(0)
    go_on(tmp_path)
    wait_until(lambda: ended(run))
    wait_until(lambda: not is_held(run.lock))
    assert run.supervisor_log.read_text("utf-8") == ""


def test_that_a_run_survives_its_supervisor(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, WAITS)
    begun = boottime()
    start_supervisor(run, order)
    wait_until(lambda: at_least_step(run, 2))
    kill_supervisor(run)
    before = status(run).elapsed_seconds or 0.0
    assert tree_of(run.path).alive()
    assert ensure_supervisor(run)
    assert not ensure_supervisor(run), "one is enough"
    wait_until(lambda: of_kind(run, Adopted))
    go_on(tmp_path)
    wait_until(lambda: ended(run))
    verdict = status(run).verdict
    assert verdict is not None and (verdict.verdict, verdict.exit_status) == ("finished", 0)
    assert [event.step for event in of_kind(run, Step)] == [1, 2, 3, 4, 5]
    assert [row.step for row in read_metrics(run.metrics) if isinstance(row, StepRow)] == [1, 2, 3, 4, 5]
    assert [event.alive for event in of_kind(run, Adopted)] == [True]
    assert len(of_kind(run, Launching)) == 1
    elapsed = status(run).elapsed_seconds
    assert elapsed is not None and 0 < before < elapsed <= boottime() - begun


def test_that_a_run_that_ended_unseen_gets_its_verdict(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, WAITS)
    start_supervisor(run, order)
    wait_until(lambda: at_least_step(run, 1))
    kill_supervisor(run)
    go_on(tmp_path)
    wait_until(lambda: not tree_of(run.path).alive())
    assert ensure_supervisor(run)
    wait_until(lambda: ended(run))
    verdict = status(run).verdict
    assert verdict is not None and (verdict.verdict, verdict.step) == ("finished", 5)
    assert [event.alive for event in of_kind(run, Adopted)] == [False]
    assert [event.step for event in of_kind(run, Step)] == [1, 2, 3, 4, 5]


def test_that_a_failure_that_nobody_saw_is_a_failure(tmp_path: Path) -> None:
    source = """
    header(5); step(1, 5, .5)
    wait_for(f"{out}/go")
    raise MemoryError("no room")
    """
    run, order = make_run(tmp_path, source)
    start_supervisor(run, order)
    wait_until(lambda: at_least_step(run, 1))
    kill_supervisor(run)
    go_on(tmp_path)
    wait_until(lambda: not tree_of(run.path).alive())
    verdict = look_after(run, None)
    assert verdict is not None
    assert (verdict.verdict, verdict.exit_status, verdict.step) == ("failed", 1, 1)
    assert "MemoryError" in verdict.sentence or verdict.causes


def test_that_a_nan_that_nobody_saw_is_stopped_on_return(tmp_path: Path) -> None:
    source = """
    header(999)
    step(1, 999, .5)
    wait_for(f"{out}/go")
    for n in range(2, 999): step(n, 999, float("nan")); sleep(0.05)
    """
    run, order = make_run(tmp_path, source)
    start_supervisor(run, order)
    wait_until(lambda: at_least_step(run, 1))
    kill_supervisor(run)
    go_on(tmp_path)
    wait_until(lambda: b"avr_loss=nan" in run.output_log.read_bytes())
    verdict = look_after(run, None)
    assert verdict is not None
    assert (verdict.verdict, verdict.reason, verdict.first_nonfinite_step) == ("stopped", "guard", 2)


def test_that_a_nan_run_that_ended_unseen_is_suspect_and_not_stopped(tmp_path: Path) -> None:
    source = """
    header(5)
    step(1, 5, .5)
    wait_for(f"{out}/go")
    for n in range(2, 6): step(n, 5, .5 if n < 4 else float("nan"))
    save(f"{out}/lora.safetensors", float("nan")); saved()
    """
    run, order = make_run(tmp_path, source)
    start_supervisor(run, order)
    wait_until(lambda: at_least_step(run, 1))
    kill_supervisor(run)
    go_on(tmp_path)
    wait_until(lambda: not tree_of(run.path).alive())
    verdict = look_after(run, None)
    assert verdict is not None
    assert (verdict.verdict, verdict.weights, verdict.first_nonfinite_step) == ("suspect", "nonfinite", 4)
    assert not of_kind(run, Stopping) and not of_kind(run, Guarded)


def test_that_steps_are_written_once_with_their_losses_whoever_reads_them(tmp_path: Path) -> None:
    source = """
    tracker = Tracker(log); sleep(0.3)
    header(40)
    for n in range(1, 41):
        step(n, 40, .5); tracker.loss(n, n / 100)
        sleep(0.06)
        if n == 20: wait_for(f"{out}/go")
    save(f"{out}/lora.safetensors"); saved()
    """
    run, order = make_run(tmp_path, source, tracker=True, logging_dir=tmp_path / "tracker")
    start_supervisor(run, order)
    wait_until(lambda: at_least_step(run, 10))
    kill_supervisor(run)
    go_on(tmp_path)
    verdict = look_after(run, None)
    assert verdict is not None and verdict.verdict == "finished"
    steps = of_kind(run, Step)
    assert [event.step for event in steps] == list(range(1, 41))
    assert [event.loss for event in steps] == pytest.approx([n / 100 for n in range(1, 41)])
    rows = [row for row in read_metrics(run.metrics) if isinstance(row, StepRow)]
    assert [row.loss for row in rows] == pytest.approx([n / 100 for n in range(1, 41)])


def test_that_a_stop_is_carried_on_by_the_next_supervisor(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, "ignore_stop()\n" + GOES_ON)
    start_supervisor(run, order)
    wait_until(lambda: at_least_step(run, 1))
    ask(run, "stop", "test")
    wait_until(lambda: any(event.stage == "asked" for event in of_kind(run, Stopping)))
    kill_supervisor(run)
    assert tree_of(run.path).alive()
    verdict = look_after(run, None)
    assert verdict is not None and (verdict.verdict, verdict.reason) == ("stopped", "user")


def test_that_a_promise_is_kept_by_the_next_supervisor(tmp_path: Path) -> None:
    source = """
    header(900)
    for n in range(1, 901):
        step(n, 900, .5)
        if n == 1: save(f"{out}/lora-step{n:08d}.safetensors")
        if os.path.exists(f"{out}/go"): save(f"{out}/lora-step{n:08d}.safetensors"); sleep(60)
        sleep(0.05)
    """
    run, order = make_run(tmp_path, source)
    start_supervisor(run, order)
    wait_until(lambda: of_kind(run, Judged))
    ask(run, "stop-after-save", "test")
    ask(run, "accept", "test")
    wait_until(lambda: len(of_kind(run, Answered)) == 2)
    kill_supervisor(run)
    ensure_supervisor(run)
    wait_until(lambda: len(of_kind(run, Adopted)) == 1)
    time.sleep(1.5)
    assert not of_kind(run, Stopping), "what was saved before it was asked does not count"
    go_on(tmp_path)
    wait_until(lambda: ended(run))
    verdict = status(run).verdict
    assert verdict is not None
    assert (verdict.verdict, verdict.reason, len(verdict.clean)) == ("stopped", "after-save", 2)
    assert len(of_kind(run, Answered)) == 2, "what was answered is not answered again"


def test_that_what_is_asked_while_nobody_is_there_is_heard(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, GOES_ON)
    start_supervisor(run, order)
    wait_until(lambda: at_least_step(run, 1))
    kill_supervisor(run)
    ask(run, "stop", "test")
    verdict = look_after(run, None)
    assert verdict is not None and verdict.verdict == "stopped"


def test_that_a_paused_run_is_adopted_as_paused(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, GOES_ON)
    start_supervisor(run, order)
    wait_until(lambda: at_least_step(run, 1))
    ask(run, "pause", "test")
    wait_until(lambda: status(run).state == "paused")
    kill_supervisor(run)
    ensure_supervisor(run)
    wait_until(lambda: len(of_kind(run, Adopted)) == 1)
    assert status(run).state == "paused"
    ask(run, "stop", "test")
    wait_until(lambda: ended(run))


def test_that_files_are_not_announced_twice(tmp_path: Path) -> None:
    source = """
    header(900)
    step(1, 900, .5); save(f"{out}/lora-step00000001.safetensors")
    step(2, 900, .5); save(f"{out}/lora-step00000002.safetensors")
    for n in range(3, 901): step(n, 900, .5); sleep(0.05)
    """
    run, order = make_run(tmp_path, source)
    start_supervisor(run, order)
    wait_until(lambda: len(of_kind(run, Judged)) == 2)
    kill_supervisor(run)
    ask(run, "stop", "test")
    verdict = look_after(run, None)
    assert verdict is not None and len(verdict.clean) == 2
    assert max(Counter(event.path for event in of_kind(run, Judged)).values()) == 1
    assert max(Counter(event.path for event in of_kind(run, FileSeen) if event.complete).values()) == 1


def test_that_a_restart_of_the_machine_is_told(tmp_path: Path) -> None:
    run, _order = make_run(tmp_path, FINISHES)
    lines = Lines(run.events)
    lines.add(Launching(boot_id="another boot", boot_seconds=5.0))
    lines.add(Step(step=3, total=9))
    lines.close()
    gone = {"pid": os.getpid(), "boot_id": "another boot", "start_ticks": 1}
    note = {"schema": 1, "launcher": gone, "trainer": gone, "group": 1, "started_boottime": 5.0}
    run.launcher.write_text(json.dumps(note), "utf-8")
    run.output_log.write_text("steps:  33%|███       | 3/9 [00:02<00:04,  2.27s/it, avr_loss=1.14]", "utf-8")
    verdict = look_after(run, None)
    assert verdict is not None
    assert (verdict.verdict, verdict.reason, verdict.step) == ("failed", "rebooted", 3)
    assert "restarted" in verdict.sentence
    assert status(run).elapsed_seconds is None


def test_that_a_trainer_is_not_started_twice(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, WAITS)
    start_supervisor(run, order)
    wait_until(lambda: at_least_step(run, 1))
    kill_supervisor(run)
    start_supervisor(run, order)
    go_on(tmp_path)
    wait_until(lambda: ended(run))
    assert len(of_kind(run, Launching)) == 1
    assert [event.step for event in of_kind(run, Step)] == [1, 2, 3, 4, 5]


def test_that_a_damaged_note_of_the_launcher_does_not_hide_the_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gui.engine.runs.adoption.LAUNCH_PATIENCE_SECONDS", 0.2)
    run, order = make_run(tmp_path, GOES_ON)
    start_supervisor(run, order)
    wait_until(lambda: at_least_step(run, 1))
    kill_supervisor(run)
    run.launcher.write_text("{", "utf-8")
    ask(run, "stop", "test")
    verdict = look_after(run, None)
    assert verdict is not None and verdict.verdict == "stopped"
    assert not tree_of(run.path).alive()


def test_that_a_fault_in_one_part_leaves_the_guard_on_guard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_args: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("gui.engine.runs.sampling.Sampling.look", broken)
    monkeypatch.setattr("gui.engine.runs.savedesk.SaveDesk.look", broken)
    monkeypatch.setattr("gui.engine.runs.finishing._find_final", broken)
    run, order = make_run(tmp_path, "header(9)\nsleep(.5)\nstep(1, 9, float('nan'))\nsleep(60)")
    verdict = look_after(run, order)
    assert verdict is not None and verdict.reason == "guard"
    told = [notice for notice in status(run).notices if "supervisor.log" in notice]
    assert len(told) == 3
    # Each is reported, and none for ever; how many come to pass depends on the time that it takes.
    assert 3 <= capsys.readouterr().err.count("RuntimeError: a fault of ours") <= 20


def test_that_the_clock_on_the_wall_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wall = [4e9]

    def backwards() -> float:
        wall[0] -= 3600
        return wall[0]

    monkeypatch.setattr(time, "time", backwards)
    run, order = make_run(tmp_path, FINISHES)
    verdict = look_after(run, order)
    assert verdict is not None and verdict.verdict == "finished"
    times = [event.t for event in of_kind(run, Step)]
    assert times == sorted(times) and 0 <= times[0] < times[-1] < 60


def supervise(run: RunFolder, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gui", "supervise", str(run.path), *words]
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=60, check=False)
    return subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_that_the_second_supervisor_process_refuses_in_one_line(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, GOES_ON)
    start_supervisor(run, order)
    wait_until(lambda: at_least_step(run, 1))
    second = supervise(run)
    assert second.returncode == 2
    (line,) = second.stderr.splitlines()
    assert str(status(run).supervisor_pid) in line
    ask(run, "stop", "test")
    wait_until(lambda: ended(run))


def test_that_half_an_order_starts_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, FINISHES)
    text = order.model_copy(update={"environment": {"HF_TOKEN": "hf_sssssecret"}}).model_dump_json().encode()
    done = supervise(run, "--launch", stdin=text[:-5])
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1 and "secret" not in done.stderr
    assert not run.output_log.exists()


def test_that_a_broken_folder_gives_a_clear_reason(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, FINISHES)
    run.command.unlink()
    with pytest.raises(CannotRead):
        look_after(run, order)
    with pytest.raises(RunRefused) as refused:
        start_supervisor(run, order)
    assert "command.json" in str(refused.value)


def test_that_a_newer_folder_is_not_touched(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, FINISHES)
    run.manifest.write_text('{"schema": 2, "program": "9.0", "hologram": true}', "utf-8")
    with pytest.raises(NewerDocument):
        look_after(run, order)
    run.status.write_text('{"schema": 2}', "utf-8")
    with pytest.raises(NewerDocument):
        ensure_supervisor(run)


def test_that_a_folder_that_cannot_be_written_gives_a_clear_reason(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, FINISHES)
    run.supervisor_log.mkdir()
    with pytest.raises(RunRefused):
        start_supervisor(run, order)
