"""What Ctrl+C and a lost terminal do to a run: never leave it unwatched without a word."""

from __future__ import annotations

import argparse
import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from run_helper import FINISHES, GOES_ON, ended, make_run, status, wait_until

from gui.cli import launching, watching
from gui.cli import run as command
from gui.cli.interrupts import interrupts_held
from gui.engine.runs.prepare import Prepared
from gui.engine.runs.start import start_supervisor

pytestmark = [
    pytest.mark.usefixtures("no_leftovers"),
    pytest.mark.skipif(os.name == "nt", reason="presses Ctrl+C as a POSIX terminal does"),
]


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def test_that_ctrl_c_waits_while_it_is_held() -> None:
    with interrupts_held() as interrupts:
        assert not interrupts.pressed
        press()
        assert interrupts.pressed
    with pytest.raises(KeyboardInterrupt):
        press()


@pytest.mark.parametrize("detach", [False, True])
def test_that_ctrl_c_while_the_supervisor_starts_stops_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], *, detach: bool
) -> None:
    made, order = make_run(tmp_path, GOES_ON)
    trainer = SimpleNamespace(install=SimpleNamespace(label="a trainer", practice=False))
    monkeypatch.setattr(command, "_prepare", lambda _options: (Prepared(made, order, ()), trainer))

    def pressed(*arguments: Any) -> None:
        press()
        start_supervisor(*arguments)
        press()

    monkeypatch.setattr(launching, "start_supervisor", pressed)
    assert command.run(argparse.Namespace(detach=detach)) == 1
    verdict = status(made).verdict
    assert verdict is not None and verdict.verdict == "stopped"
    assert "Stopping the run." in capfd.readouterr().out


def test_that_ctrl_c_before_the_launch_says_that_nothing_was_started(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "_prepare", lambda _options: press())
    with pytest.raises(KeyboardInterrupt):
        command.run(argparse.Namespace())
    assert capsys.readouterr().err == "Nothing was started.\n"


def test_that_leaving_a_run_that_is_being_stopped_does_not_say_that_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made, order = make_run(tmp_path, GOES_ON)
    start_supervisor(made, order)
    monkeypatch.setattr(watching, "_until_judged", lambda *_: press())
    assert watching.watch_run(made, stop_on_interrupt=True) is None
    told = capsys.readouterr().out
    assert "is being stopped" in told and f"attach {made.name}" in told
    assert "goes on" not in told
    wait_until(lambda: ended(made))


@pytest.mark.parametrize(
    ("error", "told"), [(BrokenPipeError(), False), (OSError(28, "No space left"), True)]
)
def test_that_a_run_does_not_end_with_the_terminal(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: OSError,
    *,
    told: bool,
) -> None:
    made, order = make_run(tmp_path, FINISHES)
    start_supervisor(made, order)

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(watching, "_until_judged", fail)
    monkeypatch.setattr(watching, "discard_output", lambda: None)
    assert watching.watch_run(made, stop_on_interrupt=True) is None
    assert ("No space left\nThe run goes on." in capsys.readouterr().err) is told
    wait_until(lambda: ended(made))
    verdict = status(made).verdict
    assert verdict is not None and verdict.verdict == "finished"


def test_that_a_stop_that_cannot_be_asked_for_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made, _order = make_run(tmp_path, FINISHES)
    made.requests.rmdir()
    made.requests.write_text("in the way", "utf-8")
    assert watching.watch_run(made, stop_on_interrupt=True, interrupted=True) is None
    told = capsys.readouterr().err
    assert "requests cannot be written" in told and "The run goes on." in told
