"""``run PLAN``: launch a plan under supervision and show its progress."""

from __future__ import annotations

import argparse
import os
import sys

from gui.cli.context import home, token_store, trainer_of
from gui.cli.launching import add_launch_options, launch, say_refusal, watch_launched
from gui.cli.plan_input import add_plan_arguments, plan_of
from gui.engine.errors import PlanNotRunnable, RunRefused
from gui.engine.importers.reading import PlanInput
from gui.engine.redaction import SECRET_ARGUMENTS
from gui.engine.runs.prepare import Prepared
from gui.engine.runs.preparing import look_before_launch, preparation_for
from gui.engine.texts import _
from gui.engine.trainer.choosing import Trainer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    add_plan_arguments(parser)
    add_launch_options(parser)
    parser.add_argument("--detach", action="store_true", help=_("launch, and come back at once"))


def run(options: argparse.Namespace) -> int:
    """Launch the plan; status 0 only when the verdict is ``finished``."""
    try:
        prepared, trainer = _prepare(options)
    except (PlanNotRunnable, RunRefused) as error:
        return say_refusal(error)
    except KeyboardInterrupt:
        print(_("Nothing was started."), file=sys.stderr)
        raise
    install = trainer.install
    interrupts = launch(prepared, _what_runs(prepared.run.name, install.label, practice=install.practice))
    if options.detach and not interrupts.pressed:
        print(_("The run goes on by itself: {folder}").format(folder=prepared.run.path))
        print(_("Watch it: kohya-preflight attach {name}").format(name=prepared.run.name))
        return 0
    return watch_launched(prepared, interrupts)


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


def _what_runs(name: str, label: str, *, practice: bool) -> str:
    text = _("Run {name} with {trainer}")
    if practice:
        text = _("Practice run {name} with {trainer}: it shows how everything works; its LoRA is of no use.")
    return text.format(name=name, trainer=label)
