"""Takes the requests out of the run folder and answers them."""

from __future__ import annotations

from collections.abc import Callable

from gui.engine.runs.events import Answered, RequestKind
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.ledger import Ledger
from gui.engine.runs.requests import Numbered, read_requests
from gui.engine.texts import _

LOOK_SECONDS = 0.1

UNREADABLE_SECONDS = 1.0
"""So long a request that cannot be read may still be being written."""

Act = Callable[[], tuple[bool, str]]
"""Does something; tells whether it is done, and the sentence for whoever asked."""


class RequestDesk:
    """Looks for requests ten times a second.

    Args:
        run: The folder.
        ledger: Where the answers go.
        answered: Numbers of those answered before.
        acts: What to do for each kind.
    """

    def __init__(
        self, run: RunFolder, ledger: Ledger, answered: set[int], acts: dict[RequestKind, Act]
    ) -> None:
        self._run = run
        self._ledger = ledger
        self._answered = answered
        self._acts = acts
        self._due = 0.0
        self._unreadable: dict[int, float] = {}

    def look(self) -> None:
        """Answer what is new."""
        now = self._ledger.now()
        if now < self._due:
            return
        self._due = now + LOOK_SECONDS
        for numbered in read_requests(self._run, self._answered):
            if numbered.request is None and not self._is_broken(numbered, now):
                continue
            self._answer(numbered, *self._act(numbered))

    def refuse_all(self, sentence: str) -> None:
        """Answer what is left when the run is over."""
        for numbered in read_requests(self._run, self._answered):
            self._answer(numbered, False, sentence)

    def _act(self, numbered: Numbered) -> tuple[bool, str]:
        if numbered.request is None:
            return False, _("This request cannot be read: {problem}").format(problem=numbered.problem)
        return self._acts[numbered.request.request]()

    def _answer(self, numbered: Numbered, done: bool, sentence: str) -> None:
        self._answered.add(numbered.number)
        self._ledger.say(
            Answered(
                number=numbered.number,
                request=numbered.request.request if numbered.request else None,
                by=numbered.request.by if numbered.request else "",
                done=done,
                sentence=sentence,
            )
        )
        self._ledger.flush()

    def _is_broken(self, numbered: Numbered, now: float) -> bool:
        first = self._unreadable.setdefault(numbered.number, now)
        return now - first >= UNREADABLE_SECONDS
