"""Reads the command line and hands over to one sub-command; only that one is imported.

A sub-command is a module of this package with ``add_arguments(parser)`` and
``run(options) -> int``, the exit status: 0 fine, 1 the answer is "no", 2 used wrongly or the
input cannot be read.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from gui import __version__
from gui.cli.streams import discard_output, open_closed_streams, speak_utf8
from gui.engine.errors import PreflightError
from gui.engine.paths import Home
from gui.engine.texts import _, use_language

COMMON = ("--trainer", "--python", "--home")

ABOUT_RUNS = frozenset({"run", "recover", "retry", "attach", "stop", "pause", "resume", "runs"})
"""These also see to it that the queue goes on, as after a restart of the machine."""


@dataclass(frozen=True)
class Command:
    """One sub-command: its module in this package and what it does, for the overview."""

    module: str
    summary: str


def commands() -> dict[str, Command]:
    """Return all sub-commands by name, in the order of the overview."""
    return {
        "window": Command("window", _("open the window; so does no command at all")),
        "check": Command("check", _("check a plan before it is launched")),
        "estimate": Command("estimate", _("forecast GPU memory, disk and time of a plan")),
        "fix": Command("fix", _("apply fixes to a plan")),
        "command": Command("command", _("show the exact command line that would run")),
        "import": Command("importing", _("make a plan of what other programs write")),
        "export": Command("exporting", _("write a plan for other programs")),
        "run": Command("run", _("launch a plan under supervision and show its progress")),
        "rehearse": Command("rehearse", _("train a plan for a few steps to see whether it would go well")),
        "recover": Command("recover", _("say what to try after a run went wrong, and make or launch it")),
        "retry": Command("retry", _("make the plan that would fit after the GPU's memory ran out")),
        "attach": Command("attach", _("watch a run, and take it over when nothing supervises it")),
        "stop": Command("stop", _("stop a run, at once or after its next save")),
        "pause": Command("pause", _("pause a run")),
        "resume": Command("resume", _("go on with a paused run")),
        "runs": Command("runs", _("list the runs on this machine")),
        "note": Command("note", _("tag a run, give it a star, write a note about it")),
        "queue": Command("queue", _("plans in a row on each GPU: add, order, pause, go on")),
        "parse": Command("parse", _("turn raw trainer output into events")),
        "diagnose": Command("diagnose", _("say what went wrong, by which lines, and what to do")),
        "compare": Command("compare", _("put runs side by side: what differs, and how each went")),
        "report": Command("report", _("make a zip for those who help: no names, no tokens in it")),
        "dataset": Command("dataset", _("the dataset doctor: what the trainer will really see")),
        "caption": Command(
            "caption", _("have captions made by the trainer’s captioners, and see them first")
        ),
        "checkpoints": Command("checkpoints", _("look into saved files: complete, finite, grown?")),
        "trainer": Command("trainer", _("find and examine sd-scripts installs")),
        "presets": Command("presets", _("list presets, and show what they compose to")),
        "families": Command("families", _("list the model families and what each can do")),
        "memory": Command("memory", _("show or forget what runs have taught about the memory of GPUs")),
        "rules": Command("rules", _("list what is checked")),
        "schema": Command("schema", _("print the JSON schema of a document")),
        "supervise": Command("supervise", ""),
        "schedule": Command("schedule", ""),
        "look-at-images": Command("look_at_images", ""),
        "make-small-pictures": Command("make_small_pictures", ""),
    }


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line; the usage is one ``--help`` away."""

    def error(self, message: str) -> NoReturn:
        self.exit(
            2, _("{program}: {message} (see {program} --help)\n").format(program=self.prog, message=message)
        )


def _common_options() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    group = common.add_argument_group(_("everywhere"))
    group.add_argument("--trainer", metavar="DIR", help=_("the sd-scripts install to use"))
    group.add_argument("--python", metavar="EXE", help=_("the Python of that install"))
    group.add_argument("--home", metavar="DIR", help=_("where runs, caches and preferences are kept"))
    return common


def _overview() -> str:
    known = {name: command for name, command in commands().items() if command.summary}
    width = max(map(len, known))
    return "\n".join(f"  {name:<{width}}  {command.summary}" for name, command in known.items())


def _top_parser() -> _Parser:
    parser = _Parser(
        prog="kohya-preflight",
        description=_("Checks, launches and watches LoRA trainings with kohya-ss/sd-scripts."),
        epilog=_("commands:") + "\n" + _overview(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.add_argument("command", metavar="COMMAND", help=_("what to do; COMMAND --help tells more"))
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run one command line.

    Args:
        arguments: The words after the program's name.

    Returns:
        The exit status.
    """
    open_closed_streams()
    speak_utf8()
    try:
        status = _run(arguments)
        sys.stdout.flush()
    except PreflightError as error:
        print(f"kohya-preflight: {error}", file=sys.stderr)
        return 2
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        discard_output()  # whoever read has left
        return 0
    except OSError as error:
        discard_output()  # it may be the output itself, on a full disk for instance
        print(f"kohya-preflight: {_reason(error)}", file=sys.stderr)
        return 2
    return status


def _run(arguments: Sequence[str]) -> int:
    _speak_chosen_language()
    top = _top_parser()
    if not arguments or arguments[0].partition("=")[0] in COMMON:
        arguments = ["window", *arguments]
    # Only the first word: what follows belongs to the sub-command, “--” too.
    chosen = top.parse_args(arguments[:1]).command
    known = commands()
    if chosen not in known:
        top.error(_("there is no command “{name}”").format(name=chosen))
    module = importlib.import_module(f"gui.cli.{known[chosen].module}")
    parser = _Parser(
        prog=f"kohya-preflight {chosen}",
        description=known[chosen].summary or None,
        parents=[_common_options()],
    )
    module.add_arguments(parser)
    options = parser.parse_args(arguments[1:])
    _speak_chosen_language(options.home)
    if chosen in ABOUT_RUNS:
        _wake_queue(Home.find(options.home))
    return int(module.run(options))


def _wake_queue(home: Home) -> None:
    """Have a scheduler there where the queue has work; what is wrong with it, “queue” tells."""
    if home.queue.is_dir():
        from gui.engine.runs.queue_session import ensure_scheduler  # heavy, and most have no queue
        from gui.engine.runs.queue_store import QueueStore

        with contextlib.suppress(PreflightError):
            ensure_scheduler(QueueStore(home), wait=False)


def _speak_chosen_language(home: str | None = None) -> None:
    file = Home.find(home).preferences
    if file.is_file():
        from gui.engine.preferences import load_preferences  # heavy, and most have chosen nothing

        language = load_preferences(file).language
        if language:
            use_language(language)


def _reason(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason
