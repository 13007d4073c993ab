"""``run PLAN``: launch a plan under supervision and show its progress."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from gui.cli.context import home, token_store, trainer_of
from gui.cli.interrupts import interrupts_held
from gui.cli.plan_input import add_plan_arguments, plan_of
from gui.cli.watching import watch_tries
from gui.engine.errors import PlanNotRunnable, RunRefused
from gui.engine.findings import Finding
from gui.engine.importers.reading import PlanInput
from gui.engine.redaction import SECRET_ARGUMENTS
from gui.engine.runs.prepare import Prepared
from gui.engine.runs.preparing import look_before_launch, preparation_for
from gui.engine.runs.start import start_supervisor
from gui.engine.texts import _
from gui.engine.trainer.choosing import Trainer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    add_plan_arguments(parser)
    parser.add_argument(
        "--accept",
        metavar="ID",
        nargs="+",
        action="extend",
        default=[],
        help=_("dangers to launch in spite of; the run keeps a record of them"),
    )
    parser.add_argument(
        "--practice", action="store_true", help=_("train with the small practice trainer, on the CPU")
    )
    parser.add_argument("--detach", action="store_true", help=_("launch, and come back at once"))


def run(options: argparse.Namespace) -> int:
    """Launch the plan; status 0 only when the verdict is ``finished``."""
    try:
        prepared, trainer = _prepare(options)
    except PlanNotRunnable as error:
        say_findings(error.findings)
        return 1
    except RunRefused as error:
        print(_("Nothing was started."), error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(_("Nothing was started."), file=sys.stderr)
        raise
    # Between here and the supervisor's first sign of life a run is easily left half launched.
    with interrupts_held() as interrupts:
        for note in prepared.notes:
            print(note, file=sys.stderr)
        _say_what_runs(prepared.run.name, trainer.install.label, practice=trainer.install.practice)
        start_supervisor(prepared.run, prepared.order)
    if options.detach and not interrupts.pressed:
        print(_("The run goes on by itself: {folder}").format(folder=prepared.run.path))
        print(_("Watch it: kohya-preflight attach {name}").format(name=prepared.run.name))
        return 0
    verdict = watch_tries(prepared.run, stop_on_interrupt=True, interrupted=interrupts.pressed)
    return 0 if verdict is not None and verdict.verdict == "finished" else 1


def _prepare(options: argparse.Namespace) -> tuple[Prepared, Trainer]:
    given = plan_of(options)
    plan_file = given.file
    plan_file.require_known()
    trainer = trainer_of(options, plan_file.plan, practice=options.practice, base=plan_file.base)
    look = look_before_launch(home(options), trainer, plan_file.base, given.findings)
    preparation = preparation_for(home(options), trainer, look)
    for note in (*plan_file.notes, *trainer.facts.problems):
        print(note, file=sys.stderr)
    return preparation.prepare(plan_file, options.accept, tokens_for(given, trainer, options)), trainer


def tokens_for(given: PlanInput, trainer: Trainer, options: argparse.Namespace) -> dict[str, str]:
    """Return the tokens for the trainer's environment: those that stood in the file, else those kept."""
    if trainer.install.practice:
        return {}  # it has no use for any
    own = {SECRET_ARGUMENTS[name]: secret.reveal() for name, secret in given.secrets.items()}
    return own | token_store(options).for_run({**os.environ, **given.file.plan.launch.env, **own})


def _say_what_runs(name: str, label: str, *, practice: bool) -> None:
    text = _("Run {name} with {trainer}")
    if practice:
        text = _("Practice run {name} with {trainer}: it shows how everything works; its LoRA is of no use.")
    print(text.format(name=name, trainer=label), flush=True)


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
