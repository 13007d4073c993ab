"""Runs the probe program in a trainer's Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gui.engine.resources import resource_path
from gui.engine.trainer.installs import TrainerInstall
from gui.engine.trainer.stage_run import Progress, StageRun

PROBE = ("trainer_probe", "probe.py")
PATIENCE_SECONDS = 240.0
"""How long one stage may take: a first import from a slow disk under a virus scanner takes minutes."""


class ProbeRun(StageRun):
    """One probing of one install."""

    def __init__(
        self,
        install: TrainerInstall,
        stages: Sequence[str],
        *,
        progress: Progress | None = None,
        cancelled: Callable[[], bool] | None = None,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        """Prepare a run.

        Args:
            install: What to probe.
            stages: Stages of the probe program in their order; a script's file name is one.
            progress: See ``Progress``.
            cancelled: Asked twenty times a second.
            patience: Seconds that one stage may take.
        """
        # Every script imports torch and would end in the same way.
        super().__init__(
            install,
            resource_path(*PROBE),
            stages,
            patience=patience,
            vital="torch",
            progress=progress,
            cancelled=cancelled,
        )
