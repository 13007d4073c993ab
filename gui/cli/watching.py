"""Watches a run in the terminal until it is judged; shared by ``run`` and ``attach``."""

from __future__ import annotations

import sys
import time

from gui.cli.terminal import Display
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.follow import Follower
from gui.engine.runs.requests import ask
from gui.engine.runs.start import ensure_supervisor
from gui.engine.runs.status import Verdict
from gui.engine.texts import _

LOOK_SECONDS = 0.2
SUPERVISOR_SECONDS = 2.0
"""So often it is seen whether a supervisor lives."""


def watch_run(run: RunFolder, *, stop_on_interrupt: bool, from_now: bool = False) -> Verdict | None:
    """Show a run until it is judged.

    Args:
        run: The folder.
        stop_on_interrupt: Whether the first Ctrl+C stops the run; else it only ends the watching.
        from_now: Leave out what happened before.

    Returns:
        The verdict; None when the user left while the run goes on.
    """
    display = Display()
    follower = Follower(run, from_now=from_now)
    asked = False
    try:
        while True:
            try:
                return _until_judged(run, follower, display)
            except KeyboardInterrupt:
                if asked or not stop_on_interrupt:
                    display.done()
                    _say_how_to_come_back(run)
                    return None
                asked = True
                display.line(_("Stopping the run. Press Ctrl+C again to leave it alone."))
                ask(run, "stop", "terminal")
    finally:
        follower.close()


def _until_judged(run: RunFolder, follower: Follower, display: Display) -> Verdict:
    due = 0.0
    while True:
        status = follower.status()
        display.events(follower.events())
        if status is not None and status.verdict is not None:
            display.events(follower.events())
            display.done()
            _say_verdict(run, status.verdict, practice=status.practice)
            return status.verdict
        if status is not None:
            display.status(status)
        if time.monotonic() >= due:
            due = time.monotonic() + SUPERVISOR_SECONDS
            if ensure_supervisor(run):
                display.line(_("Nobody looked after this run; a new supervisor does now."))
        time.sleep(LOOK_SECONDS)


def _say_verdict(run: RunFolder, verdict: Verdict, *, practice: bool) -> None:
    word = f"{verdict.verdict} ({_('practice')})" if practice else verdict.verdict
    print(f"{word}: {verdict.sentence}")
    for path in verdict.clean:
        print(_("  clean: {path}").format(path=path))
    for path in verdict.doubtful:
        print(_("  not clean: {path}").format(path=path))
    for cause in verdict.causes[:3]:
        print(_("  likely cause: {title} ({id})").format(title=cause.title, id=cause.id))
    print(_("  everything about this run: {folder}").format(folder=run.path))
    sys.stdout.flush()


def _say_how_to_come_back(run: RunFolder) -> None:
    print(
        _(
            "The run goes on. Watch it: kohya-preflight attach {name}. Stop it: kohya-preflight stop {name}."
        ).format(name=run.name)
    )
