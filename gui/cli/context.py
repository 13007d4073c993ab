"""What sub-commands stand on: the home, and the trainer that the options, the plan or the user name."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.texts import _
from gui.engine.token_store import TokenStore
from gui.engine.trainer.choosing import Trainer, choose_install, open_trainer
from gui.engine.trainer.installs import TrainerInstall


def home(options: argparse.Namespace) -> Home:
    """Return the place of runs, caches and preferences."""
    return Home.find(options.home)


def token_store(options: argparse.Namespace) -> TokenStore:
    """Return where tokens are kept."""
    return TokenStore(home(options))


def trainer_of(
    options: argparse.Namespace,
    plan: TrainingPlan | None = None,
    practice: bool = False,
    *,
    base: Path | None = None,
    refresh: bool = False,
) -> Trainer:
    """Return the trainer to use, probed, with a line of progress on a terminal.

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
    install = install_of(options, plan, practice, base=base)
    with _Progress() as progress:
        return open_trainer(home(options), install, refresh=refresh, progress=progress.show)


def install_of(
    options: argparse.Namespace,
    plan: TrainingPlan | None = None,
    practice: bool = False,
    *,
    base: Path | None = None,
) -> TrainerInstall:
    """Return the trainer to use without asking it anything; see ``choose_install``."""
    return choose_install(
        home(options),
        trainer=options.trainer,
        python=options.python,
        plan=plan,
        base=base,
        practice=practice,
    )


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
