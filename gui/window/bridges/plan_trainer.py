"""The trainer that a plan is for: the window's own, unless the plan names another."""

from __future__ import annotations

from pathlib import Path

from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.trainer.choosing import DEFAULT, Trainer, choose_install, open_trainer

_Named = tuple[str, Path]


class PlanTrainers:
    """Opens the trainers that plans name, and remembers them.

    Args:
        home: Holds what is known of trainers.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self._known: dict[_Named, Trainer] = {}

    def known(self, plan: TrainingPlan, base: Path, current: Trainer | None) -> Trainer | None:
        """Return the trainer as far as it was opened before; never waits."""
        return current if _is_default(plan) else self._known.get((plan.trainer, base), current)

    def of(self, plan: TrainingPlan, base: Path, current: Trainer | None) -> Trainer | None:
        """Return the trainer of a plan; for a thread, since one that is new has to be asked first.

        Args:
            plan: The plan.
            base: The folder against which its trainer's path counts.
            current: The window's own trainer.

        Raises:
            TrainerNotFound: The plan's own trainer is not there.
            InterpreterNotFound: It has no Python that could be found.
            TrainerBroken: It cannot train.
        """
        if _is_default(plan):
            return current
        install = choose_install(self._home, plan=plan, base=base)
        if current is not None and install == current.install:
            return current
        named = (plan.trainer, base)
        if named not in self._known or self._known[named].install != install:
            self._known[named] = open_trainer(self._home, install)
        return self._known[named]


def _is_default(plan: TrainingPlan) -> bool:
    return plan.trainer in ("", DEFAULT)
