"""Watches a run in the terminal until it is judged; shared by ``run`` and ``attach``."""

from __future__ import annotations

import sys
import time

from gui.cli.interrupts import interrupts_held
from gui.cli.streams import discard_output
from gui.cli.terminal import Display
from gui.engine.documents import reason_of
from gui.engine.errors import CannotWrite, RunRefused
from gui.engine.runs.alarm import Alarm
from gui.engine.runs.alarms import alarms
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.follow import Follower
from gui.engine.runs.requests import ask
from gui.engine.runs.retry_record import await_retry
from gui.engine.runs.start import ensure_supervisor
from gui.engine.runs.status import Verdict
from gui.engine.texts import _

LOOK_SECONDS = 0.2
SUPERVISOR_SECONDS = 2.0
"""So often it is seen whether a supervisor lives."""


def watch_tries(run: RunFolder, *, stop_on_interrupt: bool, interrupted: bool = False) -> Verdict | None:
    """Show a run until it is judged, and then the run that tries it again by itself, where there is one.

    Args:
        run: The folder of the first.
        stop_on_interrupt: As for ``watch_run``.
        interrupted: As for ``watch_run``.

    Returns:
        The last one's verdict; None when the user left before there was one.
    """
    while True:
        verdict = watch_run(run, stop_on_interrupt=stop_on_interrupt, interrupted=interrupted)
        following = None if verdict is None else _next_try(run)
        if following is None:
            return verdict
        run, interrupted = following, False


def _next_try(run: RunFolder) -> RunFolder | None:
    """Return the run that tries this one again, once its supervisor has decided that."""
    retry = await_retry(run)
    if retry is None:
        return None
    print(retry.sentence, flush=True)
    return RunFolder(run.path.parent / retry.next) if retry.next else None


def watch_run(
    run: RunFolder, *, stop_on_interrupt: bool, from_now: bool = False, interrupted: bool = False
) -> Verdict | None:
    """Show a run until it is judged.

    Args:
        run: The folder.
        stop_on_interrupt: Whether the first Ctrl+C stops the run; else it only ends the watching.
        from_now: Leave out what happened before.
        interrupted: Whether Ctrl+C was pressed already.

    Returns:
        The verdict; None when the user left before there was one.
    """
    display = Display()
    follower = Follower(run, from_now=from_now)
    stopping = False
    try:
        while True:
            try:
                if interrupted and not stopping:
                    stopping = True
                    _stop(run, display)
                return _until_judged(run, follower, display)
            except KeyboardInterrupt:
                if stopping or not stop_on_interrupt:
                    display.done()
                    print(_how_to_come_back(run, stopping=stopping), flush=True)
                    return None
                interrupted = True
    except CannotWrite as error:
        print(error, _how_to_come_back(run, stopping=False), sep="\n", file=sys.stderr)
        return None
    except OSError as error:
        # What is printed cannot be written. The run does not depend on it, and the user should know.
        discard_output()
        if not isinstance(error, BrokenPipeError):
            print(reason_of(error), _how_to_come_back(run, stopping=stopping), sep="\n", file=sys.stderr)
        return None
    finally:
        follower.close()


def _stop(run: RunFolder, display: Display) -> None:
    with interrupts_held():
        ask(run, "stop", "terminal")
        display.line(_("Stopping the run. Press Ctrl+C again to leave; it is stopped all the same."))


def _until_judged(run: RunFolder, follower: Follower, display: Display) -> Verdict:
    due = 0.0
    refused = False
    while True:
        status = follower.status()
        display.events(follower.events())
        if status is not None and status.verdict is not None:
            display.events(follower.events())
            display.done()
            _say_verdict(run, status.verdict, practice=status.practice)
            _say_what_next(alarms(run, status))
            return status.verdict
        if status is not None:
            display.status(status)
        if time.monotonic() >= due:
            due = time.monotonic() + SUPERVISOR_SECONDS
            try:
                if ensure_supervisor(run):
                    display.line(_("Nobody looked after this run; a new supervisor does now."))
                refused = False
            except RunRefused:
                # Once may be the moment in which the run's folder was taken away.
                if refused:
                    raise
                refused = True
        time.sleep(LOOK_SECONDS)


def _say_verdict(run: RunFolder, verdict: Verdict, *, practice: bool) -> None:
    word = f"{verdict.verdict} ({_('practice')})" if practice else verdict.verdict
    print(f"{word}: {verdict.sentence}")
    for path in verdict.clean:
        print(_("  clean: {path}").format(path=path))
    for path in verdict.doubtful:
        print(_("  not clean: {path}").format(path=path))
    # Why a loss broke down is told with what to do about it.
    for cause in [cause for cause in verdict.causes if cause.id != "loss-nonfinite"][:3]:
        print(_("  likely cause: {title} ({id})").format(title=cause.title, id=cause.id))
    print(_("  everything about this run: {folder}").format(folder=run.path))
    sys.stdout.flush()


def _say_what_next(told: tuple[Alarm, ...]) -> None:
    """Print what the window shows in its banner: causes and next steps of the gravest alarm."""
    for alarm in told[:1]:
        lines = [alarm.title, alarm.text if alarm.id == "loss-nonfinite" else "", alarm.done]
        print(" ".join(filter(None, lines)))
        for cause in alarm.causes if alarm.id == "loss-nonfinite" else ():
            print(_("  likely cause: {title}").format(title=cause))
        for number, step in enumerate(alarm.next_steps, start=1):
            print(_("  {number}. {step}").format(number=number, step=step))
    sys.stdout.flush()


def _how_to_come_back(run: RunFolder, *, stopping: bool) -> str:
    if stopping:
        text = _("The run is being stopped. See how it ends: kohya-preflight attach {name}.")
        return text.format(name=run.name)
    return _(
        "The run goes on. Watch it: kohya-preflight attach {name}. Stop it: kohya-preflight stop {name}."
    ).format(name=run.name)
