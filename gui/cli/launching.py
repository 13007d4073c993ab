"""What commands share that launch a plan: options, the way into the run, and why nothing was started."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from gui.cli.interrupts import Interrupts, interrupts_held
from gui.cli.watching import watch_tries
from gui.engine.errors import PlanNotRunnable, RunRefused
from gui.engine.findings import Finding
from gui.engine.runs.prepare import Prepared
from gui.engine.runs.start import start_supervisor
from gui.engine.texts import _


def add_launch_options(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add what is said of a launch beside the plan."""
    add_accept_option(parser)
    parser.add_argument(
        "--practice", action="store_true", help=_("train with the small practice trainer, on the CPU")
    )


def add_accept_option(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add the yes to dangers."""
    parser.add_argument(
        "--accept",
        metavar="ID",
        nargs="+",
        action="extend",
        default=[],
        help=_("dangers to launch in spite of; the run keeps a record of them"),
    )


def launch(prepared: Prepared, words: str) -> Interrupts:
    """Launch a run and say so; return whether Ctrl+C was pressed meanwhile.

    Args:
        prepared: The run.
        words: What is said before it begins.

    Raises:
        RunRefused: Its supervisor could not be started.
    """
    # Until the supervisor's first sign of life a run is easily left half launched.
    with interrupts_held() as interrupts:
        for note in prepared.notes:
            print(note, file=sys.stderr)
        print(words, flush=True)
        start_supervisor(prepared.run, prepared.order)
    return interrupts


def watch_launched(prepared: Prepared, interrupts: Interrupts) -> int:
    """Watch a run that was just launched; status 0 only when the verdict is ``finished``."""
    verdict = watch_tries(prepared.run, stop_on_interrupt=True, interrupted=interrupts.pressed)
    return 0 if verdict is not None and verdict.verdict == "finished" else 1


def say_refusal(error: PlanNotRunnable | RunRefused) -> int:
    """Print why nothing was started; return the exit status."""
    if isinstance(error, PlanNotRunnable):
        say_findings(error.findings)
    else:
        print(_("Nothing was started."), error, file=sys.stderr)
    return 1


def say_findings(findings: Sequence[Finding]) -> None:
    """Print why nothing was started, and the ways out."""
    print(_("Nothing was started."), file=sys.stderr)
    for finding in findings:
        print(f"{finding.severity}: {finding.title} [{finding.id}]", file=sys.stderr)
        if finding.detail:
            print(f"    {finding.detail}", file=sys.stderr)
        for fix in finding.fixes:
            print(_("    way out: {label}").format(label=fix.label), file=sys.stderr)
        if finding.severity == "danger":
            print(_("    or launch in spite of it: --accept {id}").format(id=finding.id), file=sys.stderr)
