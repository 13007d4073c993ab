"""The training loop: steps, saves, samples and validation in the trainer's order."""

from __future__ import annotations

import argparse
import logging
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from networks.lora import LoRANetwork
from torch.utils.data import DataLoader

from library.checkpoints import Checkpoints, epoch_name, epoch_to_remove, last_name, step_name, step_to_remove
from library.dataset import Batch, DatasetGroup
from library.denoiser import TIMESTEPS
from library.losses import DenoisingLoss
from library.precision import Precision
from library.progress import Bar
from library.sampling import Sampler
from library.states import States
from library.tracking import LossRecorder, Tracker

logger = logging.getLogger(__name__)
VALIDATION_TIMESTEPS = 4


@dataclass
class Parts:
    """What the loop works with.

    Attributes:
        group: The trained images.
        loader: Their batches.
        validation_loader: The held out batches, may be empty.
        network: The LoRA.
        optimizer: Its optimizer.
        scheduler: The learning rate schedule.
        rate_names: What each of the optimizer's groups is called.
        loss: The loss of a batch.
        precision: How it is computed.
        checkpoints: The files.
        states: The states.
        sampler: The samples.
        tracker: The event file, if one is wanted.
        epochs: How many epochs the steps make.
    """

    group: DatasetGroup
    loader: DataLoader[Batch]
    validation_loader: DataLoader[Batch]
    network: LoRANetwork
    optimizer: Any
    scheduler: Any
    rate_names: list[str]
    loss: DenoisingLoss
    precision: Precision
    checkpoints: Checkpoints
    states: States
    sampler: Sampler
    tracker: Tracker | None
    epochs: int


