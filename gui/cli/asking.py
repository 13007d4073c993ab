"""Asks something of a run's supervisor and waits for the answer; shared by stop, pause and resume."""

from __future__ import annotations

import argparse
import sys
import time

from gui.cli.context import home
from gui.engine.errors import RunRefused
from gui.engine.runs.events import Answered, RequestKind
from gui.engine.runs.folder import RunFolder, find_run
from gui.engine.runs.follow import Follower
from gui.engine.runs.requests import ask
from gui.engine.runs.start import ensure_supervisor, read_status
from gui.engine.texts import _

ANSWER_SECONDS = 60.0
"""A new supervisor first reads the whole log."""

OVER_SECONDS = 1.0
LOOK_SECONDS = 0.05


def add_run_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the run."""
    parser.add_argument("run", metavar="RUN", help=_("a run's folder, its name, or the beginning of it"))


def run_of(options: argparse.Namespace) -> RunFolder:
    """Return the run that the options name."""
    return find_run(home(options), options.run)


def ask_and_wait(run: RunFolder, request: RequestKind) -> Answered:
    """Ask, have a supervisor there, and wait until it has answered.

    Raises:
        RunRefused: The run is over, or nobody answers.
    """
    _refuse_when_over(run)
    follower = Follower(run, from_now=True)
    try:
        number = ask(run, request, "terminal")
        asked_at = time.monotonic()
        while time.monotonic() < asked_at + ANSWER_SECONDS:
            ensure_supervisor(run)
            for event in follower.events():
                if isinstance(event, Answered) and event.number == number:
                    return event
            _refuse_when_over(run, patience_until=asked_at + OVER_SECONDS)
            time.sleep(LOOK_SECONDS)
    finally:
        follower.close()
    raise RunRefused(_("the supervisor of the run does not answer; see {log}").format(log=run.supervisor_log))


def ask_and_say(run: RunFolder, request: RequestKind) -> int:
    """Ask, print the answer, return the exit status."""
    try:
        answer = ask_and_wait(run, request)
    except RunRefused as error:
        print(f"kohya-preflight: {error}", file=sys.stderr)
        return 1
    print(answer.sentence, flush=True)
    return 0 if answer.done else 1


def _refuse_when_over(run: RunFolder, patience_until: float = 0.0) -> None:
    """Raise when the run is judged; a supervisor that is just ending still answers what it has seen."""
    status = read_status(run)
    if status is None or status.verdict is None or time.monotonic() < patience_until:
        return
    raise RunRefused(_("the run is over: {sentence}").format(sentence=status.verdict.sentence))
