"""What the runs of a machine have taught about its memory: kept below the home, readable, forgettable."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from gui.engine.documents import Document, read_json, reason_of, write_atomically
from gui.engine.errors import CannotRead, CannotWrite, NewerDocument, PreflightError
from gui.engine.file_lock import held
from gui.engine.hardware.memory.correction import MemoryCorrection
from gui.engine.hardware.memory.fit import Fitted, fit
from gui.engine.hardware.memory.observations import Machine, Observation, activation_key
from gui.engine.hardware.memory.question import MemoryQuestion
from gui.engine.paths import Home
from gui.engine.plan.families import families
from gui.engine.texts import _

SCHEMA = 1

MOST_OBSERVATIONS = 200
"""Older ones are forgotten: trainers and drivers change."""


class MemoryLearning(Document):
    """What is known of one GPU: ``<home>/memory/<GPU>.json``.

    Attributes:
        gpu: Its lasting name.
        name: Its model.
        fitted: What follows from the observations.
        observations: What the runs measured, the oldest first.
    """

    schema_: Literal[1] = Field(default=1, alias="schema")
    gpu: str
    name: str = ""
    fitted: Fitted = Fitted()
    observations: tuple[Observation, ...] = ()

    def correction(
        self, question: MemoryQuestion, prior: MemoryCorrection, software: str | None = None
    ) -> MemoryCorrection:
        """Return what a forecast takes from here; from the prior what was not learned.

        Args:
            question: What is to be forecast: activations are learned by checkpointing, attention and
                family, or the family whose table it is forecast by.
            prior: What is assumed of a machine before any run.
            software: As ``Machine.software``; None, or one that no run used yet, takes the newest run's.
        """
        contexts = self.fitted.context_gib
        newest = self.observations[-1].software if self.observations else ""
        lineage = _lineage(question.family)
        keys = [
            activation_key(family, question.attention, checkpointing=question.checkpointing)
            for family in lineage
        ]
        learned_activation = next(filter(None, map(self.fitted.activation.get, keys)), None)
        return MemoryCorrection(
            context_gib=contexts.get(software or newest) or contexts.get(newest) or prior.context_gib,
            activation=learned_activation or prior.activation,
            fragmentation=self.fitted.fragmentation or prior.fragmentation,
            runs=sum(seen.family in lineage for seen in self.observations),
        )


def learned(home: Home, gpu: str) -> MemoryLearning:
    """Return what is known of a GPU; nothing where its file is missing, damaged, or of a newer version.

    Args:
        home: Where it is kept.
        gpu: The GPU's lasting name.
    """
    try:
        return _read(_path(home, gpu))
    except (CannotRead, NewerDocument):
        return MemoryLearning(schema=SCHEMA, gpu=gpu)


def unreadable(home: Home) -> tuple[PreflightError, ...]:
    """Return why files of what was learned count for nothing: they are damaged, or of a newer version.

    Args:
        home: Where it is kept.
    """
    found: list[PreflightError] = []
    for path in _files(home):
        try:
            _read(path)
        except (CannotRead, NewerDocument) as error:
            found.append(error)
    return tuple(found)


def all_learned(home: Home) -> tuple[MemoryLearning, ...]:
    """Return what is known of every GPU, in the order of their lasting names; damaged files are left out.

    Args:
        home: Where it is kept.
    """
    known = (learned(home, path.stem) for path in _files(home))
    return tuple(one for one in known if one.observations)


def learn(home: Home, machine: Machine, observation: Observation, prior: MemoryCorrection) -> MemoryLearning:
    """Add what a run has measured; a run that was added before counts once, by its newest figures.

    A damaged file is put aside as ``….damaged``, not lost.

    Args:
        home: Where it is kept.
        machine: Where the run ran.
        observation: What it measured.
        prior: What is assumed of the machine before any run.

    Raises:
        CannotWrite: The file cannot be written.
        NewerDocument: A newer version of this program wrote it, and would lose something.
    """
    path = _path(home, machine.gpu)
    with held(path):
        before = _before(path)
        kept = [seen for seen in before if not seen.run or seen.run != observation.run]
        observations = (*kept, observation)[-MOST_OBSERVATIONS:]
        known = MemoryLearning(
            schema=SCHEMA,
            gpu=machine.gpu,
            name=machine.name,
            fitted=fit(observations, prior),
            observations=observations,
        )
        write_atomically(path, known.model_dump_json(by_alias=True, indent=1) + "\n")
    return known


def forget(home: Home, gpu: str | None = None) -> bool:
    """Forget what was learned.

    Args:
        home: Where it is kept.
        gpu: Of which GPU; None forgets all.

    Returns:
        Whether there was anything, be it damaged.

    Raises:
        CannotWrite: It cannot be removed.
    """
    found = [path for path in _files(home) if gpu is None or path == _path(home, gpu)]
    for path in found:
        with held(path):
            for each in (path, _aside(path)):
                try:
                    each.unlink(missing_ok=True)
                except OSError as error:
                    raise CannotWrite(each, reason_of(error)) from error
    return bool(found)


def _files(home: Home) -> list[Path]:
    return sorted(home.memory.glob("[!.]*.json"))


def _read(path: Path) -> MemoryLearning:
    """Raises CannotRead or NewerDocument."""
    value = read_json(path)
    schema = value.get("schema") if isinstance(value, dict) else None
    if isinstance(schema, int) and schema > SCHEMA:
        raise NewerDocument(path, schema, SCHEMA)
    try:
        return MemoryLearning.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "–"
        reason = _("{field}: {problem}").format(field=place, problem=first["msg"])
        raise CannotRead(path, reason) from error


def _before(path: Path) -> tuple[Observation, ...]:
    """Return what was observed before; a file that tells nothing is put aside."""
    try:
        return _read(path).observations
    except CannotRead:
        with contextlib.suppress(OSError):
            path.replace(_aside(path))
        return ()


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.damaged")


def _lineage(family: str) -> list[str]:
    """Return a family and all that it extends: one of them is named in what was observed."""
    known, found = families(), [family]
    while (parent := known[found[-1]].extends if found[-1] in known else None) is not None:
        found.append(parent)
    return found


def _path(home: Home, gpu: str) -> Path:
    name = "".join(sign if sign.isalnum() or sign == "-" else "_" for sign in gpu)
    return home.memory / f"{name or 'gpu'}.json"
