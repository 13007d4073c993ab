"""``families``: the model families, how each is trained, and what it cannot do."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.errors import UnknownFamily
from gui.engine.plan.families import Family, families
from gui.engine.texts import _


class FamilyList(Document):
    """What ``families --json`` prints."""

    schema_: int = Field(default=1, alias="schema")
    families: tuple[Family, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    parser.add_argument("names", metavar="FAMILY", nargs="*", help=_("show only these, in full"))
    parser.add_argument("--json", action="store_true", help=_("print one JSON document"))


def run(options: argparse.Namespace) -> int:
    """Print the families.

    Returns:
        0.

    Raises:
        UnknownFamily: A named one is not known.
    """
    known = families()
    for name in options.names:
        if name not in known:
            raise UnknownFamily(name, tuple(known))
    chosen = [known[name] for name in options.names or known]
    if options.json:
        print(FamilyList(families=tuple(chosen)).model_dump_json(by_alias=True, indent=2))
    elif options.names:
        print("\n\n".join("\n".join(_in_full(kin)) for kin in chosen))
    else:
        print("\n".join(_overview(chosen)))
    return 0


def _overview(chosen: list[Family]) -> Iterator[str]:
    width = max(len(kin.name) for kin in chosen)
    title_width = max(len(_(kin.title)) for kin in chosen)
    for kin in chosen:
        yield f"{kin.name:<{width}}  {_(kin.title):<{title_width}}  {', '.join(kin.kinds)}"


def _in_full(kin: Family) -> Iterator[str]:
    yield f"{kin.name}: {_(kin.title)}"
    if kin.description:
        yield _(kin.description)
    for name, kind in kin.kinds.items():
        modules = f" ({', '.join(kind.network_modules)})" if kind.network_modules else ""
        yield f"  {name}: {kind.script}{modules}"
    for missing in kin.missing_kinds:
        yield f"  {', '.join(missing.kinds)}: – {_(missing.reason)}"
    yield _("Files:")
    for file in kin.files:
        needed = "" if file.required else " " + _("(optional)")
        note = f" {_(file.note)}" if file.note else ""
        yield f"  {file.argument}{needed}: {_(file.title)}.{note}"
    width, height = kin.resolution.default_px
    yield _("Image size: {width} × {height} px, from {least} to {most}").format(
        width=width, height=height, least=kin.resolution.smallest_px, most=kin.resolution.largest_px
    )
    yield _("Captions: {note} Up to {tokens} tokens are read.").format(
        note=_(kin.captions.note), tokens=kin.captions.tokens
    )
    yield _("Precision: {best}").format(best=kin.precision.best)
    for avoided in kin.precision.avoid:
        yield f"  {avoided.value}: – {_(avoided.reason)}"
    if kin.limits.blocks_to_swap is not None:
        yield _("Blocks that can be swapped: {most}").format(most=kin.limits.blocks_to_swap)
    yield _("Cannot:")
    for entry in kin.cannot:
        yield f"  {', '.join(entry.arguments)}: {_(entry.reason)}"
