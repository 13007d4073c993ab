"""What a look has found is told again without another one, and nothing that is not true any more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from gui.engine.plan.changes import apply_changes
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.check import Checker
from gui.engine.preflight.collect import Collector
from gui.engine.preflight.facts import Facts
from gui.engine.preflight.view import View
from gui.engine.trainer.catalogue import Catalogue
from gui.window.bridges.files_seen import FilesSeen

CATALOGUE = Catalogue.bundled()
MACHINE = Facts(os="linux", ram_gib=32.0)
OF_THE_PLAN = (
    *("paths", "model", "text", "disk", "disk_free_gib", "existing_outputs", "locked_outputs"),
    *("hub", "offline", "state", "dataset"),
)


@pytest.fixture
def plan(tmp_path: Path) -> TrainingPlan:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        Image.new("RGB", (600, 600)).save(tmp_path / name / "1.png")
    (tmp_path / "prompts.txt").write_bytes(b"\xef\xbb\xbfa cat")
    (tmp_path / "state").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "cat.safetensors").write_bytes(b"x")
    return TrainingPlan.model_validate(
        {
            "family": "sd15",
            "arguments": {
                "output_dir": "out",
                "output_name": "cat",
                "sample_prompts": "prompts.txt",
                "resume": "state",
                "cache_latents": True,
                "cache_latents_to_disk": True,
            },
            "dataset": {"resolution": 512, "subsets": [{"image_dir": "a"}, {"image_dir": "b"}]},
        }
    )


def looked(base: Path, plan: TrainingPlan) -> View:
    view, _findings = Checker(base, CATALOGUE, MACHINE, collector=Collector()).view(plan)
    assert view is not None
    return view


def of_the_plan(facts: Facts) -> dict[str, Any]:
    return {name: getattr(facts, name) for name in OF_THE_PLAN}


def kept(base: Path, plan: TrainingPlan) -> FilesSeen:
    seen, view = FilesSeen(), looked(base, plan)
    seen.keep(view, view.facts)
    return seen


def test_that_all_that_was_seen_is_told_again(tmp_path: Path, plan: TrainingPlan) -> None:
    seen, view = FilesSeen(), looked(tmp_path, plan)
    seen.keep(view, view.facts)
    assert seen.knows(view)
    again = seen.recall(view, MACHINE)
    assert of_the_plan(again) == of_the_plan(view.facts)
    assert again.text and again.disk and again.state and again.dataset


def test_that_a_folder_taken_out_moves_the_others_facts(tmp_path: Path, plan: TrainingPlan) -> None:
    seen = kept(tmp_path, plan)
    less = apply_changes(plan, {"dataset.subsets.0": None})
    view = looked(tmp_path, less)
    assert seen.knows(view)
    again, fresh = seen.recall(view, MACHINE), view.facts
    assert {(each.argument, each.path) for each in again.disk} == {
        (each.argument, each.path) for each in fresh.disk
    }
    assert again.dataset and fresh.dataset and again.dataset.images == fresh.dataset.images


@pytest.mark.parametrize(
    "changes",
    [
        {"dataset.resolution": 768},
        {"cache_latents_to_disk": None},
    ],
)
def test_that_caches_are_unknown_once_the_plan_would_use_others(
    tmp_path: Path, plan: TrainingPlan, changes: dict[str, Any]
) -> None:
    seen = kept(tmp_path, plan)
    view = looked(tmp_path, apply_changes(plan, changes))
    assert not seen.knows(view)
    again = seen.recall(view, MACHINE)
    assert again.dataset is not None
    assert [(fact.images, fact.caches) for fact in again.dataset.subsets] == [(1, None), (1, None)]


def test_that_another_file_of_prompts_is_looked_at(tmp_path: Path, plan: TrainingPlan) -> None:
    seen = kept(tmp_path, plan)
    view = looked(tmp_path, apply_changes(plan, {"sample_prompts": "other.txt"}))
    assert not seen.knows(view)
    assert seen.recall(view, MACHINE).text == ()


def test_that_a_folder_laid_out_wrongly_stays_known(tmp_path: Path, plan: TrainingPlan) -> None:
    wrong = apply_changes(plan, {"dataset.subsets": None, "train_data_dir": "a"})
    seen, view = kept(tmp_path, wrong), looked(tmp_path, wrong)
    known = seen.recall(view, MACHINE).dataset
    assert known is not None and known.layout == "flat"
