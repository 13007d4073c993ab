"""What is remembered of the losses, and what goes into the event file."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Mapping
from pathlib import Path

from tensorboard import EventFileWriter


class LossRecorder:
    """The moving mean over one epoch of batches.

    A running sum is kept and the old value taken off it, so one NaN stays in it for ever: NaN minus
    NaN is NaN.
    """

    def __init__(self) -> None:
        self._losses: list[float] = []
        self._sum = 0.0

    def add(self, epoch: int, place: int, loss: float) -> None:
        """Take in the loss of a batch: its epoch from 0 and its place in the epoch."""
        if epoch == 0:
            self._losses.append(loss)
        else:
            self._losses += [0.0] * (place + 1 - len(self._losses))
            self._sum -= self._losses[place]
            self._losses[place] = loss
        self._sum += loss

    @property
    def moving_average(self) -> float:
        """The mean."""
        return self._sum / len(self._losses) if self._losses else 0


class Tracker:
    """The run's event file; flushed after each entry."""

    def __init__(self, folder: Path) -> None:
        self._writer = EventFileWriter(folder)

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Write figures at a step or, for those of an epoch, at its number."""
        for tag, value in values.items():
            self._writer.add_scalar(tag, value, step)
        self._writer.flush()

    def close(self) -> None:
        """End the file."""
        self._writer.close()


def logging_folder(args: argparse.Namespace) -> Path | None:
    """Return the folder of this run's trackers, None where none is wanted.

    Raises:
        ValueError: TensorBoard is wanted and no folder is given.
        ImportError: Weights & Biases is wanted and not installed.
    """
    if args.log_with in ("tensorboard", "all") and args.logging_dir is None:
        raise ValueError(
            "logging_dir is required when log_with is tensorboard / "
            "Tensorboardを使う場合、logging_dirを指定してください"
        )
    if args.log_with in ("wandb", "all"):
        raise ImportError("No wandb / wandb がインストールされていないようです")
    if args.logging_dir is None:
        return None
    return Path(args.logging_dir, (args.log_prefix or "") + time.strftime("%Y%m%d%H%M%S"))


def make_tracker(args: argparse.Namespace, folder: Path | None) -> Tracker | None:
    """Open the event file, if one is wanted."""
    return Tracker(Path(os.fspath(folder), args.log_tracker_name or "network_train")) if folder else None
