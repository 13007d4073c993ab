"""Reads the bootstrap's command line: set up what is needed, then do what was asked."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from gui.engine.displays import has_display
from gui.engine.texts import _
from house.checks import run_checks
from house.environment import Environment, ensure
from house.parts import PROGRAM, TOOLS, TORCH
from house.sample import run_program, train_sample, working_trainer
from house.system import look_after_libraries
from house.trouble import Trouble

HOME_VARIABLE = "KOHYA_PREFLIGHT_HOME"
PROJECT = Path(__file__).resolve().parents[2]


def main(arguments: Sequence[str]) -> int:
    """Run one command and return the exit status."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")
    options, extra = _parser().parse_known_args(arguments)
    if extra and options.command != "test":
        _parser().error(_("unknown: {words}").format(words=" ".join(extra)))
    if os.environ.get(HOME_VARIABLE):
        # Children work in another folder.
        os.environ[HOME_VARIABLE] = str(Path(os.environ[HOME_VARIABLE]).expanduser().absolute())
    environment = Environment(PROJECT)
    try:
        return _do(options, [word for word in extra if word != "--"], environment)
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return trouble.status
    except KeyboardInterrupt:
        print(_("Interrupted; start the same command again to go on."), file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bootstrap.py",
        allow_abbrev=False,
        description=_("Sets Kohya Preflight up in this folder (.venv) and starts it. Safe to repeat."),
    )
    parser.add_argument(
        "command",
        choices=("run", "test", "setup"),
        help=_(
            "run: open the window; test: all checks and tests (more words go to pytest); setup: only set up"
        ),
    )
    parser.add_argument(
        "--light", action="store_true", help=_("without torch, so without the practice trainer")
    )
    parser.add_argument(
        "--terminal",
        action="store_true",
        help=_("run: train the bundled sample in this terminal instead, as without a display"),
    )
    return parser


def _do(options: argparse.Namespace, extra: list[str], environment: Environment) -> int:
    first_time = not environment.installed()
    base = [PROGRAM] if options.command == "run" else [PROGRAM, TOOLS]
    if options.command == "run" or options.light:
        ensure(environment, base, say)
    else:
        ensure(environment, [*base, TORCH], say)
    look_after_libraries(say, environment.folder / "bootstrap-apt.log", fonts=first_time)
    if options.command == "test":
        return run_checks(environment.python, environment.project, extra, say)
    if options.command == "run":
        return _run(options, environment)
    say(_("All is set up in {folder}.").format(folder=environment.folder))
    return 0


def _run(options: argparse.Namespace, environment: Environment) -> int:
    """Open the window; on demand, or without a display, train the sample in the terminal."""
    if has_display() and not options.terminal:
        return run_program(environment, ["window"])
    python = None
    if not options.light and TORCH not in environment.installed():
        python = working_trainer(environment, say)
        if python is None:
            ensure(environment, [PROGRAM, TORCH], say)
    return train_sample(environment, python, say)


def say(text: str) -> None:
    """Tell the person something, at once, in the order of what children print."""
    print(text, flush=True)
