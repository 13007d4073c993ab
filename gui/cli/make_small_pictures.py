"""``make-small-pictures``: what the processes for pictures execute; not meant to be called by hand."""

from __future__ import annotations

import argparse

from gui.engine.dataset.small_picture import prepare, work
from gui.engine.dataset.worker import serve


def add_arguments(_parser: argparse.ArgumentParser) -> None:
    """There are none: wishes come through standard input."""


def run(_options: argparse.Namespace) -> int:
    """Make pictures until standard input ends."""
    return serve(prepare, work)
