"""The facts of this machine: hardware, folders of images, paths."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from fake_nvml import FakeNvml
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from preflight_plans import CATALOGUE, ids, plan_of, values

from gui.engine.hardware.gpu import GpuMonitor
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight import collect
from gui.engine.preflight.check import Checker
from gui.engine.preflight.collect import Collector, path_fact
from gui.engine.preflight.facts import Facts
from gui.engine.quantities import GIB


def make_images(folder: Path, sizes: list[tuple[int, int]], captions: int = 0) -> Path:
    folder.mkdir(parents=True)
    for number, size in enumerate(sizes):
        Image.new("RGB", size).save(folder / f"{number}.png")
        if number < captions:
            (folder / f"{number}.txt").write_text("mira", "utf-8")
    return folder


def collected(base: Path, plan: TrainingPlan) -> Facts:
    collector = Collector()
    check = Checker(base, CATALOGUE, collector.machine(), collector=collector)
    view, _findings = check.view(plan)
    assert view is not None
    return view.facts


def test_that_images_captions_sizes_and_paths_are_counted(tmp_path: Path) -> None:
    make_images(tmp_path / "images", [(64, 32), (64, 32), (200, 100)], captions=2)
    (tmp_path / "images" / "broken.png").write_bytes(b"no image")
    (tmp_path / "model.safetensors").write_bytes(b"12345")
    facts = collected(tmp_path, plan_of({}, {"caption_extension": ".txt"}))
    subset = facts.dataset.subsets[0]
    assert (subset.exists, subset.images, subset.captions) == (True, 4, 2)
    assert subset.sizes == {"64x32": 2, "200x100": 1}
    assert (facts.dataset.images, facts.dataset.repeats, facts.dataset.max_size_px) == (4, 1, (200, 100))
    model = facts.paths[str(tmp_path / "model.safetensors")]
    assert (model.kind, model.size_bytes) == ("file", 5)
    assert facts.paths[str(tmp_path / "out")].kind == "missing"
    assert facts.paths[str(tmp_path / "out")].writable
    assert facts.disk_free_gib > 0
    assert facts.os in ("linux", "windows", "macos")
    assert facts.ram_gib > 0


def test_that_a_missing_folder_is_known_to_be_missing(tmp_path: Path) -> None:
    facts = collected(tmp_path, plan_of())
    assert facts.dataset.subsets[0].exists is False
    assert facts.dataset.images is None


@pytest.mark.parametrize(
    ("folder", "given", "layout"),
    [
        ("train/10_mira", "train", "parent"),
        ("train/10_mira", "train/10_mira", "leaf"),
        ("mira", "mira", "flat"),
    ],
)
def test_that_the_layout_of_a_training_folder_is_told(tmp_path: Path, folder, given, layout) -> None:
    make_images(tmp_path / folder, [(64, 64)])
    plan = plan_of({"train_data_dir": given}).model_copy(update={"dataset": {"resolution": 512}})
    facts = collected(tmp_path, plan)
    assert facts.dataset.layout == layout
    assert (facts.dataset.images == 1) is (layout == "parent")


def test_that_regularisation_images_do_not_count_as_training_images(tmp_path: Path) -> None:
    make_images(tmp_path / "images", [(64, 64)] * 2)
    make_images(tmp_path / "reg", [(64, 64)] * 5)
    subsets = [{"image_dir": "images", "num_repeats": 3}, {"image_dir": "reg", "is_reg": True}]
    facts = collected(tmp_path, plan_of({}, {"subsets": subsets}))
    assert (facts.dataset.images, facts.dataset.repeats) == (2, 3)


def test_that_images_in_sub_folders_are_seen_but_not_counted(tmp_path: Path) -> None:
    make_images(tmp_path / "images" / "more", [(64, 64)])
    subset = collected(tmp_path, plan_of()).dataset.subsets[0]
    assert (subset.images, subset.sub_folders) == (0, 1)


def test_that_a_path_that_cannot_exist_is_missing() -> None:
    assert path_fact(Path("/\0")).kind == "missing"


@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from(["output_dir", "train_data_dir", "vae"]), values), values)
def test_that_no_path_breaks_the_look_at_this_machine(arguments, image_dir) -> None:
    collector = Collector()
    check = Checker(Path("/nowhere"), CATALOGUE, Facts(), collector=collector)
    plan = plan_of(arguments, {"subsets": [{"image_dir": image_dir}]})
    assert "rule-failed" not in ids(check.findings(plan))


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, " "])
def test_that_a_path_that_no_disk_can_hold_is_just_not_there(tmp_path: Path, path: str) -> None:
    plan = plan_of({"output_dir": path, "vae": path}, {"subsets": [{"image_dir": path}]})
    facts = collected(tmp_path, plan)
    assert facts.dataset.subsets[0].images is None
    folder = plan_of({"train_data_dir": path}).model_copy(update={"dataset": {"resolution": 512}})
    assert collected(tmp_path, folder).dataset is None


def test_that_a_subset_without_a_folder_is_not_the_folder_one_stands_in(tmp_path, monkeypatch) -> None:
    make_images(tmp_path / "here", [(64, 64)])
    monkeypatch.chdir(tmp_path / "here")
    facts = collected(tmp_path, plan_of({}, {"subsets": [{"num_repeats": 1}]}))
    assert (facts.dataset.subsets[0].exists, facts.dataset.subsets[0].images) == (None, None)


def test_that_a_model_on_the_hub_is_no_path(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "elsewhere" / "owner" / "model").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "elsewhere")
    facts = collected(tmp_path, plan_of({"vae": "owner/model"}))
    assert "owner/model" not in facts.paths


def test_that_a_very_large_image_is_measured_without_a_word(tmp_path: Path) -> None:
    folder = make_images(tmp_path / "images", [(8, 8)])
    Image.new("1", (12_000, 10_000)).save(folder / "large.png")
    assert collected(tmp_path, plan_of()).dataset.max_size_px == (12_000, 10_000)


def test_that_of_very_many_images_only_the_number_is_known(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(collect, "IMAGES_LOOKED_AT", 2)
    make_images(tmp_path / "images", [(64, 64)] * 3)
    subset = collected(tmp_path, plan_of()).dataset.subsets[0]
    assert (subset.images, subset.sizes) == (3, None)


def test_that_the_gpus_of_this_machine_are_facts(nvml_libraries, tmp_path: Path, monkeypatch) -> None:
    gpus = FakeNvml(nvml_libraries["new"], tmp_path / "state").inside(monkeypatch)
    gpus.set({"count": 2, "total.0": 8 * GIB, "total.1": 12 * GIB})
    first, second = Collector().machine().gpu
    assert (first.name, first.vram_gib, first.capability) == ("NVIDIA Fake RTX 0", 8.0, (8, 6))
    assert (second.index, second.vram_gib, second.driver) == (1, 12.0, "580.65.06")
    assert 0 < second.free_gib <= 12


def test_that_a_driver_that_hangs_leaves_the_gpus_unknown(monkeypatch) -> None:
    monkeypatch.setattr(collect, "DRIVER_SECONDS", 0.05)
    ended = threading.Event()

    class Hanging(GpuMonitor):
        def sample(self):
            ended.wait()
            return []

    assert Collector(gpus=Hanging()).machine().gpu is None
    ended.set()
