"""States: everything that is needed to go on later, as a folder."""

from __future__ import annotations

import argparse
import json
import logging
import shutil
from pathlib import Path
from typing import Any

import torch
from networks.lora import LoRANetwork

from library.checkpoints import epoch_name, epoch_to_remove, last_name, step_name, step_to_remove
from library.precision import Precision
from library.weights import load_weights, save_weights

logger = logging.getLogger(__name__)
TRAIN_STATE = "train_state.json"


class States:
    """Saves and loads the states of one run."""

    def __init__(
        self,
        args: argparse.Namespace,
        network: LoRANetwork,
        optimizer: Any,
        scheduler: Any,
        precision: Precision,
    ) -> None:
        self._args = args
        self._network = network
        self._optimizer = optimizer
        self._scheduler = scheduler
        self._precision = precision

    def at_step(self, step: int, epoch: int) -> None:
        """Save after a step, and remove the state that is no longer one of the last ones."""
        args = self._args
        logger.info("")
        logger.info(f"saving state at step {step}")
        self._write(f"{step_name(args, step)}-state", epoch, step)
        last = args.save_last_n_steps_state or args.save_last_n_steps
        old = step_to_remove(step, args.save_every_n_steps, last)
        if old:
            self._remove(f"{step_name(args, old)}-state")

    def at_epoch(self, epoch: int, step: int) -> None:
        """Save at the end of an epoch, and remove the state that is no longer one of the last ones."""
        args = self._args
        logger.info("")
        logger.info(f"saving state at epoch {epoch}")
        self._write(f"{epoch_name(args, epoch)}-state", epoch, step)
        last = args.save_last_n_epochs_state or args.save_last_n_epochs
        old = epoch_to_remove(epoch, args.save_every_n_epochs, last)
        if old is not None:
            self._remove(f"{epoch_name(args, old)}-state")

    def at_end(self, epoch: int, step: int) -> None:
        """Save at the end of the training."""
        logger.info("")
        logger.info("saving last state.")
        self._write(f"{last_name(self._args)}-state", epoch, step)

    def _remove(self, name: str) -> None:
        folder = Path(self._args.output_dir) / name
        if folder.exists():
            logger.info(f"removing old state: {folder}")
            shutil.rmtree(folder)

    def _write(self, name: str, epoch: int, step: int) -> None:
        folder = Path(self._args.output_dir) / name
        folder.mkdir(parents=True, exist_ok=True)
        logger.info(f"Saving current state to {folder}")
        logger.info(f"save train state to {folder / TRAIN_STATE} at epoch {epoch} step {step}")
        (folder / TRAIN_STATE).write_text(json.dumps({"current_epoch": epoch, "current_step": step}), "utf-8")
        weights = {name: tensor.contiguous() for name, tensor in self._network.state_dict().items()}
        save_weights(folder / "model.safetensors", weights)
        logger.info(f"Model weights saved in {folder / 'model.safetensors'}")
        torch.save(self._optimizer.state_dict(), folder / "optimizer.bin")
        logger.info(f"Optimizer state saved in {folder / 'optimizer.bin'}")
        torch.save(self._scheduler.state_dict(), folder / "scheduler.bin")
        logger.info(f"Scheduler state saved in {folder / 'scheduler.bin'}")
        if self._precision.scaler.is_enabled():
            torch.save(self._precision.scaler.state_dict(), folder / "scaler.pt")
            logger.info(f"Gradient scaler state saved in {folder / 'scaler.pt'}")
        # Tensors only, for all its name: nothing here is ever read as a pickle of objects.
        torch.save({"torch": torch.get_rng_state()}, folder / "random_states_0.pkl")
        logger.info(f"Random states saved in {folder / 'random_states_0.pkl'}")

    def load(self, folder: Path) -> int | None:
        """Take a state over; return its step, None when the state does not tell.

        Raises:
            ValueError: The folder is not there.
        """
        logger.info(f"resume training from local state: {folder}")
        logger.info(f"Loading states from {folder}")
        if not folder.is_dir():
            raise ValueError(f"Tried to find {folder} but folder does not exist")
        step = None
        train_state = folder / TRAIN_STATE
        if train_state.exists():
            data = json.loads(train_state.read_text("utf-8"))
            step = int(data["current_step"])
            logger.info(f"load train state from {train_state}: {data}")
        self._network.load_state_dict(load_weights(folder / "model.safetensors"))
        logger.info("All model weights loaded successfully")
        self._optimizer.load_state_dict(self._read(folder / "optimizer.bin"))
        logger.info("All optimizer states loaded successfully")
        self._scheduler.load_state_dict(self._read(folder / "scheduler.bin"))
        logger.info("All scheduler states loaded successfully")
        if self._precision.scaler.is_enabled() and (folder / "scaler.pt").exists():
            self._precision.scaler.load_state_dict(self._read(folder / "scaler.pt"))
            logger.info("GradScaler state loaded successfully")
        torch.set_rng_state(self._read(folder / "random_states_0.pkl")["torch"])
        logger.info("All random states loaded successfully")
        return step

    @staticmethod
    def _read(path: Path) -> Any:
        return torch.load(path, map_location="cpu", weights_only=True)
