"""The captioners that come with a trainer: which there are, what they take, and what they lack here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.errors import RunRefused
from gui.engine.resources import resource_path
from gui.engine.texts import _
from gui.engine.trainer.catalogue import ScriptArguments
from gui.engine.trainer.facts import ImportFailure, ScriptFacts
from gui.engine.trainer.installs import TrainerInstall
from gui.engine.trainer.probe import state_of
from gui.engine.trainer.probe_run import ProbeRun
from gui.engine.trainer.remembered import recall, remember
from gui.engine.trainer.stage_run import Progress
from gui.engine.yaml_text import read_yaml


class CaptionerWay(Document):
    """One way in which a captioner can run.

    Attributes:
        modules: What its Python must be able to import, to what pip calls it.
        arguments: What is set then.
    """

    modules: dict[str, str]
    arguments: dict[str, Any] = Field(default_factory=dict)


class Captioner(Document):
    """One captioner; see ``resources/captioners.yaml``.

    Attributes:
        title: What it is called.
        description: What it is good for.
        script: Its file, below the trainer's folder.
        ways: The first that is possible is taken.
        arguments: What is set unless the user says otherwise.
        models: The argument that names the folder of its weights; None where it has none.
        fetches_gib: About how much it fetches the first time.
        fields: The arguments that are worth a look.
    """

    title: str
    description: str
    script: str
    ways: tuple[CaptionerWay, ...]
    arguments: dict[str, Any] = Field(default_factory=dict)
    models: str | None = None
    fetches_gib: float
    fields: tuple[str, ...]
    sources: tuple[str, ...]


class _Captioners(Document):
    schema_: Literal[1] = Field(alias="schema")
    captioners: dict[str, Captioner]


class CaptionerFacts(Document):
    """What a trainer's Python says about a captioner.

    Attributes:
        script: Its parser, or why it cannot be imported.
        modules: What can be imported; None where this Python cannot tell.
    """

    script: ScriptFacts
    modules: tuple[str, ...] | None = None

    def arguments(self, captioner: Captioner) -> ScriptArguments:
        """Return the script's own arguments; none where it cannot be imported."""
        return ScriptArguments(captioner.script, self.script.arguments)


@lru_cache(maxsize=4)
def captioners(path: Path | None = None) -> Mapping[str, Captioner]:
    """Return all captioners by name, in the order of lists.

    Args:
        path: The file; None takes the program's own.

    Raises:
        CannotRead: It is no such file.
    """
    return read_yaml(path or resource_path("captioners.yaml"), _Captioners).captioners


def ask_captioner(
    install: TrainerInstall,
    captioner: Captioner,
    cache: Path,
    *,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> CaptionerFacts:
    """Return what a trainer's Python says about a captioner, from the cache where nothing has changed.

    Args:
        install: The trainer.
        captioner: Which.
        cache: The home's cache folder.
        progress: Told what is being looked at.
        cancelled: Asked often; True ends it.

    Raises:
        RunRefused: The trainer has no such script.
        Cancelled: The caller asked for it.
    """
    if not (install.root / captioner.script).is_file():
        raise RunRefused(
            _("This trainer has no {script}, with which it would write captions.").format(
                script=captioner.script
            )
        )
    changed = (install.root / captioner.script).stat().st_mtime_ns
    key, place = (
        f"{state_of(install)} {changed}",
        cache / "captioners" / f"{Path(captioner.script).stem}.json",
    )
    known = recall(place, key, CaptionerFacts)
    if known is not None:
        return known
    run = ProbeRun(install, ("modules", captioner.script), progress=progress, cancelled=cancelled)
    run.run()
    failure: ImportFailure | None = run.failures.get(captioner.script)
    script = (
        ScriptFacts(error=failure)
        if failure
        else ScriptFacts.model_validate({"arguments": run.results[captioner.script]})
    )
    facts = CaptionerFacts(script=script, modules=run.results.get("modules"))
    if failure is None and not missing_packages(captioner, facts):
        remember(place, key, facts)  # what is missing may be there the next time
    return facts


def missing_packages(captioner: Captioner, facts: CaptionerFacts) -> tuple[str, ...]:
    """Return what has to be installed before a captioner can run, as pip calls it; none when all is there."""
    if facts.modules is None:
        failure = facts.script.error
        names = {module: name for way in captioner.ways for module, name in way.modules.items()}
        return (names.get(failure.missing, failure.missing),) if failure and failure.missing else ()
    lacking = [
        tuple(name for module, name in way.modules.items() if module not in facts.modules)
        for way in captioner.ways
    ]
    return () if () in lacking else lacking[0]


def way_of(captioner: Captioner, facts: CaptionerFacts) -> CaptionerWay:
    """Return the way in which a captioner can run here: the first whose modules are there."""
    known = facts.modules
    possible = (way for way in captioner.ways if known is None or set(way.modules) <= set(known))
    return next(possible, captioner.ways[0])


def require_runnable(install: TrainerInstall, captioner: Captioner, facts: CaptionerFacts) -> None:
    """Refuse a captioner that would only fail, and say what it needs.

    Raises:
        RunRefused: Packages are missing, or its script cannot be imported.
    """
    missing = missing_packages(captioner, facts)
    if missing:
        raise RunRefused(
            _(
                "{title} needs packages that the trainer does not have: {python} -m pip install {names}"
            ).format(title=captioner.title, python=install.python, names=" ".join(missing))
        )
    failure = facts.script.error
    if failure is not None:
        raise RunRefused(
            _("{script} cannot be used: {reason}").format(
                script=captioner.script, reason=f"{failure.exception}: {failure.message}".rstrip(": ")
            )
        )
