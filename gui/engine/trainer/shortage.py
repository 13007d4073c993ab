"""Reads what a message about memory that ran out says of itself: how much was asked, and how much there was.

Source: PyTorch's ``CUDACachingAllocator.cpp`` of 1.x and 2.x (HIP and XPU say the same under their own
names), ``MPSAllocator.mm``, ``CPUAllocator``; cases OOM-01, OOM-02, OOM-04, OOM-06, OOM-08, OOM-09. What
bitsandbytes, cuBLAS and the CUDA runtime say holds no numbers.
"""

from __future__ import annotations

import re
from typing import Literal

from gui.engine.documents import Document

Where = Literal["gpu", "cpu"]

_UNITS = {"bytes": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}
_UNITS |= {"kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}  # Metal's allocator means the same by them
_AMOUNT = r"([\d.]+) ?(bytes|[KMGT]i?B)"

_GPU = re.compile(
    r"(?:CUDA|HIP|XPU|MPS backend) out of memory|OutOfMemoryError|CUDA error: out of memory"
    r"|cudaErrorMemoryAllocation|hipErrorOutOfMemory|Error(?: \d+)? out of memory at line"
    r"|CU(?:BLAS|DNN|SOLVER)_STATUS_ALLOC_FAILED|No executable batch size found",
    re.IGNORECASE,
)
_CPU = re.compile(
    r"DefaultCPUAllocator: (?:can't allocate|not enough) memory|Unable to allocate .* for an array",
    re.IGNORECASE,
)


def _pattern(*spellings: str) -> re.Pattern[str]:
    return re.compile("|".join(spelling.replace("AMOUNT", _AMOUNT) for spelling in spellings), re.IGNORECASE)


_ASKED = _pattern(r"tried to allocate AMOUNT", r"Unable to allocate AMOUNT")
_TOTAL = _pattern(r"total capac(?:i)?ty of AMOUNT", r"AMOUNT total capacity", r"max allowed: AMOUNT")
_FREE = _pattern(r"of which AMOUNT is free", r"; AMOUNT free")
_ALLOCATED = _pattern(
    r"allocated memory AMOUNT is allocated by PyTorch",
    r"AMOUNT already allocated",
    r"MPS allocated: AMOUNT",
)
_RESERVED = _pattern(r"; AMOUNT reserved in total by PyTorch", r"; AMOUNT cached")
_SPARE = _pattern(r"AMOUNT is reserved by PyTorch but unallocated")
_IN_USE = _pattern(r"this process has AMOUNT memory in use")
_OTHERS = _pattern(r"Process \d+ has AMOUNT memory in use", r"other allocations: AMOUNT")
_LIMIT = _pattern(r"AMOUNT allowed;")
_DEVICE = re.compile(r"\bGPU (\d+)\b", re.IGNORECASE)


class MemoryShortage(Document):
    """What a message says; bytes, None where it does not say so.

    Attributes:
        where: Which memory ran out.
        device: Number of the GPU, as the process counts.
        asked: What could not be had.
        total: What the GPU has.
        free: What was free of it.
        allocated: What tensors took.
        reserved: What torch held of the GPU, tensors included.
        in_use: What the process held of the GPU, the driver's part included.
        others: What other processes held, as far as they are told.
        limit: What the process may take at most, where that was limited.
    """

    where: Where = "gpu"
    device: int | None = None
    asked: int | None = None
    total: int | None = None
    free: int | None = None
    allocated: int | None = None
    reserved: int | None = None
    in_use: int | None = None
    others: int | None = None
    limit: int | None = None

    @property
    def available(self) -> int | None:
        """What the process could have at most: what it held and what was free."""
        held = self.in_use or self.reserved
        return None if held is None or self.free is None else held + self.free

    @property
    def needed(self) -> int | None:
        """What the process would have held at the least, had it been given what it asked for."""
        held = self.in_use or self.reserved
        return None if held is None or self.asked is None else held + self.asked

    @property
    def tensors(self) -> int | None:
        """What tensors would have taken at the least."""
        return None if self.allocated is None or self.asked is None else self.allocated + self.asked


def read_shortage(text: str) -> MemoryShortage | None:
    """Return what a message says about memory that ran out; None where it is about something else.

    Args:
        text: The message, or a traceback that ends in it; lines may be wrapped.
    """
    text = " ".join(text.split())
    on_cpu = _CPU.search(text)
    if on_cpu is None and _GPU.search(text) is None:
        return None
    allocated, spare = _bytes(_ALLOCATED, text), _bytes(_SPARE, text)
    reserved = _bytes(_RESERVED, text)
    if reserved is None and allocated is not None and spare is not None:
        reserved = allocated + spare
    device = _DEVICE.search(text)
    others = [_amount(match) for match in _OTHERS.finditer(text)]
    return MemoryShortage(
        where="cpu" if on_cpu else "gpu",
        device=int(device[1]) if device else None,
        asked=_bytes(_ASKED, text),
        total=_bytes(_TOTAL, text),
        free=_bytes(_FREE, text),
        allocated=allocated,
        reserved=reserved,
        in_use=_bytes(_IN_USE, text),
        others=sum(others) if others else None,
        limit=_bytes(_LIMIT, text),
    )


def _bytes(pattern: re.Pattern[str], text: str) -> int | None:
    match = pattern.search(text)
    return _amount(match) if match else None


def _amount(match: re.Match[str]) -> int:
    """Return the bytes of the one spelling that matched."""
    number, unit = (group for group in match.groups() if group is not None)
    try:
        return int(float(number) * _UNITS[unit.lower()])
    except ValueError:  # "1.2.3": torch writes no such number, but a log may hold anything
        return 0
