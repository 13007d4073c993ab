"""Finds the run that saved a file, and the samples that were drawn about then."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from gui.engine.errors import PreflightError
from gui.engine.paths import Home
from gui.engine.preflight.state_look import STATE_END
from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.runs.records import CommandRecord
from gui.engine.runs.save_names import SaveName, SaveNames
from gui.engine.runs.saves import SAMPLE_FOLDER
from gui.engine.runs.series import saved_model
from gui.engine.runs.start import read_status


class SamplesThen(NamedTuple):
    """Samples of about the time of a file.

    Attributes:
        paths: One for each prompt, in their order.
        exact: Whether they were drawn at the very step or epoch; else they are the last ones before.
    """

    paths: tuple[Path, ...] = ()
    exact: bool = False


def run_of_file(home: Home, path: Path) -> RunFolder | None:
    """Return the newest run that saved a file or state, or keeps a copy under that name."""
    for name in run_names(home):
        run = RunFolder(home.runs / name)
        try:
            status = read_status(run)
        except PreflightError:
            continue
        if status is not None and any(path in (file.path, file.kept_as) for file in status.files):
            return run
    return None


def samples_of_file(run: RunFolder, path: Path) -> SamplesThen:
    """Return the samples that belong to a saved file.

    Args:
        run: That saved it.
        path: The file.
    """
    found = _samples(run)
    saved_with = path.name.removesuffix(STATE_END)
    model = saved_model(path.with_name(f"{saved_with}.safetensors") if saved_with != path.name else path)
    if not found:
        return SamplesThen()
    at = [(each, name) for each, name in found if _is_of(name, model.step, model.epoch)]
    if at:
        return SamplesThen(_by_prompt(at), exact=True)
    before = [(each, name) for each, name in found if _is_before(name, model.step, model.epoch)]
    if not before:
        return SamplesThen()
    last = max((name.step or 0, name.epoch or 0) for _path, name in before)
    then = [(each, name) for each, name in before if (name.step or 0, name.epoch or 0) == last]
    return SamplesThen(_by_prompt(then), exact=False)


def _is_of(name: SaveName, step: int | None, epoch: int | None) -> bool:
    if name.epoch is not None:
        return name.epoch == epoch
    return name.step is not None and name.step == step


def _is_before(name: SaveName, step: int | None, epoch: int | None) -> bool:
    if name.epoch is not None:
        return epoch is not None and name.epoch < epoch
    return step is not None and name.step is not None and name.step < step


def _by_prompt(found: list[tuple[Path, SaveName]]) -> tuple[Path, ...]:
    """Return one picture for each prompt: the one that was drawn last."""
    last: dict[int, Path] = {}
    for path, name in sorted(found, key=lambda each: each[0].name):
        last[name.prompt or 0] = path
    return tuple(last[prompt] for prompt in sorted(last))


def _samples(run: RunFolder) -> list[tuple[Path, SaveName]]:
    try:
        command = CommandRecord.read(run.command)
    except PreflightError:
        return []
    if command.output_dir is None:
        return []
    base = command.output_name
    names = SaveNames(None if base is None else os.path.basename(base))  # noqa: PTH119 -- may end in a slash
    folder = command.output_dir / SAMPLE_FOLDER
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return []
    return [(entry, name) for entry in entries if (name := names.sample(entry.name)) is not None]
