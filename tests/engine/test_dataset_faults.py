"""Each kind of trouble is found under its key, weighs what the table says, and so what the trainer does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from dataset_faults import MADE_FAULTS, MASKS, TRIGGER, clean_ground, settings_of
from faults_on_the_trainer import FaultRow, fault_rows

from gui.engine.dataset.cache_trouble_kinds import CACHE_TROUBLES
from gui.engine.dataset.caption_settings import CaptionSettings
from gui.engine.dataset.doctor import Doctor
from gui.engine.dataset.problem_kinds import problem_kinds
from gui.engine.dataset.report import SubsetReport
from gui.engine.dataset.spec import DatasetSpec, SubsetSpec

ROWS = {row.fault: row for row in fault_rows()}
CAN_CLOSE_FILES = os.name == "posix" and os.geteuid() != 0


def weights() -> dict[str, str]:
    """Return what the doctor calls each kind of trouble."""
    caches = {f"cache-{key}": kind.severity for key, kind in CACHE_TROUBLES.items()}
    return {key: kind.severity for key, kind in problem_kinds().items()} | caches


def subset_of(root: Path, key: str) -> SubsetSpec:
    fault = MADE_FAULTS[key]
    folder = root / key
    folder.mkdir()
    clean_ground(folder, fault.setting, 1 if ROWS[key].trainer != "trains" else 0)
    fault.make(folder, "fault")
    return SubsetSpec(
        target=key,
        dataset=f"dataset of {key}",
        image_dir=folder,
        class_tokens=TRIGGER if fault.setting == "class" else None,
        caption_extension=".txt",
        conditioning_data_dir=folder / MASKS if fault.setting == "masks" else None,
        settings=settings_of(fault.setting),
        captions=CaptionSettings(style="tags"),
    )


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SubsetReport]:
    """All faults in one look, each in a folder of its own."""
    root = tmp_path_factory.mktemp("faults")
    subsets = tuple(subset_of(root, key) for key in MADE_FAULTS)
    doctor = Doctor(DatasetSpec(subsets, family="sd15", caches=True), None, 2)
    try:
        for _batch in doctor.batches():
            pass
        return {subset.target: subset for subset in doctor.report().subsets}
    finally:
        doctor.close()


def keys_of(report: SubsetReport) -> set[str]:
    captions = report.captions.problems if report.captions else ()
    caches = {f"cache-{found.trouble}" for found in report.caches}
    return {problem.key for problem in (*report.problems, *captions)} | caches


@pytest.mark.parametrize("key", sorted(MADE_FAULTS))
def test_that_the_fault_is_found_under_its_key(reports: dict[str, SubsetReport], key: str) -> None:
    if key == "cap-denied" and not CAN_CLOSE_FILES:
        pytest.skip("this user may read every file")
    assert key in keys_of(reports[key])


def test_that_the_table_names_every_kind_of_trouble_with_the_doctors_word() -> None:
    assert {key: row.word for key, row in ROWS.items()} == weights()


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_that_the_doctors_word_is_what_the_trainer_does(row: FaultRow) -> None:
    if row.trainer == "untried":
        assert row.fault not in MADE_FAULTS
        assert row.note
    else:
        assert row.fault in MADE_FAULTS
        assert (row.word == "stop") == (row.trainer in ("ends", "nan"))
        assert bool(row.says) == (row.trainer == "ends")
