"""Launches runs for tests of the window, from a test's script or with the practice trainer, and ends them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from plan_window import open_document, practice_trainer, small_plan
from run_helper import ended, make_run, wait_until

from gui.engine.hardware.gpu import GpuMonitor
from gui.engine.paths import Home
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.prepare import Preparation
from gui.engine.runs.processes import tree_of
from gui.engine.runs.start import start_supervisor


class Launches:
    """Launches runs; all have ended when it is closed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runs: list[RunFolder] = []

    def script(self, source: str, name: str = "it", **options: Any) -> RunFolder:
        """Launch a small trainer of a test."""
        run, order = make_run(self._folder / name, source, **options)
        self._runs.append(run)
        start_supervisor(run, order)
        return run

    def practice(self, home: Home, **arguments: Any) -> RunFolder:
        """Launch the practice trainer."""
        trainer = practice_trainer(home)
        document = open_document(home, small_plan(self._folder, **arguments))
        try:
            preparation = Preparation(
                home,
                trainer.install,
                trainer.facts,
                trainer.catalogue,
                gpus=GpuMonitor(),
                judge=lambda _file: [],
            )
            prepared = preparation.prepare(document.as_file(), ())
        finally:
            document.close()
        self._runs.append(prepared.run)
        start_supervisor(prepared.run, prepared.order)
        return prepared.run

    def close(self) -> None:
        """End what still runs."""
        for run in self._runs:
            if run.launcher.is_file():
                tree_of(run.path).stop()
            if run.status.is_file():
                wait_until(lambda run=run: not run.status.is_file() or ended(run))


@contextmanager
def launches(folder: Path) -> Iterator[Launches]:
    """Launch runs that end with the block."""
    made = Launches(folder)
    try:
        yield made
    finally:
        made.close()
