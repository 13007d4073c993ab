"""Reads what the real trainer was seen to do with each kind of trouble in a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from gui.engine.documents import Document
from gui.engine.findings import Severity
from gui.engine.yaml_text import read_yaml

TABLE = Path(__file__).parents[1] / "data" / "dataset" / "faults_on_the_trainer.yaml"


class FaultRow(Document):
    """One kind of trouble.

    Attributes:
        fault: Its key; those of caches begin with ``cache-``.
        word: What the doctor calls it.
        trainer: ``ends`` with an error, ``nan`` goes on with a loss that is none, ``trains`` to the end,
            ``untried`` where no file can show it.
        says: Part of the trainer's last line, where it ends.
        note: What becomes of the result, or why it was not tried.
    """

    fault: str
    word: Severity
    trainer: Literal["ends", "nan", "trains", "untried"]
    says: str = ""
    note: str = ""


class _Table(Document):
    faults: tuple[FaultRow, ...]


def fault_rows() -> tuple[FaultRow, ...]:
    """Return the whole table."""
    return read_yaml(TABLE, _Table).faults
