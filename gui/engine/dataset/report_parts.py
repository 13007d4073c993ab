"""What reports of images and of captions are both made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gui.engine.dataset.problem_kinds import problem_kinds
from gui.engine.documents import Document
from gui.engine.findings import Severity


class FoundProblem(Document):
    """One kind of trouble in one folder.

    Attributes:
        key: See ``problem_kinds``.
        id: Of the finding.
        severity: How bad.
        names: The files, sorted.
    """

    key: str
    id: str
    severity: Severity
    names: tuple[str, ...]


def found_problems(found: Mapping[str, Iterable[str]]) -> tuple[FoundProblem, ...]:
    """Return kinds of trouble in the order in which they are told.

    Args:
        found: Key, see ``problem_kinds``, to names.
    """
    return tuple(
        FoundProblem(key=key, id=kind.id, severity=kind.severity, names=tuple(sorted(found[key])))
        for key, kind in problem_kinds().items()
        if found.get(key)
    )
