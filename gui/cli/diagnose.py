"""``diagnose LOG|RUN [--json]``: what went wrong, the lines that show it, and what to do."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gui.cli.context import home
from gui.engine.runs.diagnosing import DiagnosisReport, diagnose_output, diagnose_run
from gui.engine.runs.diagnosis_lines import report_lines
from gui.engine.runs.folder import find_run
from gui.engine.texts import _
from gui.engine.trainer.output import read_stream


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    parser.add_argument(
        "what", metavar="LOG|RUN", help=_("a file with the trainer's output, - for standard input, or a run")
    )
    parser.add_argument("--json", action="store_true", help=_("print one JSON document"))


def run(options: argparse.Namespace) -> int:
    """Print what went wrong; 1 when something did.

    Raises:
        UnknownRun: It is neither a file nor a run.
        CannotRead: The output cannot be read.
    """
    report = _report(options)
    if options.json:
        print(report.model_dump_json(by_alias=True, indent=2))
    else:
        print("\n".join(report_lines(report)))
    return 1 if report.failed else 0


def _report(options: argparse.Namespace) -> DiagnosisReport:
    if options.what == "-":
        return diagnose_output(read_stream(sys.stdin.buffer))
    path = Path(options.what)
    if path.is_file():
        return diagnose_output(path)
    return diagnose_run(find_run(home(options), options.what))
