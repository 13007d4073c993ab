"""A dataset file of the user's own is read, judged as the trainer would, and taken over by fixes."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from preflight_plans import CATALOGUE, ids

from gui.engine.errors import CannotRead
from gui.engine.findings import Finding, Fix
from gui.engine.plan.changes import apply_changes
from gui.engine.plan.dataset_file import LARGEST_BYTES, read_dataset_file
from gui.engine.plan.dataset_judging import judge_dataset
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.check import Checker
from gui.engine.preflight.collect import Collector
from gui.engine.preflight.facts import Facts
from gui.engine.preflight.own_dataset import taken_over
from gui.engine.trainer.facts import TrainerFacts
from gui.engine.trainer.resolving import resolve

GOOD = """
[general]
enable_bucket = true

[[datasets]]
resolution = 512
batch_size = 2

[[datasets.subsets]]
image_dir = "{images}"
caption_extension = ".txt"
num_repeats = 2
"""


def plan_with(name: str = "data.toml", **arguments) -> TrainingPlan:
    return TrainingPlan.model_validate(
        {
            "family": "sd15",
            "arguments": {"dataset_config": name, "max_train_epochs": 10, "output_dir": "out", **arguments},
        }
    )


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    folder.mkdir()
    for number in range(6):
        Image.new("RGB", (600, 400)).save(folder / f"{number}.png")
        (folder / f"{number}.txt").write_text("mira", "utf-8")
    return folder


def found_in(base: Path, plan: TrainingPlan, collector: Collector | None = None) -> list[Finding]:
    return Checker(base, CATALOGUE, Facts(), collector=collector or Collector()).findings(plan)


def test_that_the_files_images_are_counted(tmp_path: Path, images: Path) -> None:
    (tmp_path / "data.toml").write_text(GOOD.format(images=images.as_posix()), "utf-8")
    checker = Checker(tmp_path, CATALOGUE, Facts(), collector=Collector())
    report = checker.report(plan_with())
    assert report.steps is not None
    assert (report.steps.images, report.steps.batches_per_epoch, report.steps.total_steps) == (6, 6, 60)
    assert not {"no-data", "data-missing", "dataset-twice", "bucket-range"} & ids(report.findings)


def test_that_what_the_file_leaves_out_comes_from_the_arguments(tmp_path: Path, images: Path) -> None:
    text = GOOD.replace("resolution = 512\nbatch_size = 2\n", "").format(images=images.as_posix())
    (tmp_path / "data.toml").write_text(text, "utf-8")
    plan = plan_with(resolution="768,512", train_batch_size=3)
    view, _findings = Checker(tmp_path, CATALOGUE, Facts(), collector=Collector()).view(plan)
    assert view is not None
    (dataset,) = view.dataset_views
    assert (dataset.value("resolution"), dataset.number("batch_size")) == ("768,512", 3)


def test_that_a_fix_takes_the_dataset_over_into_the_plan(tmp_path: Path, images: Path) -> None:
    text = GOOD.format(images=images.as_posix()).replace("resolution = 512", "resolution = 1100")
    (tmp_path / "data.toml").write_text(text, "utf-8")
    plan = plan_with()
    (finding,) = [found for found in found_in(tmp_path, plan) if found.id == "bucket-range"]
    (fix,) = finding.fixes
    assert not fix.safe and fix.label.endswith("the plan takes over what data.toml says")
    mended = apply_changes(plan, fix.changes)
    assert "dataset_config" not in mended.arguments
    assert mended.dataset["datasets"][0]["max_bucket_reso"] == 1152
    assert mended.dataset["general"] == {"enable_bucket": True}
    after = found_in(tmp_path, mended)
    assert "bucket-range" not in ids(after) and not ids(after, "stop") - ids(found_in(tmp_path, plan), "stop")


def test_that_paths_in_it_are_meant_from_where_the_trainer_runs(tmp_path: Path, images: Path) -> None:
    (tmp_path / "data.toml").write_text(GOOD.format(images="images"), "utf-8")
    here = TrainerFacts(root=str(tmp_path), python="/python")
    checker = Checker(tmp_path / "plans", CATALOGUE, Facts(), collector=Collector(trainer=here))
    view, _findings = checker.view(plan_with(str(tmp_path / "data.toml")))
    assert view is not None and view.facts.dataset is not None
    assert view.facts.dataset.images == 6
    unknown, _findings = Checker(tmp_path, CATALOGUE, Facts(), collector=Collector()).view(plan_with())
    assert unknown is not None and unknown.facts.dataset is not None
    assert unknown.facts.dataset.subsets[0].exists is None


@pytest.mark.parametrize(
    ("dataset", "identity", "where"),
    [
        ({"resolution": 512, "datasets": [{"subsets": []}]}, "dataset-level", "dataset.resolution"),
        ({"subsets": [{"image_dir": "a"}]}, "dataset-level", "dataset.subsets"),
        ({"general": {"validation_split": 0}}, "dataset-type", "dataset.general.validation_split"),
        ({"general": {"network_multiplier": 1}}, "dataset-type", "dataset.general.network_multiplier"),
        ({"general": {"face_crop_aug_range": [1, 2]}}, "dataset-type", "dataset.general.face_crop_aug_range"),
        ({"general": {"resolution": "512,512"}}, "dataset-type", "dataset.general.resolution"),
        ({"general": {"alpha_mask": True}}, "dataset-level", "dataset.general.alpha_mask"),
        ({"general": {"prior_loss_weight": 1.0}}, "dataset-unknown", "dataset.general.prior_loss_weight"),
    ],
)
def test_that_a_file_is_judged_as_it_stands(dataset: dict, identity: str, where: str) -> None:
    found = judge_dataset(dataset, "train_network.py", verbatim=True)
    assert [(finding.id, finding.where) for finding in found] == [(identity, where)]


def test_that_whole_numbers_are_mended_where_the_schema_wants_a_point(tmp_path: Path, images: Path) -> None:
    text = GOOD.replace("[general]", "[general]\nvalidation_split = 0").format(images=images.as_posix())
    (tmp_path / "data.toml").write_text(text, "utf-8")
    plan = plan_with()
    (finding,) = [found for found in found_in(tmp_path, plan) if found.id == "dataset-type"]
    mended = apply_changes(plan, finding.fixes[0].changes)
    assert mended.dataset["general"]["validation_split"] == 0.0
    assert not judge_dataset(mended.dataset, "train_network.py")


def test_that_json_is_read_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "data.JSON").write_text('{"general": {}, "datasets": []}', "utf-8")
    assert read_dataset_file(tmp_path / "data.JSON") == {"general": {}, "datasets": []}


@pytest.mark.parametrize(
    ("content", "words", "told_as"),
    [
        (b"\xd0\xe0 = 1", "not UTF-8", "toml-utf8"),
        (b'image_dir = "C:\\data"', "neither TOML nor JSON", "toml-esc"),
        (b"[" * 100_000, "nested too deeply", None),
        (b"x" * (LARGEST_BYTES + 1), "too large", None),
    ],
)
def test_that_what_the_trainer_cannot_read_is_said_once(
    tmp_path: Path, content: bytes, words: str, told_as: str | None
) -> None:
    place = tmp_path / ("data.json" if content.startswith(b"[") else "data.toml")
    place.write_bytes(content)
    (refused,) = [
        found
        for found in resolve(plan_with(place.name), tmp_path, CATALOGUE).findings
        if found.id == "dataset-file"
    ]
    assert refused.severity == "stop" and words in refused.title
    said = [
        found.id for found in found_in(tmp_path, plan_with(place.name)) if found.where == "dataset_config"
    ]
    assert len(said) == 1 and (told_as is None or said == [told_as])


def test_that_a_file_that_is_gone_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(CannotRead):
        read_dataset_file(tmp_path / "gone.toml")


def test_that_a_list_is_no_dataset(tmp_path: Path) -> None:
    (tmp_path / "data.json").write_text("[]", "utf-8")
    assert "dataset-file" in ids(found_in(tmp_path, plan_with("data.json")), "stop")


def test_that_a_file_without_images_stops(tmp_path: Path) -> None:
    (tmp_path / "data.toml").write_text("[general]\nresolution = 512\n", "utf-8")
    (finding,) = [found for found in found_in(tmp_path, plan_with()) if found.id == "no-data"]
    assert finding.arguments == ("dataset_config",)


def test_that_a_file_of_another_machine_stays_unknown(tmp_path: Path, images: Path) -> None:
    (tmp_path / "data.toml").write_text("[general]\nnonsense = 1\n", "utf-8")
    resolved = resolve(plan_with(), tmp_path, CATALOGUE, files_known=False)
    assert resolved.dataset_file is None
    assert not {"dataset-unknown", "no-data"} & ids(resolved.findings)


def test_that_a_fix_for_a_place_that_is_not_there_is_left_out(tmp_path: Path, images: Path) -> None:
    (tmp_path / "data.toml").write_text(GOOD.format(images=images.as_posix()), "utf-8")
    plan = plan_with()
    view, _findings = Checker(tmp_path, CATALOGUE, Facts(), collector=Collector()).view(plan)
    assert view is not None
    fixes = (
        Fix(id="gone", label="x", changes={"dataset.datasets.7.batch_size": 1}, safe=True),
        Fix(id="argument", label="x", changes={"seed": 1}, safe=True),
    )
    finding = Finding(id="x", severity="hint", title="x", fixes=fixes)
    assert taken_over(finding, plan, view).fixes == fixes[1:]


@pytest.mark.parametrize(
    ("argument", "text", "identity"),
    [("resolution", "768.0", "reso-format"), ("face_crop_aug_range", "a,b", "face-crop")],
)
def test_that_texts_beside_the_file_are_read_as_the_trainer_reads_them(
    tmp_path: Path, images: Path, argument: str, text: str, identity: str
) -> None:
    (tmp_path / "data.toml").write_text(GOOD.format(images=images.as_posix()), "utf-8")
    (found,) = [each for each in found_in(tmp_path, plan_with(**{argument: text})) if each.id == identity]
    assert (found.severity, found.arguments) == ("stop", (argument,))
