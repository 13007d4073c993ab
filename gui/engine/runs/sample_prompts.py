"""What a run's samples are drawn from: the prompts as the trainer numbers them."""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gui.engine.documents import read_text
from gui.engine.errors import PreflightError
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.launched import launched_settings
from gui.engine.runs.records import CommandRecord

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
    """Read the prompts of a file as the trainer does (train_util.py:6329-6341)."""
    try:
        text = read_text(path)
        kind = path.suffix.lower()
        if kind == ".toml":
            found = _of_toml(tomllib.loads(text))
        elif kind == ".json":
            found = json.loads(text)
        else:
            lines = (line.strip() for line in text.splitlines())
            found = [line for line in lines if line and not line.startswith("#")]
    except (PreflightError, ValueError, RecursionError):
        return ()
    return tuple(_words(prompt) for prompt in found) if isinstance(found, list) else ()


def _of_toml(data: dict[str, Any]) -> list[Any]:
    prompt = data.get("prompt")
    if not isinstance(prompt, dict) or not isinstance(prompt.get("subset"), list):
        return []
    return [{**prompt, **subset} for subset in prompt["subset"] if isinstance(subset, dict)]


def _words(prompt: Any) -> str:
    text = prompt.get("prompt", "") if isinstance(prompt, dict) else prompt
    return text[:MOST_CHARACTERS] if isinstance(text, str) else ""
