"""``schedule``: what the queue's scheduler process executes; not meant to be called by hand."""

from __future__ import annotations

import argparse

from gui.cli.context import home
from gui.engine.runs.queue_session import schedule
from gui.engine.runs.queue_store import QueueStore


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command: there are none."""


def run(options: argparse.Namespace) -> int:
    """Schedule until there is nothing more to do."""
    schedule(QueueStore(home(options)))
    return 0
