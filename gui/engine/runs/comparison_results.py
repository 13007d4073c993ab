"""What a run ran on and how it went, in a form that can be compared."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from gui.engine.errors import PreflightError
from gui.engine.quantities import gib
from gui.engine.runs.comparison_models import Cell
from gui.engine.runs.figures import duration, figure, speed
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.records import Manifest
from gui.engine.runs.status import FileNow, RunStatus
from gui.engine.runs.words import verdict_words
from gui.engine.texts import _
from gui.engine.trainer.tensors import check_tensors

LARGEST_MEASURED_BYTES = 2 << 30
"""The numbers of a larger file are not looked at: a whole model takes a minute, and says little here."""


class Fact(NamedTuple):
    """A value, and how it is shown."""

    value: Cell
    shown: str = ""


def environment_of(run: RunFolder) -> dict[str, Fact]:
    """Return what a run ran on."""
    try:
        manifest = Manifest.read(run.manifest)
    except PreflightError:
        return {}
    base = manifest.base_model
    facts: dict[str, Cell] = {
        "trainer": _("practice trainer") if manifest.practice else Path(manifest.trainer).name,
        "trainer_version": manifest.trainer_version,
        "trainer_commit": manifest.trainer_commit,
        "torch": manifest.torch,
        "cuda": manifest.cuda,
        "python": manifest.python_version,
        "driver": manifest.driver,
        "gpus": ", ".join(manifest.gpus) or None,
        "base_model": Path(base.path).name if base else None,
        "base_model_sha256": base.sha256 if base else None,
        "program": manifest.program,
    }
    shortened = ("trainer_commit", "base_model_sha256")
    return {
        name: Fact(value, str(value)[:10] if name in shortened else str(value))
        for name, value in facts.items()
        if value is not None
    }


def results_of(status: RunStatus | None, *, norms: bool = True) -> dict[str, Fact]:
    """Return how a run went.

    Args:
        status: As it was read.
        norms: Whether the numbers of its last file are looked at too.
    """
    if status is None:
        return {}
    facts: dict[str, Fact | None] = {
        "verdict": _verdict(status),
        "steps": _steps(status),
        "final_loss": _shown(status.finite_loss, figure),
        "first_nonfinite_step": _shown(status.first_nonfinite_step, lambda step: f"{step:,}"),
        "duration_seconds": _shown(status.elapsed_seconds, duration),
        "steps_per_second": _shown(status.mean_rate or None, speed),
        "peak_gpu_bytes": _shown(peak_gpu_bytes(status), gib),
        "peak_ram_bytes": _shown(status.host.peak_tree_rss_bytes or None, gib),
    }
    last = last_model(status)
    if last is not None:
        facts["last_file"] = Fact(last.path.name, last.path.name)
        facts["last_file_judgement"] = Fact(last.judgement, last.sentence) if last.judgement else None
        if norms:
            facts |= _norms(last)
    return {name: fact for name, fact in facts.items() if fact is not None}


def titles() -> dict[str, str]:
    """Return what the facts are called."""
    return {
        "trainer": _("Trainer"),
        "trainer_version": _("Trainer's version"),
        "trainer_commit": _("Trainer's commit"),
        "torch": _("torch"),
        "cuda": _("CUDA"),
        "python": _("Trainer's Python"),
        "driver": _("NVIDIA driver"),
        "gpus": _("GPU"),
        "base_model": _("Base model"),
        "base_model_sha256": _("Base model's SHA-256"),
        "program": _("Kohya Preflight"),
        "verdict": _("Outcome"),
        "steps": _("Steps"),
        "final_loss": _("Last loss"),
        "first_nonfinite_step": _("Not finite since step"),
        "duration_seconds": _("Took"),
        "steps_per_second": _("Speed"),
        "peak_gpu_bytes": _("Most GPU memory"),
        "peak_ram_bytes": _("Most RAM"),
        "last_file": _("Last file"),
        "last_file_judgement": _("Its weights"),
        "last_file_rms": _("Their root mean square"),
        "last_file_peak": _("The largest of them"),
        "images × repeats": _("Images × repeats, as trained"),
        "regularisation images": _("Regularisation images"),
        "batches per epoch": _("Batches per epoch"),
        "images now": _("Images in the folder now"),
        "captions now": _("Captions in the folder now"),
    }


def last_model(status: RunStatus) -> FileNow | None:
    """Return the last model of a run that is still there."""
    models = [file for file in status.files if file.kind == "model" and (file.kept_as or not file.removed)]
    return models[-1] if models else None


def peak_gpu_bytes(status: RunStatus) -> int | None:
    """Return the most GPU memory that the run's processes held, of the GPU that held the most."""
    known = [
        held
        for gpu in status.gpus
        if (held := gpu.peak_process_bytes or gpu.torch_reserved_bytes or gpu.peak_used_bytes)
    ]
    return max(known, default=None)


def _verdict(status: RunStatus) -> Fact:
    if status.verdict is None:
        return Fact(status.state, status.state)
    return Fact(status.verdict.verdict, verdict_words(status.verdict.verdict, status.verdict.reason).text)


def _steps(status: RunStatus) -> Fact | None:
    if status.step is None:
        return None
    text = _("{step} of {total}")
    total = f"{status.total:,}" if status.total is not None else "?"
    return Fact(status.step, text.format(step=f"{status.step:,}", total=total))


def _shown(value: Cell, words: object) -> Fact | None:
    return None if value is None else Fact(value, words(value))  # type: ignore[operator]


def _norms(file: FileNow) -> dict[str, Fact]:
    path = file.kept_as if file.removed and file.kept_as else file.path
    try:
        if path.stat().st_size > LARGEST_MEASURED_BYTES:
            return {}
        overall = check_tensors(path).overall
    except (OSError, PreflightError):
        return {}
    if overall is None:
        return {}
    return {
        "last_file_rms": Fact(overall.rms, f"{overall.rms:.3g}"),
        "last_file_peak": Fact(overall.peak, f"{overall.peak:.3g}"),
    }
