"""``stop RUN [--after-save]``: stop a run, at once or after its next save."""

from __future__ import annotations

import argparse

from gui.cli.asking import add_run_argument, ask_and_say, run_of
from gui.cli.watching import watch_run
from gui.engine.texts import _


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    add_run_argument(parser)
    parser.add_argument(
        "--after-save", action="store_true", help=_("wait until the next model is saved completely")
    )


def run(options: argparse.Namespace) -> int:
    """Ask for the stop; without ``--after-save`` wait until nothing of the run is alive."""
    folder = run_of(options)
    status = ask_and_say(folder, "stop-after-save" if options.after_save else "stop")
    if options.after_save or status != 0:
        return status
    verdict = watch_run(folder, stop_on_interrupt=False, from_now=True)
    return 0 if verdict is not None and verdict.verdict in ("stopped", "finished") else 1
