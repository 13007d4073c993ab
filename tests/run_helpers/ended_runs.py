"""Folders of runs that are over, as a supervisor leaves them: with files, a verdict, and what was said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from acting import weights
from run_helper import make_run

from gui.engine.runs.folder import RunFolder
from gui.engine.runs.journal import Lines
from gui.engine.runs.status import Cause, FileNow, RunStatus, Verdict
from gui.engine.trainer.events import LossNonfinite, Setting

LORA = ("--network_module", "networks.lora", "--optimizer_type", "AdamW", "--max_train_steps", "1000")
PLAN = """
schema = 1
name = "mira"
family = "sd15"
[arguments]
unet_lr = {rate}
max_train_steps = 1000
mixed_precision = "{precision}"
"""


def ended(
    tmp_path: Path,
    reason: str = "guard",
    *,
    word: Any = "stopped",
    step: int | None = 507,
    files: tuple[tuple[int, str], ...] = ((400, "clean"),),
    rate: str = "0.0004",
    precision: str = "no",
    words: tuple[str, ...] = (),
    causes: tuple[str, ...] = (),
    more: list[Any] | None = None,
    **status: Any,
) -> RunFolder:
    """Write the folder of a run that is over."""
    own = ("--unet_lr", rate, "--mixed_precision", precision, *words)
    run, _order = make_run(tmp_path, "", words=(*LORA, *own))
    run.plan.write_text(PLAN.format(rate=rate, precision=precision), "utf-8")
    broke = [LossNonfinite(step=step, value=float("nan"), t=9.0)] if step else []
    lines = Lines(run.events)
    for event in (
        Setting(name="num batches per epoch", value=50, t=1.0),
        Setting(name="total optimization steps", value=1000, t=1.0),
        *broke,
        *(more or []),
    ):
        lines.add(event)
    lines.close()
    saved = []
    for number, judgement in files:
        path = tmp_path / "out" / f"lora-step{number:08d}.safetensors"
        path.write_bytes(weights())
        saved.append(
            FileNow(path=path, kind="model", complete=True, size=1, step=number, judgement=judgement)
        )
    found = tuple(Cause(id=each, title=each) for each in causes)
    verdict = Verdict(verdict=word, reason=reason, sentence="So it ended.", causes=found, step=507)
    RunStatus(
        name=run.name,
        state="ended",
        verdict=verdict,
        first_nonfinite_step=step,
        files=status.pop("files_now", tuple(saved)),
        **status,
    ).write(run.status)
    return run
