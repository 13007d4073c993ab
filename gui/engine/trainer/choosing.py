"""Which trainer to use: the one that is named, the plan's own, or the user's default."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from gui.engine.errors import InterpreterNotFound, PreflightError, TrainerNotFound
from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.preferences import load_preferences
from gui.engine.texts import _
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.facts import TrainerFacts
from gui.engine.trainer.installs import (
    Checkout,
    TrainerInstall,
    checkout_at,
    find_checkouts,
    install_at,
    practice_install,
    usual_places,
)
from gui.engine.trainer.probe import probe
from gui.engine.trainer.stage_run import Progress

TRAINER_VARIABLE = "KOHYA_PREFLIGHT_SD_SCRIPTS"
PYTHON_VARIABLE = "KOHYA_PREFLIGHT_TRAINER_PYTHON"

DEFAULT = "default"
PRACTICE = "practice"


class KnownTrainer(NamedTuple):
    """A trainer of this machine that nobody has asked yet.

    Attributes:
        checkout: Where it is.
        install: With its Python; None when none was found.
        default: Whether it is used when nothing else is named.
    """

    checkout: Checkout
    install: TrainerInstall | None
    default: bool


class Trainer(NamedTuple):
    """A trainer, what is known about it, and its arguments."""

    install: TrainerInstall
    facts: TrainerFacts
    catalogue: Catalogue


def open_trainer(
    home: Home,
    install: TrainerInstall,
    *,
    refresh: bool = False,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Trainer:
    """Ask a trainer what it is; quick where nothing has changed since it was last asked.

    Args:
        home: Holds the cache.
        install: See ``choose_install``.
        refresh: Ask again even when nothing seems to have changed.
        progress: Told what is being looked at, how much is done and how much there is.
        cancelled: Asked often; True ends the asking.

    Raises:
        TrainerBroken: It cannot train.
        Cancelled: The caller asked for it.
    """
    facts = probe(install, home.cache, refresh=refresh, progress=progress, cancelled=cancelled)
    return Trainer(install, facts, Catalogue.from_facts(facts))


def choose_install(
    home: Home,
    *,
    trainer: str | None = None,
    python: str | None = None,
    plan: TrainingPlan | None = None,
    base: Path | None = None,
    practice: bool = False,
) -> TrainerInstall:
    """Return the trainer to use without asking it anything.

    The named one comes first, then the plan's own, then the user's default: what they chose once,
    the environment, the first that is found on this machine.

    Args:
        home: Whose preferences count.
        trainer: A folder, or ``practice``.
        python: Its interpreter, for this once.
        plan: May name a trainer of its own.
        base: The plan file's folder, against which its trainer's path counts.
        practice: Take the practice trainer whatever else is named.

    Raises:
        TrainerNotFound: The named one is not there, or none is named and none was found.
        InterpreterNotFound: It has no Python that could be found.
    """
    if practice:
        return practice_install(python)
    if trainer:
        return named_install(trainer, python or _remembered_python(home, trainer))
    if plan is not None and plan.trainer not in ("", DEFAULT):
        path = plan.trainer if plan.trainer == PRACTICE or base is None else str(base / plan.trainer)
        return named_install(path, python or _remembered_python(home, path))
    return default_install(home, python)


def default_install(home: Home, python: str | None = None) -> TrainerInstall:
    """Return the user's default trainer.

    Args:
        home: Whose preferences count.
        python: An interpreter that is named for this once.

    Raises:
        TrainerNotFound: The remembered one is gone, or there is none on this machine.
        InterpreterNotFound: It has no Python that could be found.
    """
    chosen = load_preferences(home.preferences)
    if chosen.trainer:
        try:
            return named_install(chosen.trainer, python or chosen.trainer_python)
        except TrainerNotFound as error:
            raise TrainerNotFound(
                error.path, _("{reason}; choose another with “trainer use DIR”").format(reason=error.reason)
            ) from error
    variable = os.environ.get(TRAINER_VARIABLE)
    if variable:
        return named_install(variable, python or os.environ.get(PYTHON_VARIABLE))
    return _first_found(python)


def named_install(trainer: str, python: str | None = None) -> TrainerInstall:
    """Return the trainer that a name means.

    Args:
        trainer: A folder, or ``practice``.
        python: Its interpreter; None looks for it.

    Raises:
        TrainerNotFound: It is not there.
        InterpreterNotFound: It has no Python that could be found.
    """
    return practice_install(python) if trainer == PRACTICE else install_at(trainer, python or None)


def known_trainers(home: Home) -> list[KnownTrainer]:
    """Return all trainers of this machine in the order of ``known_checkouts``; looks at many folders."""
    try:
        default: TrainerInstall | None = default_install(home)
    except PreflightError:
        default = None
    return [_known(home, checkout, default) for checkout in known_checkouts(home)]


def _known(home: Home, checkout: Checkout, default: TrainerInstall | None) -> KnownTrainer:
    if default is not None and default.root == checkout.root:
        return KnownTrainer(checkout, default, default=True)
    name = PRACTICE if checkout.origin == PRACTICE else str(checkout.root)
    try:
        install: TrainerInstall | None = choose_install(home, trainer=name)
    except (TrainerNotFound, InterpreterNotFound):
        install = None
    return KnownTrainer(checkout, install, default=False)


def known_checkouts(home: Home) -> list[Checkout]:
    """Return all trainers of this machine, each once.

    The remembered one comes first, then the environment's, the added and the found ones; the
    practice trainer is the last.
    """
    chosen = load_preferences(home.preferences)
    named = (chosen.trainer, os.environ.get(TRAINER_VARIABLE), *(own.path for own in chosen.trainers))
    places = [Path(name).expanduser() for name in named if name and name != PRACTICE]
    checkouts = find_checkouts([*places, *usual_places()])
    with contextlib.suppress(TrainerNotFound, InterpreterNotFound):
        checkouts.append(checkout_at(practice_install().root))
    return checkouts


def _remembered_python(home: Home, trainer: str) -> str | None:
    """Return the interpreter that the user once named together with this folder."""
    chosen = load_preferences(home.preferences)
    known = [(own.path, own.python) for own in chosen.trainers]
    place = Path(trainer).expanduser().absolute()
    for path, python in [*known, (chosen.trainer, chosen.trainer_python)]:
        if path and python and Path(path).expanduser().absolute() == place:
            return python
    return None


def _first_found(python: str | None) -> TrainerInstall:
    checkouts = find_checkouts()
    for checkout in checkouts:
        with contextlib.suppress(InterpreterNotFound):
            return install_at(checkout.root, python)
    if checkouts:
        raise InterpreterNotFound(checkouts[0].root, (python,) if python else ())
    raise TrainerNotFound
