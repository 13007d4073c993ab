"""PLAN on the command line: a plan file, or a list of arguments."""

from __future__ import annotations

import argparse
from pathlib import Path

from gui.engine.importers.reading import PlanInput, read_setup
from gui.engine.texts import _
from gui.engine.trainer.catalogue import Catalogue


def add_plan_arguments(parser: argparse.ArgumentParser) -> None:
    """Add PLAN and what reading it may need."""
    parser.add_argument("plan", metavar="PLAN", help=_("the plan file, or a list of arguments"))
    parser.add_argument("--script", metavar="NAME", help=_("the training script of a list of arguments"))


def plan_of(options: argparse.Namespace) -> PlanInput:
    """Read the plan that was given; see ``read_setup``."""
    return read_setup(Path(options.plan), options.script, Catalogue.bundled())
