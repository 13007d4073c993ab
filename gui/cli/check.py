"""``check PLAN``: all findings of preflight; status 1 when one blocks the launch."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from gui.cli.context import home, trainer_of
from gui.cli.plan_input import add_plan_arguments, plan_of
from gui.engine.errors import PreflightError
from gui.engine.importers.reading import PlanInput
from gui.engine.plan.tokens import secrets_in
from gui.engine.preflight.check import Checker
from gui.engine.preflight.checking import checker_for
from gui.engine.preflight.finding_words import finding_lines
from gui.engine.preflight.machine import read_machine
from gui.engine.preflight.report import CheckReport, Steps
from gui.engine.redaction import redact_data
from gui.engine.runs.neighbours import living_runs
from gui.engine.runs.plan_pace import with_pace
from gui.engine.texts import _, ngettext
from gui.engine.trainer.choosing import Trainer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    add_check_arguments(parser)


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what says which plan is looked at, for which machine and trainer, and how it is told."""
    add_plan_arguments(parser)
    parser.add_argument(
        "--machine", metavar="M.toml", help=_("check for the machine that this file tells of")
    )
    parser.add_argument("--practice", action="store_true", help=_("for the built-in practice trainer"))
    parser.add_argument("--json", action="store_true", help=_("print one JSON document"))


def run(options: argparse.Namespace) -> int:
    """Print the findings.

    Returns:
        1 when a stop finding remains, else 0.
    """
    given, checker = prepare(options)
    for note in given.file.notes:
        print(note, file=sys.stderr)
    report = checker.report(given.file.plan, given.findings)
    if options.json:
        document = redact_data(report.model_dump(mode="json", by_alias=True), secrets_in(given.file.plan))
        print(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        print("\n".join(_lines(report)))
    return 1 if report.verdict == "stop" else 0


def prepare(options: argparse.Namespace) -> tuple[PlanInput, Checker]:
    """Return the plan that was given, and what checks it.

    With ``--machine`` nothing of this machine is looked at but the trainer's arguments, where
    ``--trainer`` or ``--practice`` names one. Without a trainer on this machine the bundled arguments
    of sd-scripts serve.
    """
    given = plan_of(options)
    plan, base, place = given.file.plan, given.file.base, home(options)
    named = bool(options.trainer or options.python or options.practice)
    if options.machine:
        facts = read_machine(Path(options.machine))
        asked = trainer_of(options, plan, options.practice, base=base) if named else None
        return given, checker_for(base, asked, place, machine=facts)
    trainer: Trainer | None
    try:
        trainer = trainer_of(options, plan, options.practice, base=base)
    except PreflightError as error:
        if named:
            raise
        print(_("No trainer is used: {reason}").format(reason=error), file=sys.stderr)
        trainer = None
    checker = checker_for(base, trainer, place, runs=living_runs)
    return given, checker if trainer is None else with_pace(checker, plan, trainer, place)


def _lines(report: CheckReport) -> list[str]:
    lines = [line for finding in report.findings for line in finding_lines(finding)]
    if report.steps and report.steps.total_steps:
        lines.append(_steps_line(report.steps))
    if report.resume:
        lines.append(report.resume.sentence)
    ending = {
        "go": _("Nothing speaks against launching this plan, as far as this was checked."),
        "caution": _("The plan can be launched; read the findings first."),
        "stop": _("The plan cannot be launched like this."),
    }
    return [*lines, ending[report.verdict]]


def _steps_line(steps: Steps) -> str:
    images, batches, epochs, whole = (
        number or 0 for number in (steps.images, steps.batches_per_epoch, steps.epochs, steps.total_steps)
    )
    parts = (
        ngettext("{count} image", "{count} images", images).format(count=images),
        ngettext("{count} batch an epoch", "{count} batches an epoch", batches).format(count=batches),
        ngettext("{count} epoch", "{count} epochs", epochs).format(count=epochs),
    )
    return f"{', '.join(parts)}: {ngettext('{count} step', '{count} steps', whole).format(count=whole)}"
