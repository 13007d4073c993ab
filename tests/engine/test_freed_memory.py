"""Collections of unused memory wait while much is at work."""

from __future__ import annotations

import gc

import pytest

from gui.engine.freed_memory import keep_for_good, no_full_collections


def test_that_full_collections_wait_and_come_back_also_after_a_fault():
    before = gc.get_threshold()
    with pytest.raises(RuntimeError, match="while"), no_full_collections():
        assert gc.get_threshold()[:2] == before[:2]
        assert gc.get_threshold()[2] > 1000 * before[2]
        raise RuntimeError("while it waits")
    assert gc.get_threshold() == before


def test_that_what_is_kept_for_good_is_not_looked_through_any_more():
    kept = [[] for _number in range(1000)]
    try:
        keep_for_good()
        assert gc.get_freeze_count() >= len(kept)
    finally:
        gc.unfreeze()
