"""``rehearse PLAN``: train it for a few steps in a folder of its own, and say whether to launch it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from gui.cli.context import home, trainer_of
from gui.cli.interrupts import interrupts_held
from gui.cli.launching import say_refusal
from gui.cli.plan_input import add_plan_arguments, plan_of
from gui.cli.run import tokens_for
from gui.engine.errors import PlanNotRunnable, RunRefused
from gui.engine.preflight.checking import checker_for
from gui.engine.runs.neighbours import living_runs
from gui.engine.runs.prepare import Prepared
from gui.engine.runs.rehearsal import RehearsalProgress, Rehearsals, rehearse, remove_rehearsal
from gui.engine.runs.rehearsal_result import RehearsalKind, RehearsalResult
from gui.engine.runs.rehearsal_words import rehearsal_figures, rehearsal_verdict
from gui.engine.texts import _


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    add_plan_arguments(parser)
    parser.add_argument(
        "--isolate",
        action="store_true",
        help=_("train on one or two images at a low learning rate: tells whether the data are to blame"),
    )
    parser.add_argument("--practice", action="store_true", help=_("with the practice trainer, on the CPU"))
    parser.add_argument("--remove", action="store_true", help=_("keep no record of it"))
    parser.add_argument("--json", action="store_true", help=_("print one JSON document"))


def run(options: argparse.Namespace) -> int:
    """Rehearse the plan; status 0 only when nothing speaks against launching it."""
    try:
        prepared = _prepare(options)
        result = _rehearse(prepared)
    except (PlanNotRunnable, RunRefused) as error:
        return say_refusal(error)
    if options.json:
        print(result.model_dump_json(by_alias=True, indent=2))
    else:
        print("\n".join(_lines(result)))
    if options.remove:
        remove_rehearsal(prepared.run)
    return 0 if result.verdict == "go" else 1


def _prepare(options: argparse.Namespace) -> Prepared:
    given = plan_of(options)
    plan_file = given.file
    plan_file.require_known()
    trainer = trainer_of(options, plan_file.plan, practice=options.practice, base=plan_file.base)
    checker = checker_for(plan_file.base, trainer, home(options), runs=living_runs)
    rehearsals = Rehearsals(home(options), trainer, checker)
    kind: RehearsalKind = "isolation" if options.isolate else "rehearsal"
    return rehearsals.prepare(plan_file, kind, tokens_for(given, trainer, options))


def _rehearse(prepared: Prepared) -> RehearsalResult:
    """Wait for the end; Ctrl+C stops the rehearsal, and what it has shown by then is told."""
    with interrupts_held() as interrupts:
        return rehearse(prepared, progress=_show, cancelled=lambda: interrupts.pressed)


def _show(progress: RehearsalProgress) -> None:
    if sys.stderr.isatty():
        text = _("rehearsing: {phase}, step {step} of {steps}")
        words = text.format(phase=progress.phase or "…", step=progress.step, steps=progress.steps or "…")
        print(f"\r\x1b[K{words}", end="", file=sys.stderr, flush=True)


def _lines(result: RehearsalResult) -> Iterator[str]:
    yield rehearsal_verdict(result)
    yield from (f"  - {reason}" for reason in result.reasons)
    yield from rehearsal_figures(result)
    yield from result.notes
