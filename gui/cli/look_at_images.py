"""``look-at-images``: what the processes of a dataset scan execute; not meant to be called by hand."""

from __future__ import annotations

import argparse

from gui.engine.dataset import worker


def add_arguments(_parser: argparse.ArgumentParser) -> None:
    """There are none: what to look at comes through standard input."""


def run(_options: argparse.Namespace) -> int:
    """Look at images until standard input ends."""
    return worker.main()
