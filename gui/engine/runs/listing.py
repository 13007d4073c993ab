"""The runs on this machine; the set of folders is the only database of them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from gui.engine.documents import Document
from gui.engine.errors import NewerDocument, PreflightError
from gui.engine.paths import Home
from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.runs.lock import is_held
from gui.engine.runs.records import Versioned
from gui.engine.runs.status import RunState, RunStatus, VerdictWord
from gui.engine.texts import _

Condition = Literal["fine", "unattended", "newer", "broken", "foreign"]


class RunEntry(Document):
    """One folder in the place of runs.

    Attributes:
        name: The run's name.
        folder: Where it is.
        condition: ``unattended`` has no supervisor though it is not judged; ``newer`` is of a newer version
            of this program; ``broken`` cannot be read; ``foreign`` is no run.
        problem: What is wrong, in plain words; empty where nothing is.
        plan_name: The plan's.
        practice: Whether the practice trainer runs.
        state: What the run is doing, None where that cannot be read.
        verdict: How it ended, None while it has not.
        sentence: The verdict in words.
        step: The last step.
        total: How many there are to be.
    """

    name: str
    folder: Path
    condition: Condition = "fine"
    problem: str = ""
    plan_name: str = ""
    practice: bool = False
    state: RunState | None = None
    verdict: VerdictWord | None = None
    sentence: str = ""
    step: int | None = None
    total: int | None = None


class RunList(Versioned):
    """All of them, newest first: ``runs --json``."""

    runs: tuple[RunEntry, ...]


def list_runs(home: Home) -> RunList:
    """Return what lies in the place of runs; nothing there can make this fail."""
    return RunList(runs=tuple(_entry(RunFolder(home.runs / name)) for name in run_names(home)))


def _entry(run: RunFolder) -> RunEntry:
    if not run.exists():
        return RunEntry(
            name=run.name, folder=run.path, condition="foreign", problem=_("this folder is not a run")
        )
    try:
        status = RunStatus.read(run.status)
    except NewerDocument as error:
        return RunEntry(name=run.name, folder=run.path, condition="newer", problem=str(error))
    except PreflightError as error:
        return RunEntry(name=run.name, folder=run.path, condition="broken", problem=str(error))
    unattended = status.state != "ended" and not is_held(run.lock)
    problem = _("nobody looks after it; “attach {name}” finds out what became of it") if unattended else ""
    verdict = status.verdict
    return RunEntry(
        name=run.name,
        folder=run.path,
        condition="unattended" if unattended else "fine",
        problem=problem.format(name=run.name),
        plan_name=status.plan_name,
        practice=status.practice,
        state=status.state,
        verdict=verdict.verdict if verdict else None,
        sentence=verdict.sentence if verdict else "",
        step=status.step,
        total=status.total,
    )
