"""The practice trainer's torch: is it there, can a trainer's be borrowed, and how much is to be fetched."""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import re
import shutil
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path

from gui.engine.documents import Document
from gui.engine.errors import Cancelled, InterpreterNotFound, PreflightError
from gui.engine.paths import Home
from gui.engine.quantities import download, gib
from gui.engine.resources import resources_root
from gui.engine.texts import _
from gui.engine.trainer.choosing import Trainer, known_trainers, open_trainer
from gui.engine.trainer.installs import TrainerInstall, practice_install
from gui.engine.trainer.interpreters import has_torch
from gui.engine.trainer.probe import require_torch
from gui.engine.trainer.stage_run import Progress
from gui.engine.trainer.torch_sizes import CPU_TORCH_MB, TORCH_MB, UNPACKED, this_platform

MB = 10**6


class TorchFetch(Document):
    """What fetching torch would mean.

    Attributes:
        requirement: What pip is asked for.
        megabytes: To fetch, in MB of 10^6 bytes; None where nobody measured a machine like this.
        least_megabytes: If pip is set up to find the build without NVIDIA's libraries.
        free_bytes: Room where it would be installed; None when that cannot be told.
    """

    requirement: str
    megabytes: float | None
    least_megabytes: float | None
    free_bytes: int | None

    @property
    def roomy(self) -> bool:
        """Whether there is room for all of it, as far as that is known."""
        return self.free_bytes is None or self.free_bytes >= UNPACKED * MB * (self.megabytes or 0)

    def words(self) -> str:
        """Return how much would be fetched, as a sentence or two."""
        if self.megabytes is None:
            return _("torch will be fetched; how much that is is not known for this kind of machine.")
        text = _("About {amount} will be fetched for torch.").format(amount=download(self.megabytes))
        if self.least_megabytes is not None and self.least_megabytes < self.megabytes:
            text += " " + _(
                "That is the build with NVIDIA's libraries; about {least} if pip is set up to find "
                "the CPU build."
            ).format(least=download(self.least_megabytes))
        if not self.roomy:
            text += " " + _("It may need {need} on the disk, and {free} are free.").format(
                need=gib(UNPACKED * MB * self.megabytes), free=gib(self.free_bytes or 0)
            )
        return text


def practice_trainer(
    home: Home, *, progress: Progress | None = None, cancelled: Callable[[], bool] | None = None
) -> Trainer | None:
    """Return the practice trainer with a Python that can run it; None when torch must be fetched first.

    This program's own Python comes first. Where it has no torch, that of a trainer on this machine
    is borrowed, once it has shown that it works.

    Args:
        home: Whose trainers and cache.
        progress: See ``open_trainer``.
        cancelled: Asked often; True ends the search.

    Raises:
        Cancelled: The caller asked for it.
        TrainerNotFound: The program's data are damaged.
    """
    for install in _candidates(home):
        try:
            trainer = open_trainer(home, install, progress=progress, cancelled=cancelled)
            require_torch(install, trainer.facts)
        except Cancelled:
            raise
        except PreflightError:
            continue
        return trainer
    return None


def _candidates(home: Home) -> Iterator[TrainerInstall]:
    with contextlib.suppress(InterpreterNotFound):
        own = practice_install()
        if own_torch_is_there() or has_torch(own.python):
            yield own
    for known in known_trainers(home):
        install = known.install
        if install is not None and not install.practice and has_torch(install.python):
            yield practice_install(install.python)


def own_torch_is_there() -> bool:
    """Whether torch is wholly installed in this program's own Python; does not import it."""
    importlib.invalidate_caches()
    try:
        return importlib.metadata.distribution("torch").read_text("RECORD") is not None
    except importlib.metadata.PackageNotFoundError:
        return False


def torch_needed(constraints: Path | None = None) -> TorchFetch | None:
    """Return what fetching torch for the practice trainer would mean; None where it is there.

    Asks no network.

    Args:
        constraints: The versions that were tested together; None looks where the sources have them.
    """
    if own_torch_is_there():
        return None
    place = this_platform()
    most = TORCH_MB.get(place)
    least = min(CPU_TORCH_MB, most) if most is not None else None
    return TorchFetch(
        requirement=requirement_of_torch(constraints or tested_versions()),
        megabytes=most,
        least_megabytes=least,
        free_bytes=_free(Path(sysconfig.get_paths()["purelib"])),
    )


def tested_versions() -> Path | None:
    """Return the file of versions that were tested together; only the sources have it."""
    place = resources_root().parent / "packaging" / "constraints.txt"
    return place if place.is_file() else None


def requirement_of_torch(constraints: Path | None) -> str:
    """Return torch with its tested version, else with what the program's own metadata allow."""
    if constraints is not None:
        for line in constraints.read_text("utf-8").splitlines():
            if line.startswith("torch=="):
                return line.strip()
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        for text in importlib.metadata.requires("kohya-preflight") or ():
            if re.match(r"torch\b", text):
                return text.partition(";")[0].strip()
    return "torch"


def _free(place: Path) -> int | None:
    for folder in (place, *place.parents):
        with contextlib.suppress(OSError):
            return shutil.disk_usage(folder).free
    return None
