"""What runs say to people, in the terminal and in the window alike."""

from __future__ import annotations

from typing import get_args

import pytest

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
from gui.engine.runs.figures import clock_time, duration, figure, size, speed
from gui.engine.runs.status import BarNow, RunState, RunStatus, Verdict, VerdictWord
from gui.engine.runs.words import Timeline, event_words, state_words, verdict_words
from gui.engine.trainer.events import (
    Epoch,
    Error,
    LossNonfinite,
    Phase,
    PhaseName,
    Step,
    TrainerEvent,
    Warned,
)

SO = {"sentence": "So it is."}


@pytest.mark.parametrize(
    ("event", "tone", "text"),
    [
        (Notice(id="no-gpu", **SO), "plain", "So it is."),
        (Notice(id="gpu-lost:a", **SO), "bad", "So it is."),
        (Notice(id="keeper", **SO), "warn", "So it is."),
        (Guarded(action="stop", **SO), "bad", "So it is."),
        (Guarded(action="watch", **SO), "warn", "So it is."),
        (Guarded(action="recovered", **SO), "good", "So it is."),
        (Stopping(stage="gone", reason="user", **SO), "plain", "So it is."),
        (Stopping(stage="announced", reason="user", **SO), "warn", "So it is."),
        (Stopping(stage="killed", reason="user", **SO), "bad", "So it is."),
        (Stopping(stage="announced", reason="guard", **SO), "bad", "So it is."),
        (Judged(path="/a", judgement="clean", **SO), "good", "So it is."),
        (Judged(path="/a", judgement="grown", **SO), "warn", "So it is."),
        (Judged(path="/a", judgement="nonfinite", **SO), "bad", "So it is."),
        (DiskWarned(path="/a", free_bytes=1, **SO), "warn", "So it is."),
        (DiskWarned(path="/a", free_bytes=1, full=True, **SO), "bad", "So it is."),
        (Adopted(pid=1, alive=True, **SO), "plain", "So it is."),
        (Answered(number=1, request="stop", done=False, **SO), "warn", "So it is."),
        (Paused(), "plain", "Paused."),
        (Resumed(), "plain", "Going on."),
        (
            Launched(boot_id="", boot_seconds=1, launcher_pid=1, trainer_pid=7),
            "plain",
            "The trainer runs (process 7).",
        ),
        (Kept(path="/o/a", kept_as="/k/a", how="link"), "plain", "a is kept as /k/a."),
        (FileSeen(path="/o/a", kind="model", complete=True, size=7 << 20), "plain", "Saved a (7.0 MiB)."),
        (FileSeen(path="/o/a", kind="state", complete=True, size=700), "plain", "Saved the state a (700 B)."),
        (FileSeen(path="/o/a.png", kind="sample", complete=True, size=7), "plain", "Sample a.png."),
        (VerdictGiven(verdict="finished", reason="done", **SO), "good", "So it is."),
        (VerdictGiven(verdict="stopped", reason="guard", **SO), "bad", "So it is."),
        (VerdictGiven(verdict="stopped", **SO), "warn", "So it is."),
        (Phase(phase="caching-text"), "plain", "Caching text encoder outputs."),
        (Epoch(epoch=2, total=3), "plain", "Epoch 2 of 3."),
        (LossNonfinite(step=7, value=float("inf")), "bad", "The loss is inf at step 7."),
        (LossNonfinite(step=7), "bad", "The loss is nan at step 7."),
        (Warned(message="first\nsecond"), "warn", "Warning: first"),
        (Warned(message=""), "warn", "Warning: "),
        (Error(type="ValueError", message="x" * 300), "bad", "Error: ValueError: " + "x" * 199 + "…"),
        (Error(message="no data"), "bad", "Error: no data"),
    ],
)  # fmt: skip
def test_that_events_have_their_words(event: TrainerEvent | RunEvent, tone: str, text: str) -> None:
    assert event_words(event) == (tone, text)


