"""What would be lost with a run's folder, and whether it may be removed now.

Nothing is removed here: whoever asks moves the folder to the system's trash.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from gui.engine.documents import Document
from gui.engine.errors import PreflightError, RunRefused
from gui.engine.runs.figures import size
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.rivals import is_alive
from gui.engine.runs.status import RunStatus
from gui.engine.texts import _, ngettext
from gui.engine.trainer.tensors import MODEL_SUFFIXES


class RemovalLoss(Document):
    """What a run's folder holds that would go with it, and what would stay.

    Attributes:
        folder: The run's folder.
        living: Whether something of the run still works, so that it must not be removed.
        size_bytes: All that lies in the folder; what other names hold on to is counted too.
        inside: Models that lie in the folder and would be lost.
        outside: Models and states of the run that lie elsewhere and stay.
        sentence: All that for the user.
    """

    folder: Path
    living: bool
    size_bytes: int
    inside: tuple[Path, ...] = ()
    outside: tuple[Path, ...] = ()
    sentence: str = ""


def what_removal_loses(run: RunFolder) -> RemovalLoss:
    """Look through a run's folder; whatever cannot be read is left out."""
    living = is_alive(run)
    total, inside = _contents(run.path)
    outside = _elsewhere(run)
    return RemovalLoss(
        folder=run.path,
        living=living,
        size_bytes=total,
        inside=inside,
        outside=outside,
        sentence=_sentence(run, total, inside, outside, living=living),
    )


def what_removals_lose(losses: Sequence[RemovalLoss]) -> str:
    """Return what goes with several runs, for the user; those that live stay, and are named."""
    gone = [loss for loss in losses if not loss.living]
    living = [loss.folder.name for loss in losses if loss.living]
    parts = [
        ngettext(
            "The record of {count} run goes: plan, log, figures, events ({size}).",
            "The records of {count} runs go: plans, logs, figures, events ({size}).",
            len(gone),
        ).format(count=len(gone), size=size(sum(loss.size_bytes for loss in gone)))
    ]
    parts += _models_of_several(gone)
    if living:
        text = ngettext(
            "This one is still running and stays: {names}.",
            "These are still running and stay: {names}.",
            len(living),
        )
        parts.append(text.format(names=_few(living)))
    return " ".join(parts)


def require_removable(run: RunFolder) -> None:
    """Refuse the removal of a run that lives.

    Raises:
        RunRefused: It does.
    """
    if is_alive(run):
        raise RunRefused(_living_sentence(run))


def _contents(folder: Path) -> tuple[int, tuple[Path, ...]]:
    """Return the bytes below a folder, and the models among its files; links are not followed."""
    total = 0
    models: list[Path] = []
    for root, _folders, names in os.walk(folder):
        for name in names:
            path = Path(root) / name
            try:
                total += path.lstat().st_size
            except OSError:
                continue
            if path.suffix.lower() in MODEL_SUFFIXES and path != folder / "reserve.bin":
                models.append(path)
    return total, tuple(sorted(models))


def _elsewhere(run: RunFolder) -> tuple[Path, ...]:
    try:
        status = RunStatus.read(run.status)
    except PreflightError:
        return ()
    places = [path for file in status.files for path in (file.path, file.kept_as) if path is not None]
    return tuple(path for path in places if not path.is_relative_to(run.path) and path.exists())


def _sentence(
    run: RunFolder, total: int, inside: tuple[Path, ...], outside: tuple[Path, ...], *, living: bool
) -> str:
    if living:
        return _living_sentence(run)
    parts = [
        _("The record of {name} goes: plan, log, figures, events ({size}).").format(
            name=run.name, size=size(total)
        )
    ]
    return " ".join([*parts, *_model_words(inside, outside)])


def _model_words(inside: Sequence[Path], outside: Sequence[Path]) -> list[str]:
    """Say which models go with a run, and how many stay."""
    parts = []
    if inside:
        parts.append(
            ngettext(
                "{count} model lies in it and goes too: {names}.",
                "{count} models lie in it and go too: {names}.",
                len(inside),
            ).format(count=len(inside), names=_few([path.name for path in inside]))
        )
    if outside:
        parts.append(
            ngettext(
                "{count} file that it saved elsewhere stays.",
                "{count} files that it saved elsewhere stay.",
                len(outside),
            ).format(count=len(outside))
        )
    return parts


def _models_of_several(gone: Sequence[RemovalLoss]) -> list[str]:
    """Say which models go with several runs, and how many stay."""
    inside = [path.name for loss in gone for path in loss.inside]
    outside = sum(len(loss.outside) for loss in gone)
    parts = []
    if inside:
        text = ngettext(
            "{count} model lies in them and goes too: {names}.",
            "{count} models lie in them and go too: {names}.",
            len(inside),
        )
        parts.append(text.format(count=len(inside), names=_few(inside)))
    if outside:
        text = ngettext(
            "{count} file that they saved elsewhere stays.",
            "{count} files that they saved elsewhere stay.",
            outside,
        )
        parts.append(text.format(count=outside))
    return parts


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")


def _living_sentence(run: RunFolder) -> str:
    return _("{name} is still running. Stop it first.").format(name=run.name)
