"""The tokens of this person: which are kept and where; kept, moved and forgotten without waiting."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gui.engine.errors import PreflightError
from gui.engine.plan.changes import ACTION
from gui.engine.plan.tokens import tokens_in
from gui.engine.redaction import ARGUMENT_OF_VARIABLE, Secret
from gui.engine.texts import _
from gui.engine.token_store import Place, TokenStore, kept_words
from gui.window.bridges.tasks import TaskHandle, Tasks

if TYPE_CHECKING:
    from gui.engine.findings import Fix
    from gui.window.models.editable_plan import EditablePlan

Failed = Callable[[PreflightError], None]

LOOK_KEY = "tokens-look"


class Tokens(QObject):
    """Asks the store in threads: a keyring may ask its user for a password first.

    Args:
        store: Where tokens are kept.
        tasks: For asking it.
    """

    changed = Signal()
    """What is known, or `busy`, is other than before."""
    said = Signal(str)
    """What became of a token, in a sentence."""
    failed = Signal(object)
    """`PreflightError`: why something was not done."""

    def __init__(self, store: TokenStore, tasks: Tasks) -> None:
        super().__init__()
        self.store = store
        self._tasks = tasks
        self._known: dict[str, Place] = {}
        self._keyring: str | None = None
        self._busy: set[str] = set()

    @property
    def known(self) -> Mapping[str, Place]:
        """Which tokens are kept, by the trainer's argument, as was last seen."""
        return self._known

    def busy(self, name: str) -> bool:
        """Whether a token is being kept or forgotten now."""
        return name in self._busy

    def place_words(self) -> str:
        """Say where tokens are kept; empty before anybody looked."""
        if self._keyring:
            text = _("They are kept in the keyring of this system ({name}), and in no file of this program.")
            return text.format(name=self._keyring)
        if self._keyring is None:
            return ""
        text = _(
            "The keyring of this system cannot be used ({problem}): they are kept in memory until this "
            "window is closed."
        )
        return text.format(problem=self.store.problem)

    @staticmethod
    def in_environment(name: str) -> str:
        """Return the variable of this program's environment that says a token, and wins; empty for none."""
        found = (each for each, argument in ARGUMENT_OF_VARIABLE.items() if argument == name)
        return next((each for each in found if os.environ.get(each)), "")

    def look(self) -> None:
        """Look which tokens are kept, and which keyring there is."""
        self._tasks.run(self._looked, self._take_look, self.failed.emit, key=LOOK_KEY)

    def keep(
        self,
        secrets: Mapping[str, Secret],
        done: Callable[[], None] | None = None,
        failed: Failed | None = None,
    ) -> None:
        """Keep tokens in place of older ones; what became of them is `said`.

        Args:
            secrets: The trainer's argument to token.
            done: Called once they are kept.
            failed: Takes why not; None lets it be told by `failed`.
        """

        def work(_handle: TaskHandle) -> list[str]:
            places = {name: self.store.keep(name, secret.reveal()) for name, secret in secrets.items()}
            return [kept_words(name, place, self.store.problem) for name, place in places.items()]

        def kept(words: list[str]) -> None:
            self.said.emit("\n".join(words))
            if done is not None:
                done()

        self._change(set(secrets), work, kept, failed)

    def forget(self, name: str, failed: Failed | None = None) -> None:
        """Remove a token from wherever it is kept."""
        self._change({name}, lambda _handle: self.store.forget(name), lambda _nothing: None, failed)

    def move(self, document: EditablePlan, target: str, fix: Fix) -> None:
        """Keep a token that a plan holds, and then take it out of the plan.

        Args:
            document: The plan.
            target: Where it stands.
            fix: Takes it out.
        """

        def standing() -> dict[str, Secret]:
            return {each.name: each.secret for each in tokens_in(document.plan) if each.target == target}

        secrets = standing()

        def take_out() -> None:
            if standing() == secrets:  # not another plan by now
                changes = {place: value for place, value in fix.changes.items() if place != ACTION}
                document.change(changes, fix.label)

        if secrets:
            self.keep(secrets, take_out)

    def _looked(self, _handle: TaskHandle) -> tuple[dict[str, Place], str]:
        return self.store.known(), self.store.look()

    def _take_look(self, seen: tuple[dict[str, Place], str]) -> None:
        self._known, self._keyring = seen
        self.changed.emit()

    def _change(
        self,
        names: set[str],
        work: Callable[[TaskHandle], object],
        done: Callable[..., None],
        failed: Failed | None,
    ) -> None:
        def over() -> None:
            self._busy -= names
            self.changed.emit()
            self.look()

        def succeeded(result: object) -> None:
            over()
            done(result)

        def refused(error: PreflightError) -> None:
            over()
            (failed or self.failed.emit)(error)

        self._busy |= names
        self.changed.emit()
        self._tasks.run(work, succeeded, refused)
