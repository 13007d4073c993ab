"""The sample project is copied whole, never over what the user changed, and its plan can be trained."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageStat

from gui.engine.errors import CannotRead, CannotWrite
from gui.engine.plan import sample
from gui.engine.plan.plan_file import load_plan
from gui.engine.plan.sample import copy_sample_project
from gui.engine.resources import resource_path
from gui.engine.trainer.safetensors_file import read_header


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_that_a_copy_holds_all_that_its_plan_names(tmp_path):
    plan_path = copy_sample_project(tmp_path / "a sample")
    plan, base = load_plan(plan_path).plan, plan_path.parent

    assert plan_path == tmp_path / "a sample" / "plan.toml"
    assert read_header(base / plan.arguments["pretrained_model_name_or_path"]).complete
    assert (base / plan.arguments["sample_prompts"]).is_file()
    images = sorted((base / plan.dataset["subsets"][0]["image_dir"]).glob("*.png"))
    assert 12 <= len(images) <= 20
    trigger = plan.dataset["subsets"][0]["class_tokens"]
    for image in images:
        assert image.with_suffix(".txt").read_text("utf-8").startswith(f"{trigger}, ")


def test_that_a_second_copy_changes_nothing_and_keeps_what_the_user_changed(tmp_path):
    plan_path = copy_sample_project(tmp_path)
    plan_path.write_text("# mine\n", "utf-8")
    (tmp_path / "prompts.txt").unlink()
    before = contents(tmp_path)

    assert copy_sample_project(tmp_path) == plan_path
    assert contents(tmp_path) == before | {
        "prompts.txt": resource_path("sample_project", "prompts.txt").read_bytes()
    }


def test_that_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("x", "utf-8")

    with pytest.raises(CannotWrite, match="file"):
        copy_sample_project(tmp_path / "file")


def test_that_damaged_program_data_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(sample, "resource_path", lambda *parts: tmp_path.joinpath("gone", *parts))

    with pytest.raises(CannotRead, match="gone"):
        copy_sample_project(tmp_path / "copy")


def test_that_the_plan_is_of_a_size_that_a_minute_is_enough_for(tmp_path):
    plan_path = copy_sample_project(tmp_path)
    plan = load_plan(plan_path).plan
    dataset, subset = plan.dataset, plan.dataset["subsets"][0]
    sizes = []
    for path in sorted((tmp_path / subset["image_dir"]).glob("*.png")):
        with Image.open(path) as image:
            sizes.append(image.size)

    assert all(64 <= side <= 320 for size in sizes for side in size)
    assert len(set(sizes)) == 3
    assert subset["num_repeats"] * len(sizes) * plan.arguments["max_train_epochs"] <= 4 * 120
    assert dataset["batch_size"] == 4


def test_that_the_images_are_those_that_the_script_draws(tmp_path):
    script = resource_path("sample_project", "draw_images.py")
    subprocess.run(
        [
            sys.executable,
            "-B",
            "-c",
            "import runpy, sys; from pathlib import Path; "
            "runpy.run_path(sys.argv[1])['main'](Path(sys.argv[2]))",
            str(script),
            str(tmp_path),
        ],
        check=True,
        timeout=120,
    )
    committed = resource_path("sample_project", "images", "pimolo")

    assert [path.name for path in sorted(tmp_path.iterdir())] == [p.name for p in sorted(committed.iterdir())]
    for drawn in sorted(tmp_path.glob("*.png")):
        with Image.open(drawn) as one, Image.open(committed / drawn.name) as other:
            difference = ImageChops.difference(one.convert("RGB"), other.convert("RGB"))
        assert max(ImageStat.Stat(difference).mean) < 4, "other Pillow versions may choose other palettes"
