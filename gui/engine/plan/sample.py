"""The sample project: drawn images with captions and a plan, to try everything out with."""

from __future__ import annotations

from pathlib import Path

from gui.engine.documents import reason_of, write_atomically
from gui.engine.errors import CannotRead
from gui.engine.resources import resource_path

PLAN = "plan.toml"
_PARTS = (
    (("sample_project", PLAN), PLAN),
    (("sample_project", "prompts.txt"), "prompts.txt"),
    (("sample_project", "images"), "images"),
    (("practice_trainer", "models"), "models"),
)


def copy_sample_project(target: Path) -> Path:
    """Copy the sample project into a folder and return its plan.

    What is there already stays as it is, so a second call changes nothing and nothing that the
    user changed is lost.

    Args:
        target: The folder; it is made when it is missing.

    Raises:
        CannotWrite: The folder cannot be written.
        CannotRead: The program's own data are damaged.
    """
    for source, name in _PARTS:
        _copy(resource_path(*source), target / name)
    return target / PLAN


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        for entry in sorted(source.iterdir()):
            _copy(entry, target / entry.name)
    elif not target.exists():
        try:
            content = source.read_bytes()
        except OSError as error:
            raise CannotRead(source, reason_of(error)) from error
        write_atomically(target, content)
