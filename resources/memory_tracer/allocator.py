"""A model of PyTorch's caching allocator for one CUDA stream.

It follows ``c10/cuda/CUDACachingAllocator.cpp`` with its default settings: no expandable segments,
no rounding to powers of two, no limit on splitting, and a device that never runs full. All sizes
are bytes.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field
from itertools import count

MIN_BLOCK = 512
SMALL_SIZE = 1 << 20
SMALL_SEGMENT = 2 << 20
LARGE_SEGMENT = 20 << 20
MIN_LARGE = 10 << 20
ROUND_LARGE = 2 << 20


@dataclass(slots=True, order=True)
class Block:
    """A piece of a segment; blocks of one segment are a list in the order of their addresses.

    Attributes:
        size: How many bytes it has.
        number: Its place in the order in which blocks were made, as their address would be.
        small: Whether it is of the pool of small blocks.
        free: Whether nobody has it.
        before: The block at the lower side in the segment.
        after: The block at the upper side in the segment.
    """

    size: int
    number: int
    small: bool = field(compare=False)
    free: bool = field(default=False, compare=False)
    before: Block | None = field(default=None, compare=False, repr=False)
    after: Block | None = field(default=None, compare=False, repr=False)


def rounded(size: int) -> int:
    """Return what a request of this size is given: the next multiple of 512."""
    return max(MIN_BLOCK, -(-size // MIN_BLOCK) * MIN_BLOCK)


def segment_size(size: int) -> int:
    """Return how much is taken from the device for a rounded request that no free block can serve."""
    if size <= SMALL_SIZE:
        return SMALL_SEGMENT
    if size < MIN_LARGE:
        return LARGE_SEGMENT
    return -(-size // ROUND_LARGE) * ROUND_LARGE


class CachingAllocator:
    """Hands out blocks, keeps freed ones, and counts.

    Attributes:
        allocated: Bytes in blocks that are in use, as ``torch.cuda.memory_allocated`` counts them.
        reserved: Bytes taken from the device, as ``torch.cuda.memory_reserved`` counts them.
        allocated_peak: The most that was ever allocated.
        reserved_peak: The most that was ever reserved.
    """

    def __init__(self) -> None:
        self.allocated = 0
        self.reserved = 0
        self.allocated_peak = 0
        self.reserved_peak = 0
        self._pools: dict[bool, list[Block]] = {True: [], False: []}
        self._numbers = count()

    def allocate(self, size: int) -> Block:
        """Return a block for a request of so many bytes: the smallest free one that is large enough."""
        size = rounded(size)
        small = size <= SMALL_SIZE
        block = self._take(size, small) or self._new_segment(size, small)
        self._split(block, size)
        self.allocated += block.size
        self.allocated_peak = max(self.allocated_peak, self.allocated)
        return block

    def free(self, block: Block) -> None:
        """Take a block back and join it with free neighbours."""
        if block.free:
            raise ValueError("this block is free already")
        self.allocated -= block.size
        for neighbour in (block.before, block.after):
            if neighbour is not None and neighbour.free:
                self._remove(neighbour)
                first, second = (neighbour, block) if neighbour is block.before else (block, neighbour)
                first.size += second.size
                first.after = second.after
                if second.after is not None:
                    second.after.before = first
                block = first
        block.free = True
        insort(self._pools[block.small], block)

    def empty_cache(self) -> None:
        """Give segments back of which nothing is in use, as ``torch.cuda.empty_cache`` does."""
        for small, pool in self._pools.items():
            whole = [block for block in pool if block.before is None and block.after is None]
            self.reserved -= sum(block.size for block in whole)
            gone = {block.number for block in whole}
            self._pools[small] = [block for block in pool if block.number not in gone]

    def _take(self, size: int, small: bool) -> Block | None:
        pool = self._pools[small]
        place = bisect_left(pool, size, key=lambda block: block.size)
        if place == len(pool):
            return None
        block = pool.pop(place)
        block.free = False
        return block

    def _new_segment(self, size: int, small: bool) -> Block:
        whole = segment_size(size)
        self.reserved += whole
        self.reserved_peak = max(self.reserved_peak, self.reserved)
        return Block(whole, next(self._numbers), small)

    def _split(self, block: Block, size: int) -> None:
        """Leave what is not needed to others, where it is enough to be of use."""
        rest = block.size - size
        if rest < MIN_BLOCK or (not block.small and rest <= SMALL_SIZE):
            return
        upper = Block(rest, next(self._numbers), block.small, True, before=block, after=block.after)
        if block.after is not None:
            block.after.before = upper
        block.after = upper
        block.size = size
        insort(self._pools[block.small], upper)

    def _remove(self, block: Block) -> None:
        pool = self._pools[block.small]
        pool.pop(bisect_left(pool, block))
