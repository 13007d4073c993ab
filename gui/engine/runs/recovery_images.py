"""Which images of a run's dataset cannot be read now: named by the trainer, or found by a scan."""

from __future__ import annotations

from pathlib import Path

from gui.engine.dataset.bad_images import images_named_in, put_aside, stopping_images
from gui.engine.dataset.doctor import CACHE_FOLDER, Doctor
from gui.engine.dataset.spec import DatasetSpec
from gui.engine.errors import PreflightError
from gui.engine.paths import Home
from gui.engine.preflight.check import Checker
from gui.engine.preflight.dataset_report import spec_of_plan
from gui.engine.runs.diagnosing import diagnose_run
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.reuse import plan_of_run


def bad_images(run: RunFolder, checker: Checker, home: Home) -> tuple[Path, ...]:
    """Return the images that a run stumbled over, and all others that it would.

    Args:
        run: Its folder.
        checker: Understands its plan.
        home: Where is remembered what images are like.
    """
    try:
        spec = spec_of_plan(checker, plan_of_run(run).plan)
        found = _scanned(spec, home)
        lines = [line.text for each in diagnose_run(run).diagnoses for line in each.evidence]
    except PreflightError:
        return ()
    return tuple(dict.fromkeys((*images_named_in(spec, "\n".join(lines)), *found)))


def put_bad_aside(run: RunFolder, checker: Checker, images: tuple[Path, ...]) -> tuple[str, ...]:
    """Move images of a run's dataset into quarantine, with their captions; what is gone is passed over.

    Args:
        run: Its folder; it becomes the reason in the quarantine's record.
        checker: Understands its plan.
        images: Which.

    Returns:
        The names that were moved.

    Raises:
        CannotWrite: A file cannot be moved.
        CannotRead: The quarantine's record is damaged.
        PlanNotRunnable: The run's plan is not understood any more.
    """
    spec = spec_of_plan(checker, plan_of_run(run).plan)
    moved = []
    for subset in {subset.image_dir: subset for subset in spec.subsets}.values():
        names = [path.name for path in images if path.parent == subset.image_dir and path.exists()]
        if names:
            put_aside(spec, subset, names, run.name)
            moved += names
    return tuple(moved)


def _scanned(spec: DatasetSpec, home: Home) -> tuple[Path, ...]:
    doctor = Doctor(spec, home.cache / CACHE_FOLDER)
    try:
        for _batch in doctor.batches():
            pass
        report = doctor.report()
    finally:
        doctor.close()
    return tuple(subset.image_dir / name for subset, names in stopping_images(spec, report) for name in names)
