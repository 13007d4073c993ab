"""What is said of a folder of images that a plan names, and no more than once."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from preflight_plans import CATALOGUE

from gui.engine.findings import Finding
from gui.engine.plan.changes import apply_changes
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.check import Checker
from gui.engine.preflight.collect import Collector

ABOUT_FOLDERS = {"no-data", "data-leaf", "data-name"}


def put_image(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (512, 512)).save(folder / "1.png")


def found(base: Path, plan: TrainingPlan) -> list[Finding]:
    collector = Collector()
    checker = Checker(base, CATALOGUE, collector.machine(), collector=collector)
    return [finding for finding in checker.findings(plan) if finding.id in ABOUT_FOLDERS]


def plan_with(folder: str) -> TrainingPlan:
    arguments = {"train_data_dir": folder, "resolution": "512,512"}
    return TrainingPlan.model_validate({"family": "sd15", "arguments": arguments})


def test_that_a_folder_that_is_not_there_is_called_so(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, plan_with("nowhere"))
    assert str(tmp_path / "nowhere") in finding.title
    assert "train_data_dir" in finding.arguments


def test_that_a_file_is_no_folder_of_images(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", "utf-8")
    (finding,) = found(tmp_path, plan_with("file"))
    assert str(tmp_path / "file") in finding.title


@pytest.mark.parametrize(
    ("images", "named", "identity"),
    [
        ("10_cat", "10_cat", "data-leaf"),
        ("flat", "flat", "data-name"),
        ("two/mira", "two", "data-name"),
        ("deep/a/b", "deep", "no-data"),
    ],
)
def test_that_a_folder_without_named_folders_is_told_once_and_mended(
    tmp_path: Path, images: str, named: str, identity: str
) -> None:
    put_image(tmp_path / images)
    plan = plan_with(named)
    (finding,) = found(tmp_path, plan)
    assert (finding.id, finding.severity) == (identity, "stop")
    for fix in finding.fixes:
        assert not found(tmp_path, apply_changes(plan, fix.changes))
    assert finding.fixes or identity == "no-data"
