"""What stories stand on: windows for persons, a home that knows the practice trainer, small plans.

The ``conftest.py`` of a folder of stories takes all of it in.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_trainers import hide_other_trainers
from patient_qtbot import PatientQtBot
from person import Person, persons
from practice_runs import TRAINS_SMALL, make_images
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from run_helper import ended, wait_until

from gui.engine.paths import Home
from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.runs.processes import tree_of

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

ARGUMENTS: dict[str, object] = {**TRAINS_SMALL, "output_dir": "out", "save_every_n_steps": 4}


@pytest.fixture
def known_home(home: Home, practice_is_known: None) -> Home:
    """Return a home that knows the practice trainer, and nothing else."""
    return home


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep this machine's own trainers and its trash out of the stories."""
    place = tmp_path / "machine"
    place.mkdir()
    hide_other_trainers(monkeypatch, place)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    """Return what clicks, types and waits."""
    return PatientQtBot(request)


@pytest.fixture
def sit_down(
    qtbot: QtBot, qapp: QApplication, home: Home, no_leftovers: object
) -> Iterator[Callable[..., Person]]:
    """Return what opens a window for somebody; at the end all are closed and no run goes on."""
    try:
        with persons(qtbot, qapp) as sit:
            yield sit
    finally:
        for name in run_names(home):
            _end(RunFolder(home.runs / name))


def _end(run: RunFolder) -> None:
    if run.launcher.is_file():
        tree_of(run.path).stop()
        wait_until(lambda: not run.status.is_file() or ended(run))


@pytest.fixture
def write_plan(tmp_path: Path) -> Callable[..., Path]:
    """Return what writes a plan for a few small images; None leaves an argument out."""

    def write(
        name: str = "small", *, trainer: str = "default", guard: str = "stop", **changes: object
    ) -> Path:
        pictures = tmp_path / "plans" / "images" / "sks"
        if not pictures.exists():
            make_images(pictures, 6)
        given = {key: value for key, value in {**ARGUMENTS, **changes}.items() if value is not None}
        lines = [
            "schema = 1",
            f"name = {json.dumps(name)}",
            'family = "sd15"',
            f"trainer = {json.dumps(trainer)}",
        ]
        lines += ["[arguments]", *(f"{key} = {json.dumps(value)}" for key, value in given.items())]
        lines += ["[dataset]", "resolution = [64, 64]", "batch_size = 2", 'caption_extension = ".txt"']
        lines += ["[[dataset.subsets]]", f"image_dir = {json.dumps(str(pictures))}", "num_repeats = 4"]
        lines += ['class_tokens = "sks"', "[guard]", f"nonfinite = {json.dumps(guard)}"]
        path = tmp_path / "plans" / f"{name}.toml"
        path.write_text("\n".join(lines), "utf-8")
        return path

    return write
