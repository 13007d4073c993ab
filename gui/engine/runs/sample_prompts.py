"""What a run's samples are drawn from: the prompts as the trainer numbers them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from gui.engine.documents import read_text
from gui.engine.errors import PreflightError
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.launched import launched_settings
from gui.engine.runs.records import CommandRecord
from gui.engine.trainer.prompt_file import read_prompts

MOST_CHARACTERS = 2000


@dataclass(frozen=True)
class SamplePlan:
    """What is known about a run's samples.

    Attributes:
        output_name: What their names begin with.
        wanted: Whether the run draws any.
        prompts: In the trainer's order.
    """

    output_name: str | None = None
    wanted: bool = False
    prompts: tuple[str, ...] = ()

    def prompt(self, number: int | None) -> str:
        """Return a prompt by its number from 0; "" where it is not known."""
        return self.prompts[number] if number is not None and 0 <= number < len(self.prompts) else ""


def sample_plan(run: RunFolder) -> SamplePlan:
    """Read what a run's samples are drawn from; what cannot be read is left out."""
    settings = launched_settings(run)
    try:
        command = CommandRecord.read(run.command)
    except PreflightError:
        return SamplePlan()
    name = command.output_name
    base = None if name is None else os.path.basename(name)  # noqa: PTH119 -- a name may end in a slash
    file = settings.text("sample_prompts")
    when = ("sample_every_n_steps", "sample_every_n_epochs", "sample_at_first")
    wanted = bool(file) and any(settings.flag(name) for name in when)
    return SamplePlan(base, wanted, _prompts(command.cwd / file) if file else ())


def _prompts(path: Path) -> tuple[str, ...]:
    try:
        found = read_prompts(read_text(path), path.suffix)
    except (PreflightError, ValueError, RecursionError):
        return ()
    return tuple(prompt.text[:MOST_CHARACTERS] for prompt in found)
