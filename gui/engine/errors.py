"""What the program could not do, as data; the words are made here and say what to do.

Problems with a user's values are findings, never exceptions. An exception here means
that an input could not be read or an action could not be done at all. The command line
prints ``str(error)`` as its one line and leaves with status 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gui.engine.error_base import BecauseOf, PreflightError
from gui.engine.file_errors import CannotRead, CannotWrite
from gui.engine.run_errors import (
    AlreadySupervised,
    CannotContinue,
    CannotEnd,
    QueueRefused,
    RunRefused,
    UnknownRun,
)
from gui.engine.texts import _
from gui.engine.token_errors import KeyringRefused, NotAToken
from gui.engine.trainer_errors import (
    CannotLaunch,
    InterpreterNotFound,
    PracticeNeedsTorch,
    ScriptNotUsable,
    TorchNotFetched,
    TrainerBroken,
    TrainerNotFound,
)

if TYPE_CHECKING:
    from gui.engine.findings import Finding

__all__ = [
    "AlreadySupervised",
    "CannotContinue",
    "CannotEnd",
    "CannotLaunch",
    "CannotRead",
    "CannotWrite",
    "InterpreterNotFound",
    "KeyringRefused",
    "NotAToken",
    "PracticeNeedsTorch",
    "PreflightError",
    "QueueRefused",
    "RunRefused",
    "ScriptNotUsable",
    "TorchNotFetched",
    "TrainerBroken",
    "TrainerNotFound",
    "UnknownRun",
]
"""What is defined elsewhere; all errors are imported from here."""


class NotSafetensors(CannotRead):
    """A file is no safetensors file, or is cut within its header.

    Attributes:
        path: The file.
        reason: What is wrong, in plain words and already translated.
        truncated: Whether more bytes could still make it one: it is being written, or was cut.
    """

    def __init__(self, path: Path | str, reason: str, *, truncated: bool = False) -> None:
        super().__init__(path, reason)
        self.truncated = truncated


class NewerDocument(PreflightError):
    """A document was written by a newer version of this program.

    Attributes:
        path: The document.
        schema: The version that it has.
        known: The newest version that this program knows.
    """

    def __init__(self, path: Path | str, schema: int, known: int) -> None:
        super().__init__(path, schema, known)
        self.path = Path(path)
        self.schema = schema
        self.known = known

    def message(self) -> str:
        """Say which version is needed."""
        return _(
            "{path} was written by a newer version of Kohya Preflight (format {schema}, this one knows "
            "{known}). Update the program to change or run it."
        ).format(path=self.path, schema=self.schema, known=self.known)


class WrongUsage(BecauseOf):
    """The command line was used wrongly."""


class ScriptNeeded(WrongUsage):
    """Arguments were brought, and nothing tells which training script they are for.

    Attributes:
        path: Their file.
    """

    def __init__(self, path: Path) -> None:
        sentence = _("{path} does not tell for which training script it is: name it with --script.")
        super().__init__(sentence.format(path=path))
        self.path = path


class NoWindow(BecauseOf):
    """The window cannot be opened; the command line works all the same."""

    def message(self) -> str:
        """Give the reason."""
        return _("The window cannot be opened: {reason}.").format(reason=self.reason)


class Cancelled(PreflightError):
    """The user called off what was being done."""

    def message(self) -> str:
        """Say so."""
        return _("Cancelled.")


class ScanFailed(BecauseOf):
    """The processes that look at images could not be started."""

    def message(self) -> str:
        """Give the reason."""
        return _("The images cannot be looked at: no process for it could be started ({reason}).").format(
            reason=self.reason
        )


class CannotTrace(BecauseOf):
    """A trainer's networks could not be replayed to see how much memory they need."""

    def message(self) -> str:
        """Give the reason."""
        return _("The exact memory forecast could not be made: {reason}").format(reason=self.reason)


class PlanNotRunnable(PreflightError):
    """No command line can be made of a plan that the trainer would take.

    Attributes:
        findings: What is wrong, all of severity ``stop``.
    """

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__(tuple(findings))
        self.findings = tuple(findings)

    def message(self) -> str:
        """Give the titles, the first few of them."""
        titles = [finding.title for finding in self.findings]
        shown = " ".join(titles[:5])
        if len(titles) <= 5:
            return _("This plan cannot run: {problems}").format(problems=shown)
        return _("This plan cannot run: {problems} (and {count} more)").format(
            problems=shown, count=len(titles) - 5
        )


class _UnknownName(PreflightError):
    """Something was asked for by a name that there is not.

    Attributes:
        name: As it was asked for.
        known: The names that there are.
    """

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(name, tuple(known))
        self.name = name
        self.known = tuple(known)


class UnknownFamily(_UnknownName):
    """There is no model family of this name."""

    def message(self) -> str:
        """Name what there is."""
        return _("There is no model family “{name}”. Known are: {known}").format(
            name=self.name, known=", ".join(self.known)
        )


class UnknownPreset(_UnknownName):
    """There is no preset of this name."""

    def message(self) -> str:
        """Name what there is."""
        return _("There is no preset “{name}”. Known are: {known}").format(
            name=self.name, known=", ".join(self.known) or "–"
        )


class PresetNameRefused(WrongUsage):
    """A preset cannot be kept under a name."""


class PatternRefused(WrongUsage):
    """A regular expression is none, or takes too long."""
