"""Run folders as a supervisor leaves them, without a training."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gui.engine.paths import Home
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.records import Manifest
from gui.engine.runs.status import RunStatus, Verdict

DAY = 86400.0


def write_run(
    home: Home,
    name: str,
    *,
    verdict: str | None = "finished",
    reason: str = "",
    sentence: str = "",
    family: str = "sdxl",
    age_days: float = 1.0,
    practice: bool = False,
    status: Mapping[str, Any] | None = None,
) -> RunFolder:
    """Write a run.

    Args:
        home: Where.
        name: The plan's.
        verdict: How it ended; None for one that has not.
        reason: What decided it.
        sentence: The verdict's words.
        family: The plan's.
        age_days: How long ago it was launched.
        practice: Whether the practice trainer ran.
        status: More of its status.
    """
    started = time.time() - age_days * DAY
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(started))
    run = RunFolder(home.runs / f"{stamp}-{name}")
    run.path.mkdir(parents=True)
    values: dict[str, Any] = {"step": 1000, "total": 1000, "finite_loss": 0.112, "elapsed_seconds": 7800.0}
    values |= status or {}
    if verdict is not None:
        judged = {"step": values["step"], "total": values["total"], "loss": values["finite_loss"]}
        words = sentence or f"{verdict.capitalize()}: as the test wants it."
        values["verdict"] = Verdict(verdict=verdict, reason=reason, sentence=words, **judged)  # type: ignore[arg-type]
        values["state"] = "ended"
    RunStatus(schema=1, name=run.name, plan_name=name, practice=practice, **values).write(run.status)
    Manifest(
        schema=1,
        program="1",
        practice=practice,
        plan_name=name,
        created_at=started,
        trainer="trainers/sd-scripts",
    ).write(run.manifest)
    run.plan.write_text(f'schema = 1\nname = "{name}"\nfamily = "{family}"\nkind = "lora"\n')
    return run


def write_model(folder: Path, name: str, size: int = 4096) -> Path:
    """Write something of a size that bears a model's name."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(b"x" * size)
    return folder / name
