"""The doctor finds each fault under its id, none in clean images, and tells checks what it found."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from dataset_maker import FAULTS, SIDE, clean_dataset, faulty_dataset, ignored_files, picture, saved
from preflight_plans import checker, ids

from gui.engine.dataset.buckets import BucketSettings
from gui.engine.dataset.doctor import Doctor
from gui.engine.dataset.folder_records import FolderRecords
from gui.engine.dataset.folders import look_at_folder
from gui.engine.dataset.problem_kinds import problem_kinds
from gui.engine.dataset.report import DatasetReport, SubsetReport
from gui.engine.dataset.spec import DatasetSpec, SubsetSpec
from gui.engine.errors import PlanNotRunnable
from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.checking import checker_for
from gui.engine.preflight.dataset_report import spec_of_plan, with_rules
from gui.engine.preflight.dataset_spec import plan_of_folder

SETTINGS = BucketSettings((SIDE, SIDE), max_bucket_reso=2048)


def spec_of(*folders: Path, **more) -> DatasetSpec:
    return DatasetSpec(
        tuple(
            SubsetSpec(f"dataset.subsets.{number}", "dataset", folder, settings=SETTINGS, **more)
            for number, folder in enumerate(folders)
        )
    )


def examined(spec: DatasetSpec, memory: Path | None = None) -> DatasetReport:
    doctor = Doctor(spec, memory, 2)
    try:
        for _batch in doctor.batches():
            pass
        return doctor.report()
    finally:
        doctor.close()


def names_by_id(subset: SubsetReport) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for problem in subset.problems:
        found.setdefault(problem.id, set()).update(problem.names)
    return found


def hashes(folder: Path) -> dict[str, str]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("datasets")


@pytest.fixture(scope="module")
def faulty(place: Path):
    """One image of each fault; the report, what must be in it, and whether the files are as they were."""
    folder = place / "faulty"
    expected = faulty_dataset(folder)
    ignored = ignored_files(folder)
    before = hashes(folder)
    report = examined(spec_of(folder), place / "memory")
    assert hashes(folder) == before
    return report, expected, ignored, folder


@pytest.mark.parametrize("identity", sorted({identity for identity, _make in FAULTS.values()}))
def test_that_each_fault_is_found_under_its_id(faulty, identity: str) -> None:
    report, expected, _ignored, _folder = faulty
    assert expected[identity] <= names_by_id(report.subsets[0])[identity]
    assert identity in ids(report.findings)


@pytest.mark.parametrize("identity", ["img-dup", "img-near", "img-dupstem"])
def test_that_what_images_have_in_common_is_found(faulty, identity: str) -> None:
    report, expected, _ignored, _folder = faulty
    assert names_by_id(report.subsets[0])[identity] == expected[identity]


def test_that_nothing_else_is_said_about_these_images(faulty) -> None:
    report, expected, _ignored, _folder = faulty
    also = {
        "img-small": {"tiny.png"},
        "img-grey": {"large.png", "sixteen.png"},
    }
    for identity, names in names_by_id(report.subsets[0]).items():
        assert names == expected.get(identity, set()) | also.get(identity, set()), identity


def test_that_files_that_the_trainer_passes_over_are_named(faulty) -> None:
    report, _expected, ignored, _folder = faulty
    assert set(report.subsets[0].ignored) == ignored
    assert "img-skipped" in ids(report.findings)


def test_that_groups_of_the_same_and_of_alike_images_are_told(faulty) -> None:
    report, _expected, _ignored, _folder = faulty
    groups = {(group.exact, *sorted(image.name for image in group.images)) for group in report.alike}
    assert groups == {(True, "twin_a.png", "twin_b.png"), (False, "near_a.png", "near_b.jpg")}


def test_that_nothing_is_said_about_clean_images(place: Path, no_leftovers) -> None:
    folder = place / "clean"
    clean_dataset(folder, 30)
    before = hashes(folder)
    report = examined(spec_of(folder, caption_extension=".txt"))
    assert report.findings == ()
    assert report.subsets[0].problems == ()
    assert (report.images, report.readable, report.complete) == (30, 30, True)
    assert report.subsets[0].sizes == {f"{SIDE}x{SIDE}": 30}
    assert hashes(folder) == before


def test_that_a_check_knows_what_a_scan_found(faulty, place: Path) -> None:
    _report, expected, _ignored, folder = faulty
    plan = TrainingPlan(
        family="sd15",
        arguments={"max_train_steps": 500},
        dataset={"resolution": 512, "subsets": [{"image_dir": str(folder)}]},
    )
    records = FolderRecords(place / "memory")
    look = checker_for(place, None, Home(place / "home"))
    before = ids(look.findings(plan))
    look.collector.records = records
    known = look.findings(plan)
    missing = {"img-blur", "img-exif", "img-dup", "img-near", "img-animated", "img-cmyk", "img-icc"}
    assert not missing & before
    assert missing <= ids(known)
    (unreadable,) = [finding for finding in known if finding.id == "img-decode"]
    assert unreadable.title.startswith(f"{len(expected['img-decode'])} images")


def test_that_a_record_is_void_once_the_folder_changed(place: Path, no_leftovers) -> None:
    folder = place / "changing"
    clean_dataset(folder, 3)
    examined(spec_of(folder), place / "memory")
    names = [name for name in os.listdir(folder) if not name.endswith(".txt")]  # noqa: PTH208
    records = FolderRecords(place / "memory")
    assert records.find(folder, names).images == 3
    assert records.find(folder, names[1:]) is None
    os.utime(folder / names[0], (1, 1))
    assert records.find(folder, names) is None
    assert FolderRecords(place / "no memory").find(folder, names) is None


def test_that_a_cancelled_examination_says_that_it_is_not_complete(place: Path, no_leftovers) -> None:
    folder = place / "cancelled"
    clean_dataset(folder, 4)
    doctor = Doctor(spec_of(folder), place / "memory of none", 1)
    doctor.scan.cancel()
    assert list(doctor.batches()) == []
    report = doctor.report()
    doctor.close()
    assert not report.complete
    assert report.images == 4
    assert FolderRecords(place / "memory of none").find(folder, []) is None


def test_that_a_single_image_is_judged_under_its_subset(faulty, place: Path) -> None:
    _report, _expected, _ignored, folder = faulty
    subset = spec_of(folder).subsets[0]
    doctor = Doctor(DatasetSpec((subset, replace(subset, alpha_mask=True))), place / "memory", 1)
    images = {image.name: image for batch in doctor.batches() for image in batch.images}
    doctor.close()
    with_mask = doctor.subsets_of(images["holed.png"])[1]
    assert "img-alpha" in doctor.problems_of(images["holed.png"], subset)
    assert "img-alpha" not in doctor.problems_of(images["holed.png"], with_mask)
    assert "img-enlarged" in doctor.problems_of(images["tiny.png"], subset)


def test_that_masks_are_paired_with_their_images(place: Path, no_leftovers) -> None:
    images, masks = place / "pairs", place / "masks"
    clean_dataset(images, 4)
    masks.mkdir()
    for name, side in (("clean_000", SIDE), ("clean_001", SIDE), ("clean_002", 300), ("other", SIDE)):
        (masks / f"{name}.png").write_bytes(saved(picture(1, (side, side)).convert("L")))
    (masks / "clean_001.png").write_bytes(b"no image")
    report = examined(spec_of(images, conditioning_data_dir=masks))
    found = {problem.key: problem.names for problem in report.subsets[0].problems}
    assert found["mask-missing"] == ("clean_003.png",)
    assert found["mask-extra"] == ("other.png",)
    assert found["mask-size"] == ("clean_002.webp",)
    assert found["mask-unreadable"] == ("clean_001.png",)
    assert ids(report.findings) == {"control-pairs"}


def test_that_transparency_is_no_fault_where_it_is_the_mask(faulty) -> None:
    _report, _expected, _ignored, folder = faulty
    report = examined(spec_of(folder, alpha_mask=True))
    assert "img-alpha" not in names_by_id(report.subsets[0])


def test_that_cache_files_are_told_and_how_bad_that_is(place: Path, no_leftovers) -> None:
    folder = place / "caches"
    clean_dataset(folder, 2)
    np.savez(folder / f"clean_000_{SIDE:04}x{SIDE:04}_sdxl.npz", latents=np.full((4, 80, 80), np.nan))
    (folder / "gone_te_outputs.npz").write_bytes(b"x")
    spec = replace(spec_of(folder), family="sdxl")
    unused = examined(spec)
    assert {(finding.id, finding.severity) for finding in unused.findings} == {
        ("cache-verify", "hint"),
        ("cache-leftover", "hint"),
    }
    used = examined(replace(spec, caches=True))
    assert ("cache-verify", "stop") in {(finding.id, finding.severity) for finding in used.findings}
    assert {fix.changes["action"] for finding in used.findings for fix in finding.fixes} == {"delete-cache"}


def test_that_a_folder_that_is_not_there_is_told(place: Path, no_leftovers) -> None:
    report = examined(spec_of(place / "nowhere"))
    assert report.subsets[0].exists is False
    assert report.images == 0


def test_that_short_batches_are_told_with_ways_out(place: Path, no_leftovers) -> None:
    folder = place / "short"
    folder.mkdir()
    for number, size in enumerate([(640, 640)] * 4 + [(900, 512), (512, 900), (800, 560)]):
        (folder / f"{number}.png").write_bytes(saved(picture(number, size)))
    report = examined(spec_of(folder, batch_size=4))
    (found,) = [finding for finding in report.findings if finding.id == "bucket-fill"]
    assert found.severity == "hint"
    assert {"dataset.batch_size": 1} in [fix.changes for fix in found.fixes] or any(
        "dataset.batch_size" in fix.changes for fix in found.fixes
    )
    assert report.buckets[0].use.short_batches == 3


def test_that_regularisation_images_and_several_folders_are_counted_apart(place: Path, no_leftovers) -> None:
    train, reg = place / "train", place / "reg"
    clean_dataset(train, 2)
    clean_dataset(reg, 3, first=2000)
    spec = spec_of(train, reg)
    spec = replace(
        spec, subsets=(replace(spec.subsets[0], num_repeats=5), replace(spec.subsets[1], is_reg=True))
    )
    report = examined(spec)
    assert [(subset.images, subset.is_reg) for subset in report.subsets] == [(2, False), (3, True)]
    assert report.buckets[0].use.images == 10


def test_that_a_plan_says_what_to_look_at(tmp_path: Path) -> None:
    plan = TrainingPlan(
        family="sdxl",
        arguments={"cache_latents": True, "cache_latents_to_disk": True},
        dataset={
            "resolution": [768, 768],
            "enable_bucket": True,
            "batch_size": 3,
            "subsets": [
                {"image_dir": "a", "num_repeats": 4, "class_tokens": "mira", "caption_extension": "txt"},
                {"image_dir": "b", "is_reg": True, "conditioning_data_dir": "m", "alpha_mask": True},
                {"image_dir": " "},
            ],
        },
    )
    spec = spec_of_plan(checker(tmp_path), plan)
    first, second = spec.subsets
    assert (spec.family, spec.caches) == ("sdxl", True)
    assert (first.image_dir, first.num_repeats, first.class_tokens) == (tmp_path / "a", 4, "mira")
    assert (first.caption_extension, first.batch_size, first.is_reg) == (".txt", 3, False)
    assert first.settings.resolution == (768, 768)
    assert (second.is_reg, second.alpha_mask, second.num_repeats) == (True, True, 1)
    assert second.conditioning_data_dir == tmp_path / "m"
    with pytest.raises(PlanNotRunnable):
        spec_of_plan(checker(tmp_path), TrainingPlan())


def test_that_a_folder_becomes_a_plan_without_renaming_anything(tmp_path: Path) -> None:
    for name in ("5_mira dress", "more"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.png").write_bytes(b"")
    plan = plan_of_folder(look_at_folder(tmp_path), "sdxl")
    assert plan.dataset["subsets"] == [
        {"image_dir": str(tmp_path / "5_mira dress"), "num_repeats": 5, "class_tokens": "mira dress"},
        {"image_dir": str(tmp_path / "more"), "num_repeats": 1},
    ]
    assert plan.dataset["resolution"] == [1024, 1024]
    assert plan_of_folder(look_at_folder(tmp_path)).dataset.get("resolution") is None
    assert plan_of_folder(look_at_folder(tmp_path), "", (512, 768)).dataset["resolution"] == [512, 768]


def test_that_rules_about_the_data_join_the_report(tmp_path: Path) -> None:
    plan = TrainingPlan(
        family="sdxl",
        dataset={"resolution": 1024, "subsets": [{"image_dir": str(tmp_path / "none"), "num_repeats": 1}]},
    )
    look = checker_for(tmp_path, None, Home(tmp_path / "home"))
    report = with_rules(look, plan, examined(spec_of_plan(look, plan)))
    assert "data-missing" in ids(report.findings)
    assert "steps-default" not in ids(report.findings)


def test_that_every_kind_of_trouble_has_its_sentences() -> None:
    for key, kind in problem_kinds().items():
        assert key == kind.key
        for count in (1, 5):
            title = kind.title(count).format(count=count, names="a.png")
            assert str(count) in title
            assert "a.png" in title
        assert kind.detail().endswith(".")
        assert kind.sources
