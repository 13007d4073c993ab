"""Writes the run's files under the trainer's names, and removes old ones where that is asked for."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import torch
from networks.lora import LoRANetwork

from library.metadata import MINIMUM, modelspec


def step_name(args: argparse.Namespace, step: int) -> str:
    """Return the name of a file or, with ``-state`` behind it, of a state saved at a step."""
    return f"{args.output_name or 'at'}-step{step:08d}"


def epoch_name(args: argparse.Namespace, epoch: int) -> str:
    """Return the name for an epoch."""
    return f"{args.output_name or 'epoch'}-{epoch:06d}"


def last_name(args: argparse.Namespace) -> str:
    """Return the name for the end of the training."""
    return args.output_name or "last"


def step_to_remove(step: int, every: int, last: int | None) -> int | None:
    """Return the step whose file is no longer one of the last ones."""
    if last is None:
        return None
    old = step - last - 1
    old -= old % every
    return old if old >= 0 else None


def epoch_to_remove(epoch: int, every: int, last: int | None) -> int | None:
    """Return the epoch whose file is no longer one of the last ones."""
    if last is None:
        return None
    old = epoch - every * last
    return old if old >= 0 else None


class Checkpoints:
    """The files of one run.

    Attributes:
        metadata: What is written into each; changed at every save.
    """

    def __init__(
        self,
        args: argparse.Namespace,
        network: LoRANetwork,
        metadata: dict[str, str],
        dtype: torch.dtype | None,
    ) -> None:
        self._args = args
        self._network = network
        self._dtype = dtype
        self.metadata = metadata

    def save(self, name: str, step: int, epoch: int) -> None:
        """Write the LoRA as it is now; the announcement comes before the writing.

        Raises:
            TypeError: There is no output folder; nobody looked before.
            SafetensorError: The disk is full; a cut file stays behind.
        """
        folder = Path(self._args.output_dir)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.{self._args.save_model_as}"
        print(f"\nsaving checkpoint: {path}")
        self.metadata["ss_training_finished_at"] = str(time.time())
        self.metadata["ss_steps"] = str(step)
        self.metadata["ss_epoch"] = str(epoch)
        kept = self.metadata
        if self._args.no_metadata:
            kept = {key: value for key, value in self.metadata.items() if key in MINIMUM}
        self._network.save_weights(path, self._dtype, kept | modelspec(self._args))

    def remove(self, name: str) -> None:
        """Remove an old file, if it is there."""
        path = Path(self._args.output_dir) / f"{name}.{self._args.save_model_as}"
        if path.exists():
            print(f"removing old checkpoint: {path}")
            path.unlink()
