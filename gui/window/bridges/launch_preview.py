"""What a launch of the plan would be: the exact command in three shells, and how long it may take."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from gui.engine.errors import PlanNotRunnable, PreflightError
from gui.engine.hardware.visible import lasting_names
from gui.engine.paths import Home
from gui.engine.runs.earlier import earlier_pace
from gui.engine.runs.folder import safe_name
from gui.engine.token_store import TokenStore
from gui.engine.trainer.command import build_command
from gui.engine.trainer.preview import preview
from gui.engine.trainer.quoting import SHELLS, Shell
from gui.window.bridges.plan_check import PlanCheck


@dataclass(frozen=True)
class LaunchPreview:
    """What would be launched.

    Attributes:
        texts: Shell to command; empty when none can be made.
        reason: Why none can be made.
        seconds_per_step: As an earlier run of the same kind on this machine had it; None without one.
        like: That run's name.
    """

    texts: dict[Shell, str] = field(default_factory=dict)
    reason: str = ""
    seconds_per_step: float | None = None
    like: str = ""


def launch_preview(check: PlanCheck, home: Home, store: TokenStore) -> LaunchPreview | None:
    """Return what a plan would be launched as; for a thread.

    Args:
        check: The plan and what is known.
        home: Where runs are kept.
        store: Knows which tokens are kept.

    Returns:
        None without a trainer.
    """
    try:
        trainer = check.trainers.of(check.plan, check.base, check.current)
        if trainer is None:
            return None
        # The folder is made at launch and bears its time; until then a placeholder stands for it.
        folder = home.runs / f"YYYYMMDD-HHMMSS-{safe_name(check.plan.name)}"
        command = build_command(
            check.plan,
            check.base,
            trainer.install,
            trainer.facts,
            trainer.catalogue,
            folder,
            tokens=store.for_preview({**os.environ, **check.plan.launch.env}),
            gpu_uuids=lasting_names(check.machine.gpu or ()),
            library=check.library,
        )
        texts = {shell: preview(command, shell, folder).rstrip() for shell in SHELLS}
    except PlanNotRunnable as refusal:
        return LaunchPreview(reason=refusal.findings[0].title)
    except PreflightError as error:
        return LaunchPreview(reason=str(error))
    pace = earlier_pace(home, command, [gpu.name for gpu in trainer.facts.gpus])
    if pace is None:
        return LaunchPreview(texts)
    return LaunchPreview(texts, seconds_per_step=pace.seconds_per_step, like=pace.run)
