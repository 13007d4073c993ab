"""What processes really hold in RAM, though many of their pages are shared."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from gui.engine.runs.process_table import ProcessRow, ProcessTable

CALM_SECONDS = 15.0
"""Between two measurements while the processes stay the same."""
BUSY_SECONDS = 5.0
"""Between two measurements when there are new processes: loader workers come anew at each epoch."""
COST_FACTOR = 100.0
"""A measurement may take a hundredth of the time; it walks all pages: 14 ms for each GiB, seen."""


class SharedMemory:
    """Splits shared pages among their users, from measurements that are too dear for every second.

    In between, what a process has grown since is added to what it was measured with.

    Args:
        table: Measures.
        clock: Monotonic seconds.
    """

    def __init__(self, table: ProcessTable, clock: Callable[[], float] = time.monotonic) -> None:
        self._table = table
        self._clock = clock
        self._measured: dict[tuple[int, int], tuple[int, int | None]] = {}
        self._measured_at = float("-inf")
        self._cost_seconds = 0.0

    def held_bytes(self, rows: Sequence[ProcessRow]) -> int | None:
        """Return what these processes hold together, None where the system does not tell."""
        fresh = any((row.pid, row.start) not in self._measured for row in rows)
        wait = max(BUSY_SECONDS if fresh else CALM_SECONDS, COST_FACTOR * self._cost_seconds)
        if self._clock() - self._measured_at >= wait:
            self._measure(rows)
        known = [
            max(share + row.resident_bytes - resident, 0)
            for row in rows
            for resident, share in [self._measured.get((row.pid, row.start), (0, None))]
            if share is not None
        ]
        return sum(known) if known else None

    def _measure(self, rows: Sequence[ProcessRow]) -> None:
        self._measured_at = self._clock()
        self._measured = {
            (row.pid, row.start): (row.resident_bytes, self._table.proportional_bytes(row.pid))
            for row in rows
        }
        self._cost_seconds = self._clock() - self._measured_at
