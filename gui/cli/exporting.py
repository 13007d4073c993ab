"""``export PLAN``: writes a plan for others: a command line, TOML files, settings of the kohya_ss GUI."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from gui.cli.context import home
from gui.cli.plan_input import add_plan_arguments, plan_of, require_free
from gui.engine.documents import write_atomically
from gui.engine.errors import WrongUsage
from gui.engine.importers.exports import Exportable, Exported, export_command, export_toml, exportable
from gui.engine.importers.kohya_export import export_kohya
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.texts import _
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.quoting import SHELLS

_SUFFIX = {"toml": ".toml", "kohya": ".json", "posix": ".sh", "cmd": ".bat", "powershell": ".ps1"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    add_plan_arguments(parser)
    parser.add_argument(
        "--as",
        dest="form",
        choices=("command", "toml", "kohya"),
        required=True,
        help=_("a command line, the trainer's own TOML files, or settings of the kohya_ss GUI"),
    )
    parser.add_argument(
        "--shell",
        choices=SHELLS,
        default="powershell" if os.name == "nt" else "posix",
        help=_("the shell that the command line is for"),
    )
    parser.add_argument("-o", "--output", metavar="FILE", help=_("where it goes; else it is printed"))
    parser.add_argument("--overwrite", action="store_true", help=_("replace files that are there"))


def run(options: argparse.Namespace) -> int:
    """Write or print the plan in another form; notes go to stderr."""
    given = plan_of(options)
    given.file.require_known()
    catalogue = Catalogue.bundled()
    target = Path(options.output) if options.output else Path.cwd() / f"plan{_suffix(options)}"
    library = PresetLibrary(home(options).presets)
    ready = exportable(given.file.plan, given.file.base, target, catalogue, library)
    made = _made(options, ready, catalogue)
    for note in (*given.file.notes, *made.notes):
        print(note, file=sys.stderr)
    if options.output:
        _write(target, made, options.overwrite)
    elif made.beside:
        raise WrongUsage(_("The dataset needs a file of its own: say where to write with -o."))
    else:
        print(made.text, end="")
    return 0


def _suffix(options: argparse.Namespace) -> str:
    return _SUFFIX[options.shell if options.form == "command" else options.form]


def _made(options: argparse.Namespace, ready: Exportable, catalogue: Catalogue) -> Exported:
    if options.form == "command":
        return export_command(ready, options.shell)
    return export_toml(ready) if options.form == "toml" else export_kohya(ready, catalogue)


def _write(target: Path, made: Exported, overwrite: bool) -> None:
    files = {target.absolute().parent / name: text for name, text in made.beside.items()} | {
        target: made.text
    }
    for path in files:
        require_free(path, overwrite)
    for path, text in files.items():
        write_atomically(path, text)
        print(_("written: {path}").format(path=path))
