"""PLAN on the command line: a plan file, or anything else that can be read as one."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gui.engine.documents import decode_text
from gui.engine.errors import CannotRead, WrongUsage
from gui.engine.importers.reading import PlanInput, read_setup, read_setup_text
from gui.engine.plan.plan_file import LARGEST_PLAN_BYTES
from gui.engine.texts import _
from gui.engine.trainer.catalogue import Catalogue

STDIN = "-"


def add_plan_arguments(parser: argparse.ArgumentParser) -> None:
    """Add PLAN and what reading it may need."""
    parser.add_argument("plan", metavar="PLAN", help=_("the plan file, or anything that “import” reads"))
    add_script_argument(parser)


def add_script_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the script where a file does not."""
    parser.add_argument("--script", metavar="NAME", help=_("the training script, where the file names none"))


def plan_of(options: argparse.Namespace) -> PlanInput:
    """Read the plan that was given; see ``read_setup``. A dash reads the standard input."""
    if options.plan != STDIN:
        return read_setup(Path(options.plan), options.script, Catalogue.bundled())
    name = Path(_("the standard input"))
    content = sys.stdin.buffer.read(LARGEST_PLAN_BYTES + 1)
    if len(content) > LARGEST_PLAN_BYTES:
        raise CannotRead(name, _("it is too large for what it should be"))
    return read_setup_text(decode_text(content, name), options.script, Catalogue.bundled())


def add_overwrite_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option without which ``require_free`` refuses."""
    parser.add_argument("--overwrite", action="store_true", help=_("replace a file that is there"))


def require_free(path: Path, overwrite: bool) -> None:
    """Refuse to write over what is there, unless that was asked for.

    Raises:
        WrongUsage: Something is there.
    """
    if not overwrite and (path.exists() or path.is_symlink()):
        raise WrongUsage(_("{path} already exists; --overwrite replaces it.").format(path=path))
