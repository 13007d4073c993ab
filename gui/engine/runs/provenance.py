"""Works out the hash of the base model while the run trains, so that it can be told later which it was."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

from gui.engine.errors import CannotRead, CannotWrite
from gui.engine.runs.hashes import hash_file
from gui.engine.runs.records import Manifest

_DELAY_SECONDS = 60.0
"""The trainer itself reads the file first; two readers on one disk would slow both down."""


class BaseModelHash:
    """Reads the base model in a thread and completes the manifest.

    Args:
        path: The manifest.
        manifest: As it was read.
        delay_seconds: How long to leave the disk to the trainer.
    """

    def __init__(self, path: Path, manifest: Manifest, delay_seconds: float = _DELAY_SECONDS) -> None:
        self._path = path
        self._manifest = manifest
        self._delay = delay_seconds
        self._hurry = threading.Event()
        self._thread = threading.Thread(target=self._work, name="base-model", daemon=True)

    def start(self) -> None:
        """Begin after the delay; nothing happens when the hash is known or there is no file."""
        model = self._manifest.base_model
        if model is not None and model.size is not None and model.sha256 is None:
            self._thread.start()

    def finish(self) -> None:
        """Wait no longer, and come back when it is done: the trainer needs the disk no more."""
        self._hurry.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _work(self) -> None:
        model = self._manifest.base_model
        self._hurry.wait(self._delay)
        if model is None:  # pragma: no cover - start() has looked
            return
        with contextlib.suppress(CannotRead, CannotWrite):
            known = model.model_copy(update={"sha256": hash_file(Path(model.path)).sha256})
            self._manifest.model_copy(update={"base_model": known}).write(self._path)
