"""What the program could not do, as data; the words are made here and say what to do.

Problems with a user's values are findings, never exceptions. An exception here means
that an input could not be read or an action could not be done at all. The command line
prints ``str(error)`` as its one line and leaves with status 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gui.engine.quantities import gib
from gui.engine.texts import _

if TYPE_CHECKING:
    from gui.engine.findings import Finding


class PreflightError(Exception):
    """The root of everything that this program raises on purpose.

    Sub-classes keep what happened as attributes and make their sentence in ``message``.
    """

    def message(self) -> str:
        """Return one plain sentence: what happened, and what to do."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.message()


class CannotRead(PreflightError):
    """A file or folder could not be read, or is not what it should be.

    Attributes:
        path: The file or folder.
        reason: Why, in plain words and already translated.
    """

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = Path(path)
        self.reason = reason

    def message(self) -> str:
        """Name the file and the reason."""
        return _("{path} cannot be read: {reason}").format(path=self.path, reason=self.reason)


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


class CannotWrite(PreflightError):
    """A file or folder could not be written.

    Attributes:
        path: The file or folder.
        reason: Why, in plain words and already translated.
    """

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = Path(path)
        self.reason = reason

    def message(self) -> str:
        """Name the file and the reason."""
        return _("{path} cannot be written: {reason}").format(path=self.path, reason=self.reason)


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


class WrongUsage(PreflightError):
    """The command line was used wrongly.

    Attributes:
        reason: What is wrong, in plain words and already translated.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def message(self) -> str:
        """Give the reason."""
        return self.reason


class ScriptNeeded(WrongUsage):
    """A list of arguments was brought, and nothing tells which training script it is for.

    Attributes:
        path: The list.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(_("{path} is a list of arguments: name its script with --script.").format(path=path))
        self.path = path


class NoWindow(PreflightError):
    """The window cannot be opened; the command line works all the same.

    Attributes:
        reason: Why and what to do, in plain words and already translated.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def message(self) -> str:
        """Give the reason."""
        return _("The window cannot be opened: {reason}.").format(reason=self.reason)


class UnknownRun(PreflightError):
    """No run, or more than one, is meant by what was given.

    Attributes:
        text: What was given.
        runs: The folder of runs that was searched.
        matches: The names that it could mean, newest first; empty when none.
    """

    def __init__(self, text: str, runs: Path, matches: tuple[str, ...] = ()) -> None:
        super().__init__(text, runs, matches)
        self.text = text
        self.runs = runs
        self.matches = matches

    def message(self) -> str:
        """Name what was given, and what it could mean."""
        if self.matches:
            return _("“{text}” could mean {runs}; give more of the name").format(
                text=self.text, runs=", ".join(self.matches[:5])
            )
        return _("there is no run “{text}” in {folder}").format(text=self.text, folder=self.runs)


class AlreadySupervised(PreflightError):
    """Another supervisor looks after this run.

    Attributes:
        path: The run's folder.
        pid: The other supervisor's process, None where it could not be read.
    """

    def __init__(self, path: Path, pid: int | None) -> None:
        super().__init__(path, pid)
        self.path = path
        self.pid = pid

    def message(self) -> str:
        """Name the run and the process."""
        return _("{run} already has a supervisor (process {pid}); one is enough").format(
            run=self.path.name, pid=self.pid if self.pid is not None else "?"
        )


class RunRefused(PreflightError):
    """A run was not started, or a request to it makes no sense now.

    Attributes:
        reason: Why, in plain words and already translated.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def message(self) -> str:
        """Give the reason."""
        return self.reason


class TrainerNotFound(PreflightError):
    """There is no sd-scripts install where one was expected, or anywhere.

    Attributes:
        path: Where it was expected; None when the whole machine was searched.
        reason: What is wrong there, in plain words and already translated.
    """

    def __init__(self, path: Path | str | None = None, reason: str = "") -> None:
        super().__init__(path, reason)
        self.path = None if path is None else Path(path)
        self.reason = reason

    def message(self) -> str:
        """Say where it was looked for and how to name one."""
        if self.path is None:
            return _(
                "No sd-scripts install was found. Name one with --trainer DIR, remember one with "
                "“trainer use DIR”, or try the built-in practice trainer with --practice."
            )
        return _("{path} is no sd-scripts install: {reason}").format(path=self.path, reason=self.reason)


class InterpreterNotFound(PreflightError):
    """No Python was found that belongs to a trainer.

    Attributes:
        root: The trainer's folder.
        looked: The interpreters that were tried or expected, in order.
    """

    def __init__(self, root: Path | str, looked: tuple[str, ...] = ()) -> None:
        super().__init__(root, looked)
        self.root = Path(root)
        self.looked = looked

    def message(self) -> str:
        """Say what to give."""
        if len(self.looked) == 1:
            return _("{path} is no Python interpreter that can be started.").format(path=self.looked[0])
        return _(
            "No Python environment was found for {root} (no venv, .venv or env in it or around it). "
            "Name its interpreter with --python."
        ).format(root=self.root)