@pytest.mark.parametrize(
    "event",
    [
        Answered(number=1, request="stop", done=True, **SO),
        Launching(boot_id="b", boot_seconds=1),
        FileSeen(path="/o/a", kind="model", complete=False, size=7),
        LossNonfinite(step=7, source="tracker"),
        Error(message="child failed", wrapper=True),
        Warned(message="again", count=4),
        Step(step=1, total=2),
    ],
)
def test_that_what_nobody_need_know_has_no_words(event: TrainerEvent | RunEvent) -> None:
    assert event_words(event) is None


def test_that_a_timeline_tells_once_that_a_phase_began() -> None:
    timeline = Timeline()
    told = [timeline.take(Phase(phase=phase)) for phase in ("training", "saving", "training", "saving")]
    assert [words and words.text for words in told] == [
        "The training began.",
        "The first save began.",
        None,
        None,
    ]
    assert timeline.take(Paused()) == ("plain", "Paused.")
    assert timeline.take(Paused()) == ("plain", "Paused.")


def test_that_every_phase_and_state_has_words() -> None:
    for phase in get_args(PhaseName):
        told = event_words(Phase(phase=phase))
        assert told is not None and told.text.endswith(".")
    for state in get_args(RunState):
        assert state_words(RunStatus(name="r", state=state)).text


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (RunStatus(name="r"), ("plain", "starting")),
        (RunStatus(name="r", state="paused"), ("warn", "paused")),
        (RunStatus(name="r", state="running"), ("plain", "loading")),
        (
            RunStatus(
                name="r", state="running", phase="caching-latents", bar=BarNow(name="", done=3, total=24)
            ),
            ("plain", "caching latents 3/24"),
        ),
        (
            RunStatus(name="r", state="ended", verdict=Verdict(verdict="stopped", reason="user")),
            ("warn", "stopped by you"),
        ),
    ],
)
def test_that_a_status_is_a_word_or_two(status: RunStatus, words: tuple[str, str]) -> None:
    assert state_words(status) == words


@pytest.mark.parametrize(
    ("verdict", "reason", "words"),
    [
        ("finished", "done", ("good", "finished")),
        ("stopped", "guard", ("bad", "stopped by the guard")),
        ("stopped", "user", ("warn", "stopped by you")),
        ("failed", "error", ("bad", "failed")),
        ("suspect", "fewer-steps", ("warn", "suspect")),
        ("nothing-trained", "nothing-to-train", ("bad", "nothing was trained")),
        ("unknown", "", ("warn", "unknown")),
        ("something newer", "", ("warn", "something newer")),
    ],
)
def test_that_every_verdict_is_a_word_or_two(verdict: str, reason: str, words: tuple[str, str]) -> None:
    assert verdict_words(verdict, reason) == words


def test_that_all_verdicts_have_words_of_their_own() -> None:
    words = [verdict_words(word).text for word in get_args(VerdictWord)]
    assert len(set(words)) == len(words)


def test_that_figures_are_readable() -> None:
    assert [figure(value) for value in (0.13412, float("nan"), 1e-9)] == ["0.1341", "nan", "1e-09"]
    assert [speed(rate) for rate in (3.55, 0.1)] == ["3.55 steps a second", "10.0 s a step"]
    assert [duration(s) for s in (7, 67, 3600 * 30)] == ["7 s", "1 min 07 s", "30 h 00 min"]
    assert [size(n) for n in (5, 2048, 5 << 20, 7 << 30)] == ["5 B", "2.0 KiB", "5.0 MiB", "7.0 GiB"]
    assert [clock_time(t) for t in (None, -1.0, 67.9, 3700.0)] == ["", "00:00", "01:07", "1:01:40"]


def test_that_all_words_are_translated(pseudo_language: str) -> None:
    assert pseudo_language
    told = event_words(Paused())
    assert told is not None and told.text != "Paused."
    assert "min" not in duration(67)
    assert state_words(RunStatus(name="r")).text != "starting"
