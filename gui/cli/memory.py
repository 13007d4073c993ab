"""``memory``: what runs on this machine have taught about the memory of its GPUs, and forgetting it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from pydantic import Field

from gui.cli.context import home
from gui.engine.documents import Document
from gui.engine.hardware.memory.learning import MemoryLearning, all_learned, forget, unreadable
from gui.engine.hardware.memory.words import learned_words
from gui.engine.texts import _, ngettext


class LearnedList(Document):
    """What ``memory --json`` prints."""

    schema_: int = Field(default=1, alias="schema")
    gpus: tuple[MemoryLearning, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    parser.add_argument(
        "--forget", metavar="GPU", nargs="?", const="", help=_("forget a GPU, or all of them")
    )
    parser.add_argument("--json", action="store_true", help=_("print one JSON document"))


def run(options: argparse.Namespace) -> int:
    """Print what was learned, after forgetting what is to be forgotten.

    Returns:
        0; 1 when the GPU to be forgotten is not known.

    Raises:
        CannotWrite: It cannot be forgotten.
    """
    place, status = home(options), 0
    if options.forget is not None:
        found = forget(place, options.forget or None)
        status = 0 if found or not options.forget else 1
    gpus = all_learned(place)
    for error in unreadable(place):
        print(error, file=sys.stderr)
    if options.json:
        print(LearnedList(gpus=gpus).model_dump_json(by_alias=True, indent=2))
    elif gpus:
        print("\n\n".join("\n".join(_in_full(one)) for one in gpus))
    else:
        print(_("Nothing was learned yet: forecasts rest on what is usual."))
    return status


def _in_full(one: MemoryLearning) -> Iterator[str]:
    count = len(one.observations)
    runs = ngettext("{count} run", "{count} runs", count).format(count=count)
    yield f"{one.name or one.gpu}  {one.gpu}  {runs}"
    for line in learned_words(one):
        yield f"  {line}"
