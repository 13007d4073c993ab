"""``supervise RUN``: what a run's supervisor process executes; not meant to be called by hand."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pydantic import ValidationError

from gui.engine.errors import WrongUsage
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.records import LaunchOrder
from gui.engine.runs.session import look_after
from gui.engine.texts import _


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    parser.add_argument("run", metavar="RUN", help=_("the run's folder"))
    parser.add_argument(
        "--launch", action="store_true", help=_("launch what standard input describes; else take over")
    )


def run(options: argparse.Namespace) -> int:
    """Look after the run until it is judged."""
    order = _read_order() if options.launch else None
    look_after(RunFolder(Path(options.run).absolute()), order)
    return 0


def _read_order() -> LaunchOrder:
    try:
        return LaunchOrder.model_validate_json(sys.stdin.buffer.read())
    except ValidationError as error:
        # Whoever asked has died in the middle of the sentence; nothing is started. The words of the
        # order may hold tokens, so they are not repeated.
        raise WrongUsage(_("what to launch was not understood")) from error.with_traceback(None)
