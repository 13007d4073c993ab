"""``attach RUN``: watch a run, and take it over when nothing supervises it."""

from __future__ import annotations

import argparse

from gui.cli.context import home
from gui.cli.watching import watch_tries
from gui.engine.runs.folder import find_run
from gui.engine.runs.start import ensure_supervisor
from gui.engine.texts import _


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    parser.add_argument("run", metavar="RUN", help=_("a run's folder, its name, or the beginning of it"))


def run(options: argparse.Namespace) -> int:
    """Watch until the run is judged; Ctrl+C ends only the watching."""
    folder = find_run(home(options), options.run)
    ensure_supervisor(folder)
    verdict = watch_tries(folder, stop_on_interrupt=False)
    return 0 if verdict is None or verdict.verdict == "finished" else 1
