"""Folders of images: that they are there, and taken as they are meant."""

import pytest
from table import assert_fixes_mend, findings, make_plan, make_view

from gui.engine.plan.changes import apply_changes
from gui.engine.preflight.view import View

A, B = {"image_dir": "/a"}, {"image_dir": "/b"}
REG = {"image_dir": "/r", "is_reg": True}


def folders(*facts: dict) -> dict:
    return {"dataset": {"subsets": list(facts)}}


def fact(path: str, images: int | None = None, **more) -> dict:
    return {"image_dir": path, "images": images, **more}


FIRES = [
    ("data-missing", "stop", {"subsets": [A]}, folders(fact("/a", exists=False)), None),
    ("data-empty", "stop", {"subsets": [A, B]}, folders(fact("/a", 5), fact("/b", 0, exists=True)), None),
    ("data-nested", "stop", {"subsets": [A]}, folders(fact("/a", 0, exists=True, sub_folders=2)), None),
    ("no-data", "stop", {"subsets": [REG]}, {}, None),
    ("no-data", "stop", {"subsets": [A]}, {"dataset": {"images": 0}}, ()),
    ("repeats-zero", "danger", {"subsets": [{**A, "num_repeats": 0}, B]}, {}, None),
    ("repeats-zero", "stop", {"num_repeats": 0, "subsets": [A]}, {}, None),
    (
        "repeats-zero",
        "stop",
        {"subsets": [{**A, "num_repeats": 0, "conditioning_data_dir": "/masks"}, B]},
        {},
        None,
    ),
    ("dup-folder", "warning", {"subsets": [A, {**A, "num_repeats": 3}]}, {}, None),
    ("steps-reg", "hint", {"subsets": [A, REG]}, {}, ()),
    ("steps-reg", "hint", {"subsets": [A, REG]}, folders(fact("/a", 5), fact("/r", 5)), ()),
    ("reg-unused", "hint", {"subsets": [A, REG]}, folders(fact("/a", 5), fact("/r", 50)), ()),
    ("batch-size", "stop", {"batch_size": 0}, {}, None),
]


@pytest.mark.parametrize(("identity", "severity", "dataset", "facts", "fixes"), FIRES)
def test_that_the_rule_fires_and_its_fixes_mend(identity, severity, dataset, facts, fixes) -> None:
    view = make_view(make_plan({}, dataset), **facts)
    assert [finding.severity for finding in findings(identity, view)] == [severity]
    assert_fixes_mend(identity, view, fixes)


SILENT = [
    ("data-missing", {"subsets": [A]}, {}, folders(fact("/a", 5, exists=True))),
    ("data-missing", {"subsets": [A]}, {}, {}),
    ("data-missing", {"subsets": [A]}, {"dataset_config": "/x.toml"}, folders(fact("/a", exists=False))),
    ("data-empty", {"subsets": [A]}, {}, folders(fact("/a", 0, exists=False))),
    ("data-empty", {"subsets": [{**A, "metadata_file": "/m.json"}]}, {}, folders(fact("/a", 0))),
    ("data-empty", {"subsets": [A]}, {}, folders(fact("/a", 0, sub_folders=1))),
    ("data-nested", {"subsets": [A]}, {}, folders(fact("/a", 3, sub_folders=1))),
    ("no-data", {"subsets": [A, REG]}, {}, {}),
    ("no-data", {"subsets": [A]}, {}, {"dataset": {"images": 4}}),
    ("no-data", {"subsets": []}, {}, {}),
    ("repeats-zero", {"subsets": [A]}, {}, {}),
    ("dup-folder", {"subsets": [A, B]}, {}, {}),
    ("dup-folder", {"datasets": [{"subsets": [A]}, {"subsets": [A]}]}, {}, {}),
    ("dup-folder", {"subsets": [{**A, "metadata_file": "/1"}, {**A, "metadata_file": "/2"}]}, {}, {}),
    ("steps-reg", {"subsets": [A]}, {}, {}),
    ("reg-unused", {"subsets": [A, REG]}, {}, folders(fact("/a", 5), fact("/r", 5))),
    ("reg-unused", {"subsets": [A]}, {}, folders(fact("/a", 5))),
    ("reg-unused", {"subsets": [A, REG]}, {}, {"dataset": {"images": 5}}),
    ("batch-size", {"batch_size": 2}, {}, {}),
    ("batch-size", {}, {"dataset_config": "/x.toml"}, {}),
]


@pytest.mark.parametrize(("identity", "dataset", "arguments", "facts"), SILENT)
def test_that_the_rule_keeps_silent(identity, dataset, arguments, facts) -> None:
    assert not findings(identity, make_view(make_plan(arguments, dataset), **facts))


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
