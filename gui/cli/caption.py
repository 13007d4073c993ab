"""``caption PLAN|DIR|JOB``: captions by the trainer's own captioners, shown before any is written."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from gui.cli.context import home, install_of, token_store
from gui.cli.dataset import add_dataset, given_dataset
from gui.cli.progress import ProgressLine, plain
from gui.engine.errors import Cancelled, WrongUsage
from gui.engine.preflight.dataset_report import spec_of_plan
from gui.engine.runs.awake import keep_awake
from gui.engine.runs.captioning import CaptionOrder, follow_captioning, prepare_captioning, start_captioning
from gui.engine.runs.captioning_job import JOB, Captioning
from gui.engine.runs.captioning_results import (
    CaptionProposal,
    WrittenCaptions,
    proposals,
    reason_of_failure,
    write_proposals,
)
from gui.engine.texts import _, ngettext
from gui.engine.trainer.captioners import ask_captioner, captioners


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    add_dataset(parser, _("a plan, a folder of images, or the folder of captions that were made before"))
    parser.add_argument("--tagger", choices=tuple(captioners()), default="wd14", help=_tagger_words())
    parser.add_argument(
        "--set",
        dest="options",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help=_("an argument of the captioner’s own, such as thresh=0.5; may be given several times"),
    )
    parser.add_argument(
        "--trigger", metavar="WORD", default="", help=_("a word that each caption shall hold")
    )
    parser.add_argument(
        "--all", dest="everything", action="store_true", help=_("also images that have a caption already")
    )
    parser.add_argument("--write", action="store_true", help=_("write the captions without asking"))
    parser.add_argument(
        "--over-existing",
        action="store_true",
        help=_("write over captions that say something; their originals are kept"),
    )
    parser.add_argument("--json", action="store_true", help=_("print one JSON document"))


def _tagger_words() -> str:
    listed = "; ".join(f"{name}: {_(each.title)}" for name, each in captioners().items())
    return _("which captioner of the trainer ({captioners})").format(captioners=listed)


def run(options: argparse.Namespace) -> int:
    """Have captions made, show them, and write them when that is wanted.

    Returns:
        1 when the captioner failed or no caption came of it, else 0.
    """
    place = Path(options.plan)
    made = Captioning(place.absolute()) if (place / JOB).is_file() else _prepared(options)
    state, problem = _followed(made)
    found = proposals(made)
    if not found and not state:
        problem = _("It ended as it should, and said nothing about any image.")
    if not options.json:
        _show(made, found, problem)
    written = None
    if found and (options.write or (not options.json and _agreed(len(found)))):
        written = write_proposals(found, over_existing=options.over_existing)
    if options.json:
        print(json.dumps(_document(made, found, written, problem), ensure_ascii=False, indent=2))
    elif found:
        _say_written(made, written)
    if written is not None and not state and not written.left:
        made.discard()
    return 1 if state or not found else 0


def _prepared(options: argparse.Namespace) -> Captioning:
    own, captioner = home(options), captioners()[options.tagger]
    plan, checker = given_dataset(options)
    install = install_of(options, plan)
    line = ProgressLine()
    try:
        line.show(_("asking the trainer about {name}").format(name=options.tagger))
        facts = ask_captioner(install, captioner, own.cache)
        values = _values(options.options)
        order = CaptionOrder(options.tagger, captioner, values, options.trigger, options.everything)
        made = prepare_captioning(
            own,
            install,
            facts,
            spec_of_plan(checker, plan),
            order,
            lambda done, total: line.show(
                _("{done} of {total} images looked at").format(done=done, total=total)
            ),
        )
    except KeyboardInterrupt:
        raise Cancelled from None
    finally:
        line.clear()
    start_captioning(made, token_store(options).for_run({}))
    return made


def _values(words: Sequence[str]) -> dict[str, str]:
    """Return the options that were given as ``NAME=VALUE``.

    Raises:
        WrongUsage: One is no such pair.
    """
    values: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise WrongUsage(_("--set “{word}” is no NAME=VALUE").format(word=word))
        values[name] = value
    return values


def _followed(made: Captioning) -> tuple[bool, str]:
    """Wait for the captioner; return whether it failed, and its own words about that."""
    line = ProgressLine()
    try:
        with keep_awake():
            state = follow_captioning(
                made,
                partial(_tell, line, _("{done} of {total} captions")),
            )
    except KeyboardInterrupt:
        made.stop()
        state = made.state()
    finally:
        line.clear()
    return state.failed, reason_of_failure(made) if state.failed else ""


def _tell(line: ProgressLine, words: str, done: int, total: int) -> None:
    line.show(words.format(done=done, total=total))


def _show(made: Captioning, found: Sequence[CaptionProposal], problem: str) -> None:
    job = made.job()
    for each in found:
        print(plain(f"{each.name}: {each.text}"))
        if each.existing:
            print(plain("  " + _("now: {text}").format(text=each.existing)))
    for path in job.unreadable:
        print(plain(_("left out, it cannot be decoded: {path}").format(path=path)))
    if len(found) < len(job.images):
        words = _("{count} of {all} images got no caption.")
        print(words.format(count=len(job.images) - len(found), all=len(job.images)))
    if problem:
        print(plain(problem), file=sys.stderr)
        print(_("All that it said: {log}").format(log=made.log), file=sys.stderr)


def _agreed(count: int) -> bool:
    """Ask on a terminal whether the captions shall be written."""
    if not sys.stdin.isatty():
        return False
    question = ngettext("Write this caption? [y/N] ", "Write these {count} captions? [y/N] ", count)
    try:
        return input(question.format(count=count)).strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _say_written(made: Captioning, written: WrittenCaptions | None) -> None:
    if written is None:
        text = _("Nothing is written. To write these captions: kohya-preflight caption {folder} --write")
        print(text.format(folder=made.folder))
        return
    count = len(written.done)
    print(ngettext("{count} caption written.", "{count} captions written.", count).format(count=count))
    for path in written.left:
        print(plain(_("left as it is: {path}").format(path=path)))


def _document(
    made: Captioning, found: Sequence[CaptionProposal], written: WrittenCaptions | None, problem: str
) -> dict[str, Any]:
    job = made.job()
    return {
        "schema": 1,
        "job": str(made.folder),
        "tagger": job.tagger,
        "images": len(job.images),
        "unreadable": list(job.unreadable),
        "problem": problem,
        "captions": [each.model_dump() for each in found],
        "written": [str(path) for path in written.done] if written else [],
        "left": [str(path) for path in written.left] if written else [],
    }
