"""What can be wrong with a trainer and its Python; import these from ``gui.engine.errors``."""

from __future__ import annotations

from pathlib import Path

from gui.engine.error_base import PreflightError
from gui.engine.quantities import gib
from gui.engine.texts import _


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
                "No sd-scripts install was found. Name one (in the window under Settings, in the terminal "
                "with --trainer DIR or “trainer use DIR”), or try the built-in practice trainer "
                "(in the terminal: --practice)."
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
            "Name its interpreter (in the window under Settings, in the terminal with --python)."
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
                "Install the trainer's requirements there, or name another interpreter (in the window "
                "under Settings, in the terminal with --python)."
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


class PracticeNeedsTorch(PreflightError):
    """Nothing on this machine can run the practice trainer until torch is fetched.

    Attributes:
        amount: How much that is, in words and already translated.
    """

    def __init__(self, amount: str = "") -> None:
        super().__init__(amount)
        self.amount = amount

    def message(self) -> str:
        """Say what is missing, and the two ways to get it."""
        text = _(
            "The practice trainer needs torch, and no Python on this machine has one that works. "
            "Fetch torch under Settings → Trainers, or add a trainer that has it: practice runs borrow it."
        )
        return f"{text} {self.amount}".rstrip()


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
