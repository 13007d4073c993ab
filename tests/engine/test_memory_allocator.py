"""The model of the caching allocator does what PyTorch's own does with the same requests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_tracer.allocator import CachingAllocator, rounded, segment_size

MIB = 1 << 20


@pytest.mark.parametrize(
    ("request_bytes", "given_bytes"),
    [(1, 512), (512, 512), (513, 1024), (MIB, MIB), (MIB + 1, MIB + 512), (0, 512)],
)
def test_that_a_request_is_rounded_up_to_512_bytes(request_bytes, given_bytes):
    assert rounded(request_bytes) == given_bytes


@pytest.mark.parametrize(
    ("request_bytes", "segment_bytes"),
    [
        (512, 2 * MIB),
        (MIB, 2 * MIB),
        (MIB + 512, 20 * MIB),
        (10 * MIB - 512, 20 * MIB),
        (10 * MIB, 10 * MIB),
        (10 * MIB + 512, 12 * MIB),
        (31 * MIB, 32 * MIB),
    ],
)
def test_that_segments_come_in_the_sizes_of_the_pools(request_bytes, segment_bytes):
    assert segment_size(request_bytes) == segment_bytes
    allocator = CachingAllocator()
    allocator.allocate(request_bytes)
    assert allocator.reserved == segment_bytes


def test_that_small_requests_share_one_segment_until_it_is_full():
    allocator = CachingAllocator()
    for _number in range(4):
        allocator.allocate(512 * 1024)
    assert allocator.reserved == 2 * MIB
    allocator.allocate(512)
    assert allocator.reserved == 4 * MIB


def test_that_small_and_large_requests_never_share():
    allocator = CachingAllocator()
    allocator.free(allocator.allocate(5 * MIB))
    allocator.allocate(1000)
    assert allocator.reserved == 22 * MIB


def test_that_a_large_block_keeps_a_rest_that_is_no_use_to_others():
    allocator = CachingAllocator()
    allocator.free(allocator.allocate(20 * MIB))
    whole = allocator.allocate(19 * MIB)
    assert whole.size == 20 * MIB, "a rest of one MiB is not split off"
    allocator.free(whole)
    assert allocator.allocate(19 * MIB - 512).size == 19 * MIB - 512


def test_that_the_smallest_free_block_that_is_large_enough_is_taken():
    allocator = CachingAllocator()
    blocks = [allocator.allocate(size * MIB) for size in (40, 24, 32)]
    for block in blocks:
        allocator.free(block)
    assert allocator.allocate(23 * MIB).size == 24 * MIB
    assert allocator.reserved == 96 * MIB


def test_that_free_neighbours_are_joined_and_serve_a_larger_request():
    allocator = CachingAllocator()
    pieces = [allocator.allocate(5 * MIB) for _number in range(4)]
    assert allocator.reserved == 20 * MIB
    for number in (0, 2, 1, 3):
        allocator.free(pieces[number])
    allocator.allocate(20 * MIB)
    assert allocator.reserved == 20 * MIB


def test_that_holes_between_used_blocks_force_another_segment():
    allocator = CachingAllocator()
    pieces = [allocator.allocate(5 * MIB) for _number in range(4)]
    allocator.free(pieces[0])
    allocator.free(pieces[2])
    allocator.allocate(9 * MIB)
    assert allocator.allocated == 19 * MIB
    assert allocator.reserved == 40 * MIB


def test_that_an_emptied_cache_gives_back_only_segments_that_nobody_uses():
    allocator = CachingAllocator()
    used, whole = allocator.allocate(5 * MIB), allocator.allocate(30 * MIB)
    allocator.free(whole)
    allocator.empty_cache()
    assert allocator.reserved == 20 * MIB
    allocator.free(used)
    allocator.empty_cache()
    assert (allocator.allocated, allocator.reserved) == (0, 0)
    assert allocator.reserved_peak == 50 * MIB


def test_that_no_block_can_be_given_back_twice():
    allocator = CachingAllocator()
    block = allocator.allocate(1)
    allocator.free(block)
    with pytest.raises(ValueError, match="free already"):
        allocator.free(block)


@given(
    st.lists(
        st.one_of(st.integers(1, 64 * MIB), st.integers(1, 4096), st.integers(-50, -1)),
        max_size=120,
    )
)
def test_that_whatever_is_asked_the_books_are_right(requests):
    allocator = CachingAllocator()
    live: list = []
    asked: list[int] = []
    for request in requests:
        if request > 0:
            live.append(allocator.allocate(request))
            asked.append(rounded(request))
        elif live:
            number = request % len(live)
            allocator.free(live.pop(number))
            asked.pop(number)
        assert allocator.allocated == sum(block.size for block in live)
        assert sum(asked) <= allocator.allocated <= allocator.reserved
        assert all(block.size >= size for block, size in zip(live, asked, strict=True))
    assert allocator.allocated_peak <= allocator.reserved_peak
    for block in live:
        allocator.free(block)
    assert allocator.allocated == 0
    allocator.empty_cache()
    assert allocator.reserved == 0
