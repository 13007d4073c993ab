"""Keeps a fault in one part of the supervisor from ending the others: the guard must go on guarding."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import TypeVar

from gui.engine.runs.ledger import Ledger
from gui.engine.texts import _

_MOST_REPORTS = 20

T = TypeVar("T")


class Isolation:
    """Runs parts so that what they raise is noted and left behind.

    Args:
        ledger: Where the user is told, once for each part.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._reports = 0

    def call(self, part: str, work: Callable[[], T], otherwise: T) -> T:
        """Do the work; return ``otherwise`` when it fails.

        Args:
            part: Its name, for the supervisor's log.
            work: What to do.
            otherwise: What to go on with.
        """
        try:
            return work()
        except Exception:  # noqa: BLE001 - a fault of this program must not leave a training unguarded
            self._report(part)
            return otherwise

    def _report(self, part: str) -> None:
        if self._reports < _MOST_REPORTS:
            self._reports += 1
            sys.stderr.write(f"{part}:\n{traceback.format_exc()}")
            sys.stderr.flush()
        sentence = _("A part of the supervisor failed ({part}); see supervisor.log. The rest goes on.")
        self._ledger.notice(f"fault:{part}", sentence.format(part=part))
