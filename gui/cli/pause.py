"""``pause RUN``: pause a run: all its processes halt and keep their memory."""

from __future__ import annotations

import argparse

from gui.cli.asking import add_run_argument, ask_and_say, run_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    add_run_argument(parser)


def run(options: argparse.Namespace) -> int:
    """Ask and print the answer."""
    return ask_and_say(run_of(options), "pause")
