"""What the trainer's caches beside the images are called and hold; the table is data."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.plan.families import families
from gui.engine.resources import resource_path
from gui.engine.yaml_text import read_yaml


class CacheKind(Document):
    """One kind of cache file; see ``resources/dataset/caches.yaml``.

    Attributes:
        suffix: How its names end.
        kind: ``latents`` of an image, or the ``text`` encoder outputs of its caption.
        families: Whose; those that extend them have them too.
        arrays: What it must hold.
        scale_px: Pixels of a side that become one place of the latents.
        channels: Numbers at each place.
        by_size: Whether arrays are named by the latents' size.
    """

    suffix: str
    kind: Literal["latents", "text"]
    families: tuple[str, ...]
    arrays: tuple[str, ...]
    scale_px: int = 1
    channels: int = 0
    by_size: bool = False


class _CacheKinds(Document):
    schema_: Literal[1] = Field(alias="schema")
    caches: tuple[CacheKind, ...]
    sources: tuple[str, ...] = ()


@lru_cache(maxsize=4)
def cache_kinds(path: Path | None = None) -> tuple[CacheKind, ...]:
    """Return all kinds, those with the longest names first: ``_te.npz`` also ends in ``.npz``.

    Args:
        path: The file; None takes the program's own.

    Raises:
        CannotRead: It is no such file.
    """
    place = path or resource_path("dataset", "caches.yaml")
    kinds = read_yaml(place, _CacheKinds).caches
    return tuple(sorted(kinds, key=lambda kind: -len(kind.suffix)))


def kinds_of_family(family: str) -> tuple[CacheKind, ...]:
    """Return the caches that a family reads; none for one that is not known."""
    known = families()
    name: str | None = family
    while name is not None:
        found = tuple(kind for kind in cache_kinds() if name in kind.families)
        if found:
            return found
        name = known[name].extends if name in known else None
    return ()
