"""What ``checkpoints`` does with files beside looking into them: card, hash, comparison, copy, going on."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from gui.cli.context import home
from gui.cli.plan_input import add_overwrite_argument, require_free
from gui.cli.progress import ProgressLine, plain
from gui.engine.errors import Cancelled, CannotContinue, WrongUsage
from gui.engine.plan.changes import apply_changes, changes_in_words
from gui.engine.preferences import change_preferences, load_preferences
from gui.engine.runs.block_growth import BlockGrowth
from gui.engine.runs.checkpoints import factor_text
from gui.engine.runs.checksum import checksum_file, write_checksum
from gui.engine.runs.continuing import continuation
from gui.engine.runs.file_comparison import FileComparison, compare_files
from gui.engine.runs.file_origin import run_of_file
from gui.engine.runs.model_card import model_card
from gui.engine.runs.reuse import plan_of_run
from gui.engine.runs.sending import send_copy
from gui.engine.texts import _
from gui.engine.trainer.tensor_scan import Progress

T = TypeVar("T")

REMEMBERED = ""
"""What ``--copy-to`` without a folder gives: the one that was copied to before."""


def add_actions(parser: argparse.ArgumentParser) -> None:
    """Add the options that do something; one of them at most."""
    actions = parser.add_mutually_exclusive_group()
    actions.add_argument("--card", action="store_true", help=_("print the file's metadata as a page to read"))
    actions.add_argument("--sha256", action="store_true", help=_("write the file's SHA-256 beside it"))
    actions.add_argument("--compare", metavar="OTHER", help=_("compare with another file, block by block"))
    actions.add_argument(
        "--copy-to",
        metavar="DIR",
        nargs="?",
        const=REMEMBERED,
        help=_("send a copy there and read it back; without DIR to where the last one went"),
    )
    actions.add_argument(
        "--continue",
        dest="goes_on",
        metavar="PLAN",
        help=_("write the plan that goes on from this file or state of a run"),
    )
    add_overwrite_argument(parser)


def action_of(options: argparse.Namespace) -> Callable[[argparse.Namespace], int] | None:
    """Return what is to be done; None for looking into files."""
    wanted: tuple[tuple[object, Callable[[argparse.Namespace], int]], ...] = (
        (options.card, _card),
        (options.sha256, _checksum),
        (options.compare, _compare),
        (options.copy_to is not None, _send),
        (options.goes_on, _go_on),
    )
    return next((action for given, action in wanted if given), None)


def _card(options: argparse.Namespace) -> int:
    card = model_card(Path(options.path).absolute())
    if options.json:
        print(card.model_dump_json(indent=2))
    else:
        print("\n".join(map(plain, card.text().splitlines())))
    return 0


def _checksum(options: argparse.Namespace) -> int:
    path = Path(options.path).absolute()
    found = _reading(lambda progress: write_checksum(path, progress))
    print(_("{digest}, beside it in {file}").format(digest=found.sha256, file=checksum_file(path).name))
    return 0


def _compare(options: argparse.Namespace) -> int:
    first, second = Path(options.path).absolute(), Path(options.compare).absolute()
    found = _reading(lambda progress: compare_files(first, second, progress))
    if options.json:
        print(found.model_dump_json(indent=2))
    else:
        print("\n".join(map(plain, _comparison(first, second, found))))
    return 0


def _comparison(first: Path, second: Path, found: FileComparison) -> Iterator[str]:
    yield _("from {first} to {second}").format(first=first.name, second=second.name)
    for path, report in ((first, found.first), (second, found.second)):
        if report.reason:
            yield f"  {path.name}: {report.reason}"
    for each in found.differences:
        yield f"  {each.what}: {each.first or '–'} → {each.second or '–'}"
    yield from block_lines(found.blocks)


def block_lines(blocks: Sequence[BlockGrowth]) -> Iterator[str]:
    """Yield the blocks of a file with what they were before."""
    for block in blocks:
        before, after = ("–" if value is None else f"{value:.3g}" for value in (block.before, block.after))
        factor = "" if block.factor is None else f" ({factor_text(block.factor)}×)"
        yield (
            f"  {block.block}: {after}"
            if block.before is None
            else f"  {block.block}: {before} → {after}{factor}"
        )


def _send(options: argparse.Namespace) -> int:
    place = home(options).preferences
    given = options.copy_to or load_preferences(place).models_folder
    if not given:
        raise WrongUsage(_("no copy was sent anywhere yet: name a folder"))
    folder = Path(given).absolute()
    path = Path(options.path).absolute()
    copy = _reading(lambda progress: send_copy(path, folder, progress))
    change_preferences(place, models_folder=str(folder))
    print(_("copied and read back: {file}").format(file=copy))
    return 0


def _go_on(options: argparse.Namespace) -> int:
    require_free(Path(options.goes_on), options.overwrite)
    source = Path(options.path).absolute()
    run = run_of_file(home(options), source)
    if run is None:
        raise CannotContinue(source, _("no run that is kept here has saved it"))
    found = continuation(run, source)
    file = plan_of_run(run)
    file.save(apply_changes(file.plan, found.changes), Path(options.goes_on))
    print(found.sentence)
    print(
        _("Written: {path}, with {changes}.").format(
            path=options.goes_on, changes=changes_in_words(found.changes)
        )
    )
    return 0


def _reading(work: Callable[[Progress], T]) -> T:
    line = ProgressLine()
    try:
        return work(
            lambda done, total: line.show(
                _("reading: {percent} %").format(percent=100 * done // max(total, 1))
            )
        )
    except KeyboardInterrupt:
        raise Cancelled from None
    finally:
        line.clear()
