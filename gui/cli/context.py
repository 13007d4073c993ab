"""What sub-commands stand on: the home, and the trainer that the options, the plan or the user name."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from pathlib import Path
from typing import NamedTuple

from gui.engine.errors import InterpreterNotFound, TrainerNotFound
from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.preferences import load_preferences
from gui.engine.texts import _
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.facts import TrainerFacts
from gui.engine.trainer.installs import TrainerInstall, find_checkouts, install_at, practice_install
from gui.engine.trainer.probe import probe

TRAINER_VARIABLE = "KOHYA_PREFLIGHT_SD_SCRIPTS"
PYTHON_VARIABLE = "KOHYA_PREFLIGHT_TRAINER_PYTHON"

DEFAULT = "default"
PRACTICE = "practice"


class Trainer(NamedTuple):
    """A trainer, what is known about it, and its arguments."""

    install: TrainerInstall
    facts: TrainerFacts
    catalogue: Catalogue


def home(options: argparse.Namespace) -> Home:
    """Return the place of runs, caches and preferences."""
    return Home.find(options.home)


def trainer_of(
    options: argparse.Namespace,
    plan: TrainingPlan | None = None,
    practice: bool = False,
    *,
    base: Path | None = None,
    refresh: bool = False,
) -> Trainer:
    """Return the trainer to use, probed.

    Args:
        options: ``--trainer``, ``--python`` and ``--home``.
        plan: May name a trainer of its own.
        practice: Take the practice trainer whatever else is named.
        base: The plan file's folder, against which its trainer's path counts.
        refresh: Probe again even when nothing seems to have changed.

    Raises:
        TrainerNotFound: The named one is not there, or none is named and none was found.
        InterpreterNotFound: It has no Python that could be found.
        TrainerBroken: It cannot train.
    """
    place = home(options)
    install = install_of(options, plan, practice, base=base)
    with _Progress() as progress:
        facts = probe(install, place.cache, refresh=refresh, progress=progress.show)
    return Trainer(install, facts, Catalogue.from_facts(facts))


def install_of(
    options: argparse.Namespace,
    plan: TrainingPlan | None = None,
    practice: bool = False,
    *,
    base: Path | None = None,
) -> TrainerInstall:
    """Return the trainer to use without asking it anything.

    ``--trainer`` comes first, then the plan's own, then the user's default: what ``trainer use``
    remembered, the environment, the first that is found on this machine.

    Args:
        options: ``--trainer``, ``--python`` and ``--home``.
        plan: May name a trainer of its own.
        practice: Take the practice trainer whatever else is named.
        base: The plan file's folder, against which its trainer's path counts.

    Raises:
        TrainerNotFound: The named one is not there, or none is named and none was found.
        InterpreterNotFound: It has no Python that could be found.
    """
    if practice:
        return practice_install(options.python)
    if options.trainer:
        return _named(options.trainer, options.python)
    if plan is not None and plan.trainer not in ("", DEFAULT):
        path = plan.trainer if plan.trainer == PRACTICE or base is None else str(base / plan.trainer)
        return _named(path, options.python)
    return default_install(home(options), options.python)


def default_install(place: Home, python: str | None = None) -> TrainerInstall:
    """Return the user's default trainer.

    Args:
        place: Whose preferences count.
        python: An interpreter that is named for this once.

    Raises:
        TrainerNotFound: The remembered one is gone, or there is none on this machine.
        InterpreterNotFound: It has no Python that could be found.
    """
    chosen = load_preferences(place.preferences)
    if chosen.trainer:
        try:
            return _named(chosen.trainer, python or chosen.trainer_python)
        except TrainerNotFound as error:
            raise TrainerNotFound(
                error.path, _("{reason}; choose another with “trainer use DIR”").format(reason=error.reason)
            ) from error
    variable = os.environ.get(TRAINER_VARIABLE)
    if variable:
        return _named(variable, python or os.environ.get(PYTHON_VARIABLE))
    return _first_found(python)


def _first_found(python: str | None) -> TrainerInstall:
    checkouts = find_checkouts()
    for checkout in checkouts:
        with contextlib.suppress(InterpreterNotFound):
            return install_at(checkout.root, python)
    if checkouts:
        raise InterpreterNotFound(checkouts[0].root, (python,) if python else ())
    raise TrainerNotFound


def _named(trainer: str, python: str | None) -> TrainerInstall:
    return practice_install(python) if trainer == PRACTICE else install_at(trainer, python or None)


class _Progress:
    """One line on a terminal while a trainer is asked for the first time; nothing in a pipe."""

    def __init__(self) -> None:
        self._shown = False

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_details: object) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def show(self, stage: str, done: int, total: int) -> None:
        """Replace the line."""
        if sys.stderr.isatty():
            text = _("asking the trainer: {stage} ({done} of {total})")
            words = text.format(stage=stage, done=done, total=total)
            print(f"\r\x1b[K{words}", end="", file=sys.stderr, flush=True)
            self._shown = True
