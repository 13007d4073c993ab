"""Reads every number of a safetensors file once, in bounded pieces, on a few threads.

One thread reads its piece while another computes, and numpy lets go of the interpreter for both,
so the whole keeps up with reading the file. Memory is a few megabytes a thread, whatever the file.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from gui.engine.errors import Cancelled
from gui.engine.trainer.safetensors_file import SafetensorsHeader

if TYPE_CHECKING:
    from gui.engine.trainer.float_kinds import FloatKind, Measure

CHUNK_BYTES = 2 << 20
"""Stays in a processor's cache between reading and computing, and is worth waking a thread for."""

PIECE_BYTES = 16 << 20
"""What a thread takes at a time; files smaller than this are read without threads."""

MAX_THREADS = 4
POLL_SECONDS = 0.1

Progress = Callable[[int, int], None]
CancelledAsk = Callable[[], bool]


@dataclass
class TensorSums:
    """What was found in one tensor of a float kind.

    Attributes:
        name: The tensor's.
        shape: Its dimensions.
        elements: How many finite numbers.
        nan: How many NaNs.
        inf: How many infinities.
        squares: Sum of the squares of the finite ones.
        peak: The largest magnitude of the finite ones.
    """

    name: str
    shape: tuple[int, ...]
    elements: int = 0
    nan: int = 0
    inf: int = 0
    squares: float = 0.0
    peak: float = 0.0


@dataclass(frozen=True, slots=True)
class _Span:
    """A part of one tensor.

    Attributes:
        index: Which tensor, among those of a float kind.
        kind: Of its numbers.
        start: First byte in the file.
        size: Bytes, a whole number of numbers.
    """

    index: int
    kind: FloatKind
    start: int
    size: int


class _FileChanged(Exception):
    """The file became shorter while it was read."""


def scan_tensors(
    path: Path,
    header: SafetensorsHeader,
    progress: Progress | None = None,
    cancelled: CancelledAsk | None = None,
) -> list[TensorSums] | None:
    """Look at every number of every float tensor.

    Args:
        path: The file.
        header: Its header, complete.
        progress: Told bytes done and bytes in all, from this thread, about ten times a second.
        cancelled: Asked as often whether to give up.

    Returns:
        One entry a float tensor, in the order of the file; None when the file shrank meanwhile.

    Raises:
        Cancelled: ``cancelled`` said so.
        OSError: The system does not let the file be read.
    """
    scan = _Scan(path, header)
    try:
        scan.run(progress or (lambda done, total: None), cancelled or (lambda: False))
    except _FileChanged:
        return None
    return scan.sums


class _Scan:
    """One pass over one file."""

    def __init__(self, path: Path, header: SafetensorsHeader) -> None:
        from gui.engine.trainer.float_kinds import FLOAT_KINDS

        self._path = path
        floats = [(name, info) for name, info in header.tensors.items() if info.dtype in FLOAT_KINDS]
        self.sums = [TensorSums(name, info.shape) for name, info in floats]
        self._total = sum(info.size_bytes for _name, info in floats)
        self._pieces = _pieces(
            _Span(index, FLOAT_KINDS[info.dtype], header.data_start + info.start, info.size_bytes)
            for index, (_name, info) in enumerate(floats)
        )
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._done = 0

    def run(self, progress: Progress, cancelled: CancelledAsk) -> None:
        threads = min(MAX_THREADS, os.cpu_count() or 1, -(-self._total // PIECE_BYTES))
        with ThreadPoolExecutor(max(threads, 1), thread_name_prefix="tensors") as pool:
            workers = [pool.submit(self._work) for _ in range(threads)]
            try:
                self._watch(workers, progress, cancelled)
            finally:
                self._stop.set()
        progress(self._total, self._total)

    def _watch(self, workers: list[Future[None]], progress: Progress, cancelled: CancelledAsk) -> None:
        pending = set(workers)
        while pending:
            finished, pending = wait(pending, POLL_SECONDS)
            for worker in finished:
                worker.result()
            if cancelled():
                raise Cancelled
            progress(self._done, self._total)

    def _work(self) -> None:
        """Take pieces until there are none: the body of one thread."""
        import numpy as np

        from gui.engine.trainer.float_kinds import Meter

        meter = Meter(CHUNK_BYTES)
        chunk = bytearray(CHUNK_BYTES)
        with self._path.open("rb", buffering=0) as file:
            for span in self._taken():
                part = memoryview(chunk)[: span.size]
                _fill(file, span.start, part)
                self._add(span, meter.measure(span.kind, np.frombuffer(part, np.uint8)))

    def _taken(self) -> Iterator[_Span]:
        """Yield the spans that fall to this thread, until all are taken or the scan is stopped."""
        while not self._stop.is_set():
            with self._lock:
                piece = next(self._pieces, None)
            if piece is None:
                return
            yield from piece

    def _add(self, span: _Span, found: Measure) -> None:
        with self._lock:
            sums = self.sums[span.index]
            sums.nan += found.nan
            sums.inf += found.inf
            sums.elements += span.size * 8 // span.kind.bits - found.nan - found.inf
            sums.squares = min(sums.squares + found.squares, sys.float_info.max)
            sums.peak = max(sums.peak, found.peak)
            self._done += span.size


def _pieces(tensors: Iterable[_Span]) -> Iterator[list[_Span]]:
    """Cut tensors into spans of at most a chunk, and hand these out by the piece."""
    piece: list[_Span] = []
    size = 0
    for tensor in tensors:
        for offset in range(0, tensor.size, CHUNK_BYTES):
            length = min(CHUNK_BYTES, tensor.size - offset)
            piece.append(replace(tensor, start=tensor.start + offset, size=length))
            size += length
            if size >= PIECE_BYTES:
                yield piece
                piece, size = [], 0
    if piece:
        yield piece


def _fill(file: BinaryIO, start: int, target: memoryview) -> None:
    file.seek(start)
    while target:
        count = file.readinto(target)  # type: ignore[attr-defined]
        if not count:
            raise _FileChanged
        target = target[count:]
