"""What a run was launched with: read back from the command and the dataset file in its folder."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gui.engine.documents import read_text
from gui.engine.errors import PreflightError
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.records import CommandRecord

_OWN_RATE = ("prodigy", "dadapt", "schedulefree")
"""In the names of optimizers that find their rate themselves."""


@dataclass(frozen=True)
class LaunchedSettings:
    """The values that the trainer was given, presets included.

    Attributes:
        script: The training script.
        arguments: Argument to its words; none for a flag.
        dataset: Options of the dataset file's first dataset, over its ``general`` ones.
        resumed: Whether the training went on from a saved state.
    """

    script: str = ""
    arguments: Mapping[str, Sequence[str]] = field(default_factory=dict)
    dataset: Mapping[str, Any] = field(default_factory=dict)
    resumed: bool = False

    def text(self, name: str) -> str:
        """Return the argument's first word, empty without one."""
        words = self.arguments.get(name, ())
        return words[0] if words else ""

    def flag(self, name: str) -> bool:
        """Whether the argument was given."""
        return name in self.arguments

    def number(self, name: str) -> float | None:
        """Return the argument, else the dataset's option of that name, as a number; None without one."""
        try:
            value = float(self.text(name) or self.dataset.get(name, ""))
        except (TypeError, ValueError):
            return None
        return value if math.isfinite(value) else None

    @property
    def precision(self) -> str:
        """``fp16``, ``bf16`` or ``no``."""
        return self.text("mixed_precision") or "no"

    @property
    def optimizer(self) -> str:
        """The optimizer's name in small letters (train_util.py:4829-4846)."""
        old = "adamw8bit" if self.flag("use_8bit_adam") else "adamw"
        return (self.text("optimizer_type") or old).lower()

    @property
    def rate(self) -> float | None:
        """The model's learning rate; None where the optimizer finds its own, or none was given."""
        if any(part in self.optimizer for part in _OWN_RATE):
            return None
        rate = self.number("unet_lr")
        return self.number("learning_rate") if rate is None else rate

    @property
    def warmup_steps(self) -> int:
        """Steps in which the rate rises; a share of the whole counts when ``max_train_steps`` is known."""
        value = self.number("lr_warmup_steps") or 0.0
        if 0 < value < 1:
            value *= self.number("max_train_steps") or 0.0
        return int(value)


def launched_settings(run: RunFolder) -> LaunchedSettings:
    """Read what a run was launched with; what cannot be read is left out."""
    try:
        command = CommandRecord.read(run.command)
    except PreflightError:
        return LaunchedSettings()
    return LaunchedSettings(
        script=command.script,
        arguments=arguments_of(command.argv),
        dataset=_dataset(run),
        resumed=command.resumed,
    )


def arguments_of(argv: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the words after each argument of a command line, none for a flag."""
    found: dict[str, tuple[str, ...]] = {}
    name: str | None = None
    for word in argv:
        if word.startswith("--") and len(word) > 2:
            name, equals, value = word[2:].partition("=")
            found[name] = (value,) if equals else ()
        elif name is not None:
            found[name] = (*found[name], word)
    return found


def _dataset(run: RunFolder) -> dict[str, Any]:
    try:
        data = tomllib.loads(read_text(run.dataset))
    except (PreflightError, ValueError, RecursionError):
        return {}
    general, datasets = data.get("general"), data.get("datasets")
    first = datasets[0] if isinstance(datasets, list) and datasets else {}
    return {**(general if isinstance(general, dict) else {}), **(first if isinstance(first, dict) else {})}
