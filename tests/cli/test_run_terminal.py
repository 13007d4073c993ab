"""How runs look in a terminal."""

from __future__ import annotations

import io
import os

import pytest

from gui.cli import terminal
from gui.cli.terminal import MOST_LINES, Display, progress_line
from gui.engine.runs.events import Launched, Paused, VerdictGiven
from gui.engine.runs.status import BarNow, GpuNow, RunStatus
from gui.engine.trainer.events import Epoch, Phase

GIB = 1 << 30


def test_that_the_progress_line_tells_what_matters() -> None:
    status = RunStatus(
        name="r",
        practice=True,
        state="running",
        phase="training",
        step=507,
        total=1200,
        epoch=5,
        epochs=10,
        avr_loss=0.2,
        loss=0.13412,
        rate=0.5,
        remaining_seconds=1386,
        warnings=2,
        gpus=(
            GpuNow(index=0, uuid="a", process_bytes=9 * GIB, total_bytes=12 * GIB),
            GpuNow(index=1, uuid="b", used_bytes=GIB, total_bytes=12 * GIB),
            GpuNow(index=2, uuid="c"),
        ),
    )
    assert progress_line(status) == (
        "practice · training · step 507 of 1200 (42 %) · 23 min 06 s left · loss 0.1341 · 2.0 s a step · "
        "epoch 5 of 10 · GPU 0: 9.0 of 12.0 GiB · GPU 1: 1.0 of 12.0 GiB · 2 warnings"
    )


@pytest.mark.parametrize(
    ("status", "line"),
    [
        (RunStatus(name="r"), "starting"),
        (RunStatus(name="r", state="paused", errors=1), "paused · 1 warning"),
        (RunStatus(name="r", state="running"), "loading"),
        (
            RunStatus(
                name="r", state="running", phase="caching-latents", bar=BarNow(name="", done=3, total=24)
            ),
            "caching latents 3/24",
        ),
        (
            RunStatus(name="r", state="running", phase="training", avr_loss=float("nan")),
            "training · loss nan",
        ),
    ],
)
def test_that_every_state_has_its_words(status: RunStatus, line: str) -> None:
    assert progress_line(status) == line


def test_that_a_pipe_gets_plain_lines_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    out = io.StringIO()
    display = Display(out)
    for step in (1, 2, 3):
        display.status(RunStatus(name="r", state="running", phase="training", step=step, total=9))
        now[0] += 6
    display.done()
    assert out.getvalue() == "training · step 1 of 9 (11 %)\ntraining · step 3 of 9 (33 %)\n"


def test_that_a_terminal_gets_one_line_that_is_drawn_over() -> None:
    out = io.StringIO()
    display = Display(out, redraw=True)
    display.status(RunStatus(name="r", state="running", phase="validating"))
    display.status(RunStatus(name="r", state="running", phase="saving"))
    display.status(RunStatus(name="r", state="running", phase="saving"))
    display.events([Paused(t=5.0)])
    display.status(RunStatus(name="r", state="paused"))
    display.done()
    assert out.getvalue() == "\rvalidating\rsaving    \r      \r00:05 Paused.\n\rpaused\n"


def test_that_a_line_does_not_outgrow_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "get_terminal_size", lambda _fd: os.terminal_size((20, 5)))
    out = io.StringIO()
    monkeypatch.setattr(out, "fileno", lambda: 1)
    Display(out, redraw=True).status(RunStatus(name="r", practice=True, state="running", step=1, total=9))
    assert len(out.getvalue()) <= 20 and out.getvalue().endswith("…")


def test_that_turns_of_training_and_saving_are_not_told_again_and_again() -> None:
    out = io.StringIO()
    display = Display(out)
    for phase in ("training", "saving", "training", "saving"):
        display.events([Phase(phase=phase, t=1.0)])  # type: ignore[arg-type]
    assert out.getvalue() == "00:01 The training began.\n00:01 The first save began.\n"


def test_that_a_long_past_is_cut_short() -> None:
    out = io.StringIO()
    Display(out).events([Epoch(epoch=n, total=999, t=1.0) for n in range(1, 200)])
    lines = out.getvalue().splitlines()
    assert len(lines) == MOST_LINES + 1
    assert lines[0] == f"… {199 - MOST_LINES} lines before" and lines[-1].endswith("Epoch 199 of 999.")


def test_that_all_lines_are_translated(pseudo_language: str) -> None:
    assert pseudo_language
    assert progress_line(RunStatus(name="r")) != "starting"


def test_that_the_default_is_the_programs_own_output(capsys: pytest.CaptureFixture[str]) -> None:
    Display().line("hello")
    assert capsys.readouterr().out == "hello\n"


def test_that_events_without_a_time_are_told_too_and_the_verdict_only_at_the_end() -> None:
    out = io.StringIO()
    launched = Launched(boot_id="", boot_seconds=1, launcher_pid=1, trainer_pid=7)
    Display(out).events([launched, VerdictGiven(verdict="finished", sentence="Finished.")])
    assert out.getvalue() == "      The trainer runs (process 7).\n"
