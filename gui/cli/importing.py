"""``import FILE``: makes a plan of what other programs write, and says what was changed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gui.cli.plan_input import add_script_argument, plan_of, require_free
from gui.engine.importers.imported import ImportReport
from gui.engine.importers.reading import PlanInput
from gui.engine.plan.merging import new_text
from gui.engine.plan.plan_file import without_secrets
from gui.engine.texts import _


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    parser.add_argument(
        "plan",
        metavar="FILE",
        help=_(
            "a script (.sh, .bat, .ps1), a command line, settings of the kohya_ss GUI or of "
            "LoRA_Easy_Training_Scripts, a TOML file of the trainer, or a trained file; - is the input"
        ),
    )
    add_script_argument(parser)
    parser.add_argument("-o", "--output", metavar="PLAN", help=_("where the plan goes; else it is printed"))
    parser.add_argument("--overwrite", action="store_true", help=_("replace a file that is there"))
    parser.add_argument("--json", action="store_true", help=_("print one JSON document"))


def run(options: argparse.Namespace) -> int:
    """Write or print the plan; notes go to stderr."""
    target = Path(options.output) if options.output else None
    if target is not None:
        require_free(target, options.overwrite)
    given = plan_of(options)
    given.file.require_known()
    if target is not None:
        given.file.save(given.file.plan, target)
    if options.json:
        print(report_of(given).model_dump_json(by_alias=True, indent=2))
        return 0
    for line in _remarks(given):
        print(line, file=sys.stderr)
    if target is None:
        print(given.file.text or new_text(without_secrets(given.file.plan.data())), end="")
    else:
        print(_("written: {path}").format(path=target))
    return 0


def report_of(given: PlanInput) -> ImportReport:
    """Return what was read as a document, without tokens."""
    return ImportReport(
        kind=given.kind,
        plan=type(given.file.plan).model_validate(without_secrets(given.file.plan.data())),
        notes=given.file.notes,
        findings=given.findings,
        secrets=tuple(given.secrets),
    )


def _remarks(given: PlanInput) -> list[str]:
    found = [f"{finding.title} {finding.detail} ({finding.id})" for finding in given.findings]
    return [*given.file.notes, *found]
