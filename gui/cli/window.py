"""``window [PLAN]``, and the program without a command: opens the window."""

from __future__ import annotations

import argparse
from pathlib import Path

from gui.engine.displays import package_of, why_no_window
from gui.engine.errors import CannotRead, NoWindow
from gui.engine.paths import Home
from gui.engine.texts import _


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    parser.add_argument("plan", metavar="PLAN", nargs="?", help=_("a plan or list of arguments to open"))


def run(options: argparse.Namespace) -> int:
    """Open the window and stay until it is closed.

    Raises:
        NoWindow: There is no display, or Qt cannot be loaded.
        CannotRead: There is no such plan.
    """
    plan = Path(options.plan).absolute() if options.plan else None
    if plan is not None and not plan.is_file():
        raise CannotRead(plan, _("there is no such file"))
    reason = why_no_window()
    if reason is not None:
        raise NoWindow(reason)
    try:
        from gui.window.app import run_window
    except ImportError as error:
        raise NoWindow(_why(error)) from error
    return run_window(Home.find(options.home), plan, options.trainer, options.python)


def _why(error: ImportError) -> str:
    package = package_of(str(error))
    if package:
        return _("{reason}; on Debian and Ubuntu: {command}").format(
            reason=error, command=f"sudo apt-get install {package}"
        )
    if error.name and error.name.partition(".")[0] == "PySide6":
        return _("{reason}; install Kohya Preflight again, or add the package PySide6-Essentials").format(
            reason=error
        )
    return _("{reason}; install Kohya Preflight again").format(reason=error)
