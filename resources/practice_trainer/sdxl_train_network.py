"""Trains a LoRA with the arguments and checks of the script for SDXL; the model is the same small one."""

from __future__ import annotations

import argparse
import sys

from library import arguments
from train_network import main


def setup_parser() -> argparse.ArgumentParser:
    """Return the argument parser; needs nothing but the standard library."""
    return arguments.build_parser("sdxl_train_network.py")


if __name__ == "__main__":
    sys.exit(main(setup_parser(), sdxl=True))
