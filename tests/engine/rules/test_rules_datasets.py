"""Folders of images: that they are there, and taken as they are meant."""

import pytest
from table import findings, make_plan, make_view

from gui.engine.plan.changes import apply_changes
from gui.engine.preflight.view import View

A, B = {"image_dir": "/a"}, {"image_dir": "/b"}
REG = {"image_dir": "/r", "is_reg": True}


def folders(*facts: dict) -> dict:
    return {"dataset": {"subsets": list(facts)}}


def fact(path: str, images: int | None = None, **more) -> dict:
    return {"image_dir": path, "images": images, **more}


def test_that_doubled_epochs_are_a_warning_with_figures() -> None:
    plan = make_plan({"max_train_epochs": 10}, {"subsets": [A, REG], "resolution": 512})
    view = make_view(plan, **folders(fact("/a", 5), fact("/r", 5)))
    (finding,) = findings("steps-reg", view)
    assert finding.severity == "warning"
    assert "10 epochs are 100 steps." in finding.detail


@pytest.mark.parametrize(
    ("identity", "layout", "parent", "subset", "safe"),
    [
        (
            "data-leaf",
            "leaf",
            "/data/img/10_mira girl",
            {"image_dir": "/data/img/10_mira girl", "num_repeats": 10, "class_tokens": "mira girl"},
            True,
        ),
        (
            "data-leaf",
            "leaf",
            "D:\\data\\5_x\\",
            {"image_dir": "D:\\data\\5_x\\", "num_repeats": 5, "class_tokens": "x"},
            True,
        ),
        ("data-name", "flat", "./tags/name", {"image_dir": "./tags/name", "num_repeats": 1}, False),
    ],
)
def test_that_a_folder_that_is_no_parent_becomes_a_subset(identity, layout, parent, subset, safe) -> None:
    own = make_plan({"train_data_dir": parent}, {"subsets": []})
    effective = make_plan({}, {"subsets": []})
    view = make_view(effective, dataset={"layout": layout})
    view = View(effective, view.facts, view.script, view.arguments, own)
    (finding,) = findings(identity, view)
    (fix,) = finding.fixes
    assert fix.changes == {"train_data_dir": None, "dataset.subsets": [subset]}
    assert fix.safe is safe
    mended = apply_changes(own, fix.changes)
    assert not findings(identity, View(mended, view.facts, view.script, view.arguments))


@pytest.mark.parametrize("layout", ["parent", None])
def test_that_a_parent_of_named_folders_is_right(layout) -> None:
    view = make_view(make_plan({"train_data_dir": "/img"}), dataset={"layout": layout})
    assert not findings("data-leaf", view) and not findings("data-name", view)
    subsets = make_view(make_plan({}), dataset={"layout": "leaf"})
    assert not findings("data-leaf", subsets)
