"""``presets``: the layers of settings, what they compose to, and the user's own."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from pydantic import Field

from gui.cli.context import home
from gui.engine.documents import Document
from gui.engine.errors import WrongUsage
from gui.engine.plan.plan_file import load_plan
from gui.engine.plan.preset_from_plan import preset_of_plan
from gui.engine.plan.preset_layer import Axis
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.plan.presets import Composition, compose
from gui.engine.texts import _

_AXES: tuple[Axis, ...] = (
    *("common", "family", "purpose", "caution", "memory", "dataset", "network", "gpu", "own"),
)


class PresetRow(Document):
    """One preset, for the list."""

    name: str
    title: str
    axis: Axis
    description: str = ""
    families: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    path: Path | None = None


class BrokenRow(Document):
    """A preset file that cannot be used."""

    path: Path
    key: str
    reason: str


class PresetList(Document):
    """What ``presets --json`` prints."""

    schema_: int = Field(default=1, alias="schema")
    presets: tuple[PresetRow, ...]
    broken: tuple[BrokenRow, ...] = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    parser.add_argument("--json", action="store_true", help=_("print one JSON document"))
    show = parser.add_argument_group(_("what presets compose to"))
    show.add_argument("--family", metavar="NAME", help=_("the model family; see “families”"))
    show.add_argument("--kind", metavar="NAME", default="lora", help=_("the kind of training"))
    show.add_argument("--purpose", metavar="NAME", default="character", help=_("what is to be learned"))
    show.add_argument("--caution", metavar="NAME", default="safe", help=_("how careful to be"))
    show.add_argument("--vram", metavar="GIB", type=_memory, help=_("the GPU's memory"))
    show.add_argument("--capability", metavar="X.Y", type=_capability, help=_("its compute capability"))
    show.add_argument("--images", metavar="N", type=int, help=_("how many different images"))
    show.add_argument("--repeats", metavar="N", type=int, help=_("how often an epoch shows each"))
    show.add_argument("--network", metavar="NAME", help=_("another network than the family's usual one"))
    own = parser.add_argument_group(_("presets of one's own")).add_mutually_exclusive_group()
    own.add_argument("--save", nargs=2, metavar=("NAME", "PLAN"), help=_("keep a plan's settings"))
    own.add_argument("--replace", nargs=2, metavar=("NAME", "PLAN"), help=_("the same, over an older one"))
    own.add_argument("--add", metavar="FILE", help=_("take over a preset file that somebody passed on"))
    own.add_argument("--export", nargs=2, metavar=("NAME", "FILE"), help=_("copy one to a file"))
    own.add_argument("--rename", nargs=2, metavar=("OLD", "NEW"), help=_("give one another name"))
    own.add_argument("--delete", metavar="NAME", help=_("delete one"))


def _memory(text: str) -> float:
    value = float(text)
    if not 0 < value < 10_000:
        raise argparse.ArgumentTypeError(_("not an amount of memory: {value}").format(value=text))
    return value


def _capability(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,2})\.(\d)", text)
    if found is None:
        raise argparse.ArgumentTypeError(_("not a compute capability: {value}").format(value=text))
    return int(found[1]), int(found[2])


def run(options: argparse.Namespace) -> int:
    """List or compose presets, or look after the user's own.

    Returns:
        1 when what was asked for is not possible on such a GPU, else 0.
    """
    library = PresetLibrary(home(options).presets)
    for broken in library.broken.values():
        print(broken.sentence, file=sys.stderr)
    if _look_after(options, library):
        return 0
    if options.family is not None:
        return _compose(options, library)
    if options.vram is not None or options.images is not None or options.network is not None:
        raise WrongUsage(_("name the model family as well: --family NAME"))
    rows = PresetList(presets=tuple(_rows(library)), broken=tuple(_broken(library)))
    print(rows.model_dump_json(by_alias=True, indent=2) if options.json else "\n".join(_lines(rows)))
    return 0


def _look_after(options: argparse.Namespace, library: PresetLibrary) -> bool:
    """Do what was asked with the user's own presets; False when nothing was."""
    saved = options.save or options.replace
    if saved:
        name, plan = saved
        library.save(name, preset_of_plan(load_plan(plan).plan, name), replace=bool(options.replace))
    elif options.add:
        name = library.add(Path(options.add))[1]
    elif options.export:
        library.export(options.export[0], Path(options.export[1]))
        name = options.export[1]
    elif options.rename:
        library.rename(*options.rename)
        name = options.rename[1]
    elif options.delete:
        library.delete(options.delete)
        return True
    else:
        return False
    print(name)
    return True


def _compose(options: argparse.Namespace, library: PresetLibrary) -> int:
    composition = compose(
        options.family,
        options.kind,
        options.purpose,
        options.caution,
        options.vram,
        images=options.images,
        repeats=options.repeats,
        network=options.network,
        compute_capability=options.capability,
        library=library,
    )
    if options.json:
        print(composition.model_dump_json(by_alias=True, indent=2))
    else:
        print("\n".join(_composition_lines(composition)))
    return 1 if composition.impossible else 0


def _composition_lines(composition: Composition) -> Iterator[str]:
    if composition.impossible:
        yield from composition.impossible
        return
    yield f"presets = {list(composition.layers)}".replace("'", '"')
    for target, value in composition.values.items():
        sources = f" [{', '.join(value.sources)}]" if value.sources else ""
        yield f"{target} = {value.value}"
        yield f"    {value.reason}{sources}"
    yield from composition.notes


def _rows(library: PresetLibrary) -> Iterator[PresetRow]:
    own = set(library.own)
    for axis in _AXES:
        for name, layer in library.on(axis).items():
            yield PresetRow(
                name=name,
                title=_(layer.title),
                axis=axis,
                description=_(layer.description),
                families=layer.families,
                layers=layer.layers,
                path=library.path_of(name) if name in own else None,
            )


def _broken(library: PresetLibrary) -> Iterator[BrokenRow]:
    for broken in library.broken.values():
        yield BrokenRow(path=broken.path, key=broken.key, reason=broken.reason)


def _headings() -> dict[Axis, str]:
    return {
        "common": _("what all stand on"),
        "family": _("model families"),
        "purpose": _("what is to be learned"),
        "caution": _("how careful"),
        "memory": _("GPU memory"),
        "dataset": _("size of the dataset"),
        "network": _("networks"),
        "gpu": _("GPUs"),
        "own": _("your own"),
    }


def _lines(rows: PresetList) -> Iterator[str]:
    headings = _headings()
    width = max(len(row.name) for row in rows.presets)
    for axis in _AXES:
        found = [row for row in rows.presets if row.axis == axis]
        if found:
            yield f"{headings[axis]}:"
        for row in found:
            yield f"  {row.name:<{width}}  {row.title}{'. ' + row.description if row.description else ''}"
