"""Trains a LoRA: the practice trainer's door, with the arguments of the trainer that it stands in for.

All of that trainer's arguments are taken and judged by the same parser. Heeded are those about datasets
of image folders, captions, the LoRA's size, learning rates, optimizer, schedule, steps and epochs,
precision, saves, states, resuming, samples, validation, trackers and records. Those about the large
model's memory, speed and noise (attention, checkpointing, offloading, timestep tricks) change nothing
here: the model is a few hundred kilobytes, and every image is shrunk to 32 × 32.
"""

from __future__ import annotations

import argparse
import importlib.util
import logging
import sys

from library import arguments
from library.records import setup_logging

setup_logging()
logger = logging.getLogger(__name__)


def setup_parser() -> argparse.ArgumentParser:
    """Return the argument parser; needs nothing but the standard library."""
    return arguments.build_parser("train_network.py")


def main(parser: argparse.ArgumentParser, *, sdxl: bool = False) -> int:
    """Read the arguments and train.

    Args:
        parser: Of the script that was started.
        sdxl: Whether it is the one for SDXL.
    """
    args = arguments.read_config_file(parser, parser.parse_args())
    if importlib.util.find_spec("torch") is None:
        print(
            f"PyTorch is missing: the practice trainer trains for real and needs it; add it with "
            f'"{sys.executable}" -m pip install torch',
            file=sys.stderr,
        )
        return 1
    arguments.prepare_logging(args)
    arguments.verify(args)
    logger.info("Practice trainer: a small real training at 32 px; its files are no LoRA for a real model.")
    from library.families import SDXL, STABLE_DIFFUSION
    from library.network_trainer import NetworkTrainer

    NetworkTrainer(args, SDXL if sdxl else STABLE_DIFFUSION).train()
    return 0


if __name__ == "__main__":
    sys.exit(main(setup_parser()))
