"""``note RUN [--tag T] [--text T] [--favourite]``: write something down about a run, or read it."""

from __future__ import annotations

import argparse

from gui.cli.context import home
from gui.cli.progress import plain
from gui.engine.runs.folder import find_run
from gui.engine.runs.run_notes import RunNotes, change_notes, read_notes
from gui.engine.texts import _


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    parser.add_argument("run", metavar="RUN", help=_("a run's folder, its name, or the beginning of it"))
    parser.add_argument("--tag", action="append", default=[], metavar="TAG", help=_("add a tag"))
    parser.add_argument("--untag", action="append", default=[], metavar="TAG", help=_("take a tag away"))
    parser.add_argument("--text", metavar="TEXT", help=_("the note; an empty one takes it away"))
    parser.add_argument(
        "--favourite",
        action=argparse.BooleanOptionalAction,
        default=None,
        help=_("give it a star, or take that away"),
    )
    parser.add_argument("--json", action="store_true", help=_("print one JSON document"))


def run(options: argparse.Namespace) -> int:
    """Change the notes where that was asked for, and print them.

    Raises:
        UnknownRun: There is no such run.
        CannotWrite: Its folder cannot be written.
        NewerDocument: A newer version of this program wrote the notes.
    """
    folder = find_run(home(options), options.run)
    if options.tag or options.untag or options.text is not None or options.favourite is not None:
        notes = change_notes(
            folder, note=options.text, favourite=options.favourite, more=options.tag, fewer=options.untag
        )
    else:
        notes = read_notes(folder)
    if options.json:
        print(notes.model_dump_json(by_alias=True, indent=2))
    else:
        print("\n".join(_lines(notes)) or _("Nothing is written down about this run."))
    return 0


def _lines(notes: RunNotes) -> list[str]:
    head = [*(["★"] if notes.favourite else []), *(f"#{tag}" for tag in notes.tags)]
    lines = [" ".join(head), *notes.note.splitlines()]
    return [plain(line) for line in lines] if any(lines) else []
