"""``memory``: what runs on this machine have taught about the memory of its GPUs, and forgetting it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from pydantic import Field

from gui.cli.context import home
from gui.engine.documents import Document
from gui.engine.hardware.memory.correction import Estimate
from gui.engine.hardware.memory.learning import MemoryLearning, all_learned, forget
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
        known = {one.gpu for one in all_learned(place)}
        status = 0 if not options.forget or options.forget in known else 1
        forget(place, options.forget or None)
    gpus = all_learned(place)
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
    for software, value in one.fitted.context_gib.items():
        yield "  " + _("for a process before the first tensor, {software}: {value} GiB").format(
            software=software, value=_number(value)
        )
    for training, value in one.fitted.activation.items():
        yield "  " + _("activations of {training}: {value} of what was traced").format(
            training=training, value=_number(value)
        )
    if one.fitted.fragmentation is not None:
        value_words = _number(one.fitted.fragmentation)
        yield "  " + _("the allocator’s spare: {value} of what was traced").format(value=value_words)


def _number(value: Estimate) -> str:
    return f"{value.mean:.2f} ± {value.deviation:.2f}"