class TrainingLoop:
    """Trains.

    Attributes:
        step: How many optimizer steps are done, as the files' names count.
    """

    def __init__(self, args: argparse.Namespace, parts: Parts) -> None:
        self._args = args
        self._parts = parts
        self._recorder = LossRecorder()
        self._validation_recorders = {
            "validation steps": LossRecorder(),
            "epoch validation steps": LossRecorder(),
        }
        self._validation_bar: Bar | None = None
        self._bar: Bar
        self._weights = [weight for group in parts.optimizer.param_groups for weight in group["params"]]
        self._norms: dict[str, float] = {}
        self._norm_figures: dict[str, float] = {}
        self.step = 0

    def run(self, first_epoch: int, skipped: int) -> None:
        """Train from an epoch (from 0) on, leaving out its first batches.

        The samples before the first step are drawn by the caller.
        """
        args, parts = self._args, self._parts
        self.step = skipped
        self._bar = Bar(args.max_train_steps - skipped, "steps")
        for epoch in range(first_epoch, parts.epochs):
            print(f"\nepoch {epoch + 1}/{parts.epochs}\n")
            parts.group.epoch.value = epoch + 1
            parts.network.train()
            self._epoch(epoch, skipped)
            skipped = 0
            self._end_epoch(epoch)
        self._end()

    def _epoch(self, epoch: int, skipped: int) -> None:
        accumulation = self._args.gradient_accumulation_steps
        count = len(self._parts.loader)
        for place, batch in enumerate(self._parts.loader):
            if place < skipped:
                continue
            # An epoch's last batches make a step even when they are too few.
            stepping = (place + 1) % accumulation == 0 or place + 1 == count
            self._batch(batch, epoch, place, stepping=stepping)
            if self.step >= self._args.max_train_steps:
                break

    def _batch(self, batch: Batch, epoch: int, place: int, *, stepping: bool) -> None:
        args, parts = self._args, self._parts
        loss = parts.loss(batch)
        parts.precision.backward(loss / args.gradient_accumulation_steps)
        if stepping:
            self._optimize()
            self._bar.update()
            self.step += 1
            self._after_step(epoch)
        current = float(loss.detach())
        self._recorder.add(epoch, place, current)
        average = self._recorder.moving_average
        self._bar.postfix(**self._norms, avr_loss=average)
        if parts.tracker:
            parts.tracker.log(self._figures(current, average), self.step)
        every = args.validate_every_n_steps
        if stepping and every is not None and self.step % every == 0:
            self._validate("validation steps", "val_avg_loss", "step", epoch, self.step)

    def _optimize(self) -> None:
        parts = self._parts
        if parts.precision.step(parts.optimizer, self._weights, self._args.max_grad_norm):
            parts.scheduler.step()
        parts.optimizer.zero_grad(set_to_none=True)
        if self._args.scale_weight_norms:
            scaled, mean, largest = parts.network.apply_max_norm(self._args.scale_weight_norms)
            self._norms = {"Keys Scaled": scaled, "Average key norm": mean}
            self._norm_figures = {
                "max_norm/keys_scaled": scaled,
                "max_norm/max_key_norm": largest,
                "norm/avg_key_norm": mean,
            }

    def _after_step(self, epoch: int) -> None:
        args, parts = self._args, self._parts
        self._sample(None)
        every = args.save_every_n_steps
        if every is not None and self.step % every == 0:
            with self._bar_paused():
                parts.checkpoints.save(step_name(args, self.step), self.step, epoch)
                if args.save_state:
                    parts.states.at_step(self.step, epoch + 1)
                old = step_to_remove(self.step, every, args.save_last_n_steps)
                if old is not None:
                    parts.checkpoints.remove(step_name(args, old))

    @contextmanager
    def _bar_paused(self) -> Iterator[None]:
        self._bar.pause()
        yield
        self._bar.go_on()

    def _sample(self, epoch: int | None) -> None:
        if self._parts.sampler.wanted(self.step, epoch):
            self._parts.network.eval()
            with self._bar_paused():
                self._parts.sampler.draw_all(self.step, epoch)
            self._parts.network.train()

    def _figures(self, current: float, average: float) -> dict[str, float]:
        figures = {"loss/current": current, "loss/average": average}
        figures |= self._norm_figures
        rates = self._parts.scheduler.get_last_lr()
        figures |= {f"lr/{name}": rate for name, rate in zip(self._parts.rate_names, rates, strict=True)}
        first = 0
        if not self._args.network_train_unet_only:
            figures["lr/textencoder"] = rates[0]
            first = 1
        return figures | {f"lr/group{number}": rates[number] for number in range(first, len(rates))}

    def _end_epoch(self, epoch: int) -> None:
        args, parts = self._args, self._parts
        number = epoch + 1
        every = args.validate_every_n_epochs
        if every is None or number % every == 0:
            self._validate("epoch validation steps", "val_epoch_avg_loss", "epoch", epoch, number)
        if parts.tracker:
            parts.tracker.log({"loss/epoch_average": self._recorder.moving_average}, number)
        every = args.save_every_n_epochs
        if every is not None and number % every == 0 and number < parts.epochs:
            with self._bar_paused():
                parts.checkpoints.save(epoch_name(args, number), self.step, number)
                old = epoch_to_remove(number, every, args.save_last_n_epochs)
                if old is not None:
                    parts.checkpoints.remove(epoch_name(args, old))
                if args.save_state:
                    parts.states.at_epoch(number, self.step)
        self._sample(number)

    def _validate(self, name: str, postfix: str, kind: str, epoch: int, x: int) -> None:
        """Run the held out images through the model at fixed timesteps, under a bar of its own.

        The bar before is closed only when the new one stands, as it is with the trainer.
        """
        args, parts = self._args, self._parts
        batches = len(parts.validation_loader)
        if args.max_validation_steps is not None:
            batches = min(batches, args.max_validation_steps)
        if not batches:
            return
        recorder = self._validation_recorders[name]
        parts.network.eval()
        with self._bar_paused(), self._other_random_numbers():
            bar = Bar(batches * VALIDATION_TIMESTEPS, name)
            if self._validation_bar:
                self._validation_bar.close()
            self._validation_bar = bar
            place = 0
            for batch, _ in zip(parts.validation_loader, range(batches), strict=False):
                for timestep in self._validation_timesteps():
                    with torch.no_grad():
                        loss = float(parts.loss(batch, timestep))
                    recorder.add(epoch, place, loss)
                    bar.update()
                    bar.postfix(**{postfix: recorder.moving_average, "timestep": timestep})
                    place += 1
        parts.network.train()
        if parts.tracker:
            average = recorder.moving_average
            figures = {"average": average, "divergence": average - self._recorder.moving_average}
            parts.tracker.log({f"loss/validation/{kind}_{key}": value for key, value in figures.items()}, x)

    def _validation_timesteps(self) -> list[int]:
        lowest, highest = self._args.min_timestep or 0, self._args.max_timestep or TIMESTEPS
        return [int(t) for t in np.linspace(lowest, highest, VALIDATION_TIMESTEPS + 2, dtype=int)[1:-1]]

    @contextmanager
    def _other_random_numbers(self) -> Iterator[None]:
        """Use the validation's own random numbers, so that the training's go on as if nothing had been."""
        state = torch.get_rng_state(), random.getstate()
        seed = self._args.validation_seed
        torch.manual_seed(self._args.seed if seed is None else seed)
        random.seed(self._args.seed if seed is None else seed)
        yield
        torch.set_rng_state(state[0])
        random.setstate(state[1])

    def _end(self) -> None:
        args, parts = self._args, self._parts
        if parts.tracker:
            parts.tracker.close()
        with self._bar_paused():
            if args.save_state or args.save_state_on_train_end:
                parts.states.at_end(parts.epochs, self.step)
            parts.checkpoints.save(last_name(args), self.step, parts.epochs)
        logger.info("model saved.")
