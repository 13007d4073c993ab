"""Says what went wrong, from the trainer's output, in the order of likelihood."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from gui.engine.runs.diagnoses import DiagnosisFile, known_diagnoses
from gui.engine.runs.diagnosis_models import Diagnosis, DiagnosisFix, Evidence
from gui.engine.runs.log_examination import LAST_LINES, Examination
from gui.engine.runs.log_mending import LogMender, Mended
from gui.engine.runs.log_pieces import pieces_of
from gui.engine.trainer.output import Tally, as_utf8

__all__ = [
    "LAST_LINES",
    "Diagnosis",
    "DiagnosisFix",
    "Evidence",
    "Examiner",
    "diagnose_log",
    "read_into",
]

_MOST_EARLIER = 8
_OVER = re.compile(rb"CalledProcessError: |ChildFailedError|KeyboardInterrupt|model saved\.")
_STARTS = re.compile(
    rb"^.*(?:values were not passed to `accelerate launch`|Loading settings from .*\.toml"
    rb"|(?:Using v\d|prepare|load) tokenizers?|Using DreamBooth method|Load dataset config from)",
    re.MULTILINE,
)


def diagnose_log(
    source: Path | Iterable[bytes],
    *,
    exit_status: int | None = None,
    known: Sequence[DiagnosisFile] | None = None,
) -> list[Diagnosis]:
    """Find what went wrong.

    Args:
        source: The log, or its bytes in chunks of any size.
        exit_status: How the trainer or its launcher ended, negative for a signal; None if unknown.
        known: What can be found; the program's own by default.

    Returns:
        The likeliest cause first; nothing for a healthy run.

    Raises:
        CannotRead: The log cannot be read.
    """
    examiner = Examiner(known_diagnoses() if known is None else known)
    read_into(examiner, source)
    return examiner.finish(exit_status)


def read_into(examiner: Examiner, source: Path | Iterable[bytes]) -> None:
    """Read a log, of a very long file only what may tell the cause.

    Raises:
        CannotRead: The log cannot be read.
    """
    for piece in pieces_of(source) if isinstance(source, Path) else as_utf8(source):
        if isinstance(piece, int):
            examiner.skip(piece)
        else:
            examiner.feed(piece)


class Examiner:
    """Reads a log in chunks and finds what went wrong, also where it holds several runs one after another.

    Args:
        known: What can be found.
    """

    def __init__(self, known: Sequence[DiagnosisFile]) -> None:
        self._known = known
        self._mender = LogMender()
        self._current = Examination(known)
        self._over = False
        self._earlier: list[Diagnosis] = []

    @property
    def tally(self) -> Tally:
        """What the events of the last run add up to so far."""
        return self._current.tally

    def last_lines(self) -> tuple[Evidence, ...]:
        """Return what tells most of a failure that nothing explains, at most twenty lines."""
        return self._current.last_lines()

    def feed(self, data: bytes) -> None:
        """Read the next bytes."""
        for piece in self._mender.feed(data):
            self._read(piece)

    def skip(self, lines: int) -> None:
        """Leave out what holds so many line feeds; the line begun before is over."""
        for piece in self._mender.finish():
            self._read(piece)
        self._current.skip(lines)

    def finish(self, exit_status: int | None = None) -> list[Diagnosis]:
        """Return what was found, the likeliest cause first.

        What ended an earlier run of the log comes last, and explains no end.
        """
        for piece in self._mender.finish():
            self._read(piece)
        found = self._current.finish(exit_status)
        ids = {diagnosis.id for diagnosis in found}
        return [*found, *(earlier for earlier in self._earlier if earlier.id not in ids)]

    def _read(self, piece: Mended) -> None:
        """Read a piece, cut where another run begins."""
        data, at = piece.data, 0
        for start in _STARTS.finditer(data):
            self._over = self._over or _OVER.search(data, at, start.start()) is not None
            if self._over:
                self._current.feed(data[at : start.start()])
                self._begin_anew()
                at = start.start()
        self._over = self._over or _OVER.search(data, at) is not None
        self._current.feed(data[at:], piece.joined)

    def _begin_anew(self) -> None:
        known = {diagnosis.id for diagnosis in self._earlier}
        for found in self._current.finish():
            if found.explains_end and found.id not in known and len(self._earlier) < _MOST_EARLIER:
                self._earlier.append(found.model_copy(update={"explains_end": False}))
        self._current = Examination(self._known, self._current.lines)
        self._over = False