class TrainerBroken(PreflightError):
    """An install is there but cannot train.

    Attributes:
        root: The trainer's folder.
        python: Its interpreter.
        missing: The package that is not installed, where that is the reason.
        own: Whether the trainer runs in this program's own Python, as the practice trainer does.
        reason: What is wrong, in plain words and already translated.
    """

    def __init__(
        self,
        root: Path | str,
        python: Path | str,
        reason: str = "",
        *,
        missing: str | None = None,
        own: bool = False,
    ) -> None:
        super().__init__(root, python, reason)
        self.root = Path(root)
        self.python = Path(python)
        self.reason = reason
        self.missing = missing
        self.own = own

    def message(self) -> str:
        """Name the missing package, or the reason."""
        if self.missing and self.own:
            return _(
                "The practice trainer cannot run: this program's Python has no package “{missing}”. "
                "Add it with: {python} -m pip install {missing}"
            ).format(python=self.python, missing=self.missing)
        if self.missing:
            return _(
                "The trainer at {root} cannot run: its Python ({python}) has no package “{missing}”. "
                "Install the trainer's requirements there, or name another interpreter with --python."
            ).format(root=self.root, python=self.python, missing=self.missing)
        return _("The trainer at {root} cannot run: {reason}").format(root=self.root, reason=self.reason)


class TorchNotFetched(PreflightError):
    """The practice trainer's torch could not be installed.

    Attributes:
        cause: ``no-pip``, or what ``pip_failures`` tells.
        said: pip's own last words.
        log: Where all of them are.
        need_bytes: Room that it takes, where that is the cause and known.
    """

    def __init__(
        self, cause: str, *, said: tuple[str, ...] = (), log: Path | None = None, need_bytes: int = 0
    ) -> None:
        super().__init__(cause, said)
        self.cause = cause
        self.said = said
        self.log = log
        self.need_bytes = need_bytes

    def message(self) -> str:
        """Say why, and what helps."""
        reasons = {
            "no-pip": _(
                "This program's Python has no pip that could fetch torch. "
                "Choose a trainer that has torch; practice runs borrow it."
            ),
            "no-disk": _("torch was not installed: the disk is full. It needs about {need} of room."),
            "no-network": _(
                "torch could not be fetched: no network, or a proxy is in the way "
                "(pip listens to HTTPS_PROXY and PIP_INDEX_URL)."
            ),
            "no-release": _("torch could not be fetched: it has no release for this Python or system."),
            "managed": _(
                "torch was not installed: this Python belongs to the system, which manages its packages "
                "itself. Install Kohya Preflight into an environment of its own."
            ),
            "not-allowed": _("torch was not installed: the folder of this Python cannot be written."),
        }
        reason = reasons.get(self.cause, _("torch could not be installed: {said}"))
        if self.cause == "no-disk" and not self.need_bytes:
            reason = _("torch was not installed: the disk is full. Make room and try again.")
        return reason.format(
            need=gib(self.need_bytes), said=self.said[-1] if self.said else _("pip gave no reason")
        )


class ScriptNotUsable(PreflightError):
    """A trainer has no such training script, or cannot import it.

    Attributes:
        script: The script's file name.
        trainer: The trainer's name and version.
        known: The scripts that it has.
        missing: The package for want of which the script cannot be imported.
        reason: Why the script cannot be imported, as the trainer says it.
    """

    def __init__(
        self,
        script: str,
        *,
        trainer: str,
        known: tuple[str, ...] = (),
        missing: str | None = None,
        reason: str | None = None,
    ) -> None:
        super().__init__(script, trainer)
        self.script = script
        self.trainer = trainer
        self.known = known
        self.missing = missing
        self.reason = reason

    def message(self) -> str:
        """Say what is missing, and what there is."""
        if self.missing:
            return _(
                "{script} cannot be used with this trainer: its Python has no package “{missing}”."
            ).format(script=self.script, missing=self.missing)
        if self.reason:
            return _("{script} cannot be used with this trainer: {reason}").format(
                script=self.script, reason=self.reason
            )
        return _("{trainer} has no script “{script}”. It has: {known}").format(
            trainer=self.trainer, script=self.script, known=", ".join(self.known)
        )


class Cancelled(PreflightError):
    """The user called off what was being done."""

    def message(self) -> str:
        """Say so."""
        return _("Cancelled.")


class CannotLaunch(PreflightError):
    """The trainer could not be started; nothing of it is running.

    Attributes:
        program: The program that should have been started.
        reason: Why and what to do, in plain words and already translated.
    """

    def __init__(self, program: str, reason: str) -> None:
        super().__init__(program, reason)
        self.program = program
        self.reason = reason

    def message(self) -> str:
        """Name the program and the reason."""
        return _("The trainer could not be started with {program}: {reason}").format(
            program=self.program, reason=self.reason
        )


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
