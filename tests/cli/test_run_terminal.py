"""How runs look in a terminal."""

from __future__ import annotations

import io
import os

import pytest

from gui.cli import terminal
from gui.cli.terminal import MOST_LINES, Display, duration, event_line, figure, pace, progress_line, size
from gui.engine.runs.events import (
    Adopted,
    Answered,
    DiskWarned,
    FileSeen,
    Guarded,
    Judged,
    Kept,
    Launched,
    Launching,
    Notice,
    Paused,
    Resumed,
    RunEvent,
    Stopping,
    VerdictGiven,
)
from gui.engine.runs.status import BarNow, GpuNow, RunStatus
from gui.engine.trainer.events import Epoch, Error, LossNonfinite, Phase, Step, TrainerEvent, Warned

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


def said(*sentence: str) -> dict[str, str]:
    return {"sentence": sentence[0] if sentence else "So it is."}


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (Notice(id="x", **said()), "So it is."),
        (Guarded(action="stop", **said()), "So it is."),
        (Stopping(stage="gone", reason="user", **said()), "So it is."),
        (Judged(path="/a", judgement="clean", **said()), "So it is."),
        (DiskWarned(path="/a", free_bytes=1, **said()), "So it is."),
        (Adopted(pid=1, alive=True, **said()), "So it is."),
        (Answered(number=1, request="stop", done=True, **said()), ""),
        (Answered(number=1, request="stop", done=False, **said()), "So it is."),
        (Paused(), "Paused."),
        (Resumed(), "Going on."),
        (Launching(boot_id="b", boot_seconds=1), ""),
        (
            Launched(boot_id="", boot_seconds=1, launcher_pid=1, trainer_pid=7),
            "The trainer runs (process 7).",
        ),
        (Kept(path="/o/a", kept_as="/k/a", how="link"), "a is kept as /k/a."),
        (FileSeen(path="/o/a", kind="model", complete=True, size=7 << 20), "saved a (7.0 MiB)"),
        (FileSeen(path="/o/a", kind="state", complete=True, size=700), "saved the state a (700 B)"),
        (FileSeen(path="/o/a.png", kind="sample", complete=True, size=7), "sample a.png"),
        (FileSeen(path="/o/a", kind="model", complete=False, size=7), ""),
        (VerdictGiven(verdict="finished", **said()), ""),
        (Phase(phase="caching-text"), "caching text encoder outputs"),
        (Epoch(epoch=2, total=3), "epoch 2 of 3"),
        (LossNonfinite(step=7, value=float("inf")), "The loss is inf at step 7."),
        (LossNonfinite(step=7), "The loss is nan at step 7."),
        (LossNonfinite(step=7, source="tracker"), ""),
        (Warned(message="first\nsecond"), "warning: first"),
        (Warned(message=""), "warning: "),
        (Error(type="ValueError", message="x" * 300), "error: ValueError: " + "x" * 199 + "…"),
        (Error(message="no data"), "error: no data"),
        (Error(message="child failed", wrapper=True), ""),
        (Step(step=1, total=2), ""),
    ],
)  # fmt: skip
def test_that_events_have_their_lines(event: TrainerEvent | RunEvent, line: str) -> None:
    assert event_line(event) == line


def test_that_figures_are_readable() -> None:
    assert [figure(value) for value in (0.13412, float("nan"), 1e-9)] == ["0.1341", "nan", "1e-09"]
    assert [pace(rate) for rate in (3.55, 0.1)] == ["3.55 steps a second", "10.0 s a step"]
    assert [duration(s) for s in (7, 67, 3600 * 30)] == ["7 s", "1 min 07 s", "30 h 00 min"]
    assert [size(n) for n in (5, 2048, 5 << 20, 7 << 30)] == ["5 B", "2.0 KiB", "5.0 MiB", "7.0 GiB"]
    assert [terminal.clock_time(t) for t in (None, -1.0, 67.9, 3700.0)] == [
        "      ",
        "00:00 ",
        "01:07 ",
        "1:01:40 ",
    ]


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
    assert out.getvalue() == "00:01 training\n00:01 saving\n"


def test_that_a_long_past_is_cut_short() -> None:
    out = io.StringIO()
    Display(out).events([Epoch(epoch=n, total=999, t=1.0) for n in range(1, 200)])
    lines = out.getvalue().splitlines()
    assert len(lines) == MOST_LINES + 1
    assert lines[0] == f"… {199 - MOST_LINES} lines before" and lines[-1].endswith("epoch 199 of 999")


def test_that_all_lines_are_translated(pseudo_language: str) -> None:
    assert pseudo_language
    assert event_line(Paused()) != "Paused."
    assert "step" not in duration(67)
    assert progress_line(RunStatus(name="r")) != "starting"


def test_that_the_default_is_the_programs_own_output(capsys: pytest.CaptureFixture[str]) -> None:
    Display().line("hello")
    assert capsys.readouterr().out == "hello\n"
