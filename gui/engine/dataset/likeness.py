"""Groups pictures that look alike, without comparing all with all.

Two pictures look alike when few of the 128 bits of ``ImageFacts.looks`` differ. Such pairs nearly
always agree in one of eight pieces of 16 bits (surely so up to 7 bits), so only pictures that share a
piece are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PIECES = 8
MOST_NEIGHBOURS = 64
"""Pieces that very many pictures share (a plain wall) tell nothing: there each is compared with so many
that follow it in the order of all bits."""


@cache
def _ones() -> NDArray[np.int64]:
    """Return how many bits of each 16-bit number are set."""
    import numpy as np

    every = np.arange(1 << 16, dtype=np.uint16).view(np.uint8)
    ones: NDArray[np.int64] = np.unpackbits(every).reshape(-1, 16).sum(axis=1, dtype=np.int64)
    return ones


def alike(looks: Sequence[bytes], most_bits: int) -> list[list[int]]:
    """Return groups of places that look alike, each of at least two; the first of each group leads.

    Args:
        looks: 16 bytes each; an empty one is like nothing.
        most_bits: Pictures that differ by no more are alike.
    """
    import numpy as np  # heavy; only scans need it

    places = np.array([place for place, bits in enumerate(looks) if bits], dtype=np.int64)
    if len(places) < 2:
        return []
    every = np.frombuffer(b"".join(looks), dtype=np.uint8).reshape(-1, 16)
    bits, which = _unlike(every)
    union = _Union(len(bits))
    for one, other in _pairs(bits, most_bits):
        union.join(one, other)
    groups: dict[int, list[int]] = {}
    for place, own in zip(places.tolist(), which.tolist(), strict=True):
        groups.setdefault(union.root(own), []).append(place)
    return sorted(group for group in groups.values() if len(group) > 1)


def _unlike(every: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return looks, each once and sorted, and for each of all looks which of them it is.

    As ``numpy.unique`` would, which sorts rows as bytes and meanwhile lets no other thread work.
    """
    import numpy as np

    words = every.view(">u8").astype(np.uint64)
    order = np.lexsort((words[:, 1], words[:, 0]))
    in_order = words[order]
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (in_order[1:] != in_order[:-1]).any(axis=1)
    which = np.empty(len(order), dtype=np.int64)
    which[order] = np.cumsum(is_new) - 1
    return every[order[is_new]], which


def _pairs(bits: NDArray[np.uint8], most_bits: int) -> Iterator[tuple[int, int]]:
    import numpy as np

    ones = _ones()
    pieces = np.ascontiguousarray(bits).view(np.uint16)
    for piece in range(PIECES):
        # Rows are sorted by all bits already, and stay so among those with the same piece.
        order = np.argsort(pieces[:, piece], kind="stable")
        key = pieces[order, piece]
        for step in range(1, MOST_NEIGHBOURS + 1):
            same = np.flatnonzero(key[step:] == key[:-step])
            if not len(same):
                break
            one, other = order[same], order[same + step]
            near = ones[pieces[one] ^ pieces[other]].sum(axis=1) <= most_bits
            yield from zip(one[near].tolist(), other[near].tolist(), strict=True)


class _Union:
    """Joins places into groups."""

    def __init__(self, count: int) -> None:
        self._parent = list(range(count))

    def root(self, place: int) -> int:
        while self._parent[place] != place:
            self._parent[place] = self._parent[self._parent[place]]
            place = self._parent[place]
        return place

    def join(self, one: int, other: int) -> None:
        first, second = sorted((self.root(one), self.root(other)))
        self._parent[second] = first
