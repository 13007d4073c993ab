r"""What each process holds of a GPU, told by the operating system instead of the driver.

Under WDDM NVML does not know it: Windows itself keeps the memory of GPUs, and counts it by process and
adapter (performance counters ``\GPU Process Memory(*)``, Windows 10 1709 and up, no rights needed).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

_INSTANCE = re.compile(r"pid_(\d+)_luid_0x([0-9a-f]+)_0x([0-9a-f]+)(?:_phys_\d+)?", re.IGNORECASE)
_PLACE = re.compile(r"(?:[0-9a-f]+:)?([0-9a-f]+):([0-9a-f]+)(?:\.\d+)?", re.IGNORECASE)


class ProcessUse(NamedTuple):
    """What one process holds of one GPU.

    Attributes:
        pid: The process.
        pci_bus_id: Of the GPU, ``01:00``; None where that cannot be told.
        dedicated_bytes: Memory of the GPU.
        shared_bytes: RAM of the machine that the GPU uses for it: where CUDA spills to.
    """

    pid: int
    pci_bus_id: str | None
    dedicated_bytes: int
    shared_bytes: int


class ProcessCounters(Protocol):
    """Whoever counts."""

    def read(self) -> Sequence[ProcessUse]:
        """Return what all processes hold now; empty where it cannot be told. Never raises."""


def same_place(one: str, other: str) -> bool:
    """Whether two spellings of a PCI address mean the same device; the domain may be left out."""
    first, second = _PLACE.fullmatch(one), _PLACE.fullmatch(other)
    if first is None or second is None:
        return False
    return [int(part, 16) for part in first.groups()] == [int(part, 16) for part in second.groups()]


def uses(
    dedicated: Mapping[str, int], shared: Mapping[str, int], places: Mapping[int, str]
) -> Iterator[ProcessUse]:
    """Join two counters.

    Args:
        dedicated: Instance name, ``pid_4242_luid_0x00000000_0x0000D1B2_phys_0``, to bytes.
        shared: The same.
        places: The adapter's LUID to its PCI address.
    """
    sums: dict[tuple[int, int], list[int]] = {}
    for column, counter in enumerate((dedicated, shared)):
        for name, count in counter.items():
            found = _INSTANCE.fullmatch(name)
            if found is not None:
                pid, high, low = int(found[1]), int(found[2], 16), int(found[3], 16)
                sums.setdefault((pid, high << 32 | low), [0, 0])[column] += count
    for (pid, luid), (held, spilled) in sums.items():
        yield ProcessUse(pid, places.get(luid), held, spilled)
