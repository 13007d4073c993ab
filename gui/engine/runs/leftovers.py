"""Ends what a trainer leaves behind when it is gone: loader workers that hang, or the like."""

from __future__ import annotations

from collections.abc import Callable

from gui.engine.errors import CannotRead
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.ledger import Ledger
from gui.engine.runs.processes import Tree, read_exit
from gui.engine.texts import _

PATIENCE_SECONDS = 15.0
"""So long they may live on: an upload may still be under way."""


class Leftovers:
    """Looks at what is alive after the trainer's end was noted.

    Args:
        run: The folder.
        ledger: Where it is written down.
        wrapped: Whether another program starts the script: when that is ended from outside, the
            training itself goes on (recordings ``h_sigint_pid``, ``h_sigterm_pid``).
    """

    def __init__(self, run: RunFolder, ledger: Ledger, *, wrapped: bool) -> None:
        self._run = run
        self._ledger = ledger
        self._wrapped = wrapped
        self._since: float | None = None

    def look(self, tree: Tree, pump: Callable[[], None]) -> None:
        """End what is left over, once it has had its time."""
        if not self._run.exit.exists():
            return
        now = self._ledger.now()
        if self._since is None:
            self._since = now
        if now - self._since < PATIENCE_SECONDS:
            return
        signal = self._signal_of_wrapper()
        if signal is not None:
            text = _(
                "The program that started the trainer was ended from outside (signal {number}); the "
                "training itself goes on."
            )
            self._ledger.notice("orphan", text.format(number=signal))
            return
        self._ledger.notice("leftovers", _("The trainer left processes behind; they are being ended."))
        tree.stop(meanwhile=pump)
        self._since = self._ledger.now()

    def _signal_of_wrapper(self) -> int | None:
        """Return what ended the wrapper, None when it ended by itself or there is none."""
        try:
            exited = read_exit(self._run.path)
        except CannotRead:
            return None
        status = exited.status if exited else None
        return -status if self._wrapped and status is not None and status < 0 else None
