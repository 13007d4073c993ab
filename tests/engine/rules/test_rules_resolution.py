"""The resolution: given, written as the trainer reads it, and fit for the family."""

import pytest
from table import SUBSET, assert_fixes_mend, findings, make_plan, make_view

SDXL, SD15, FLUX = "sdxl_train_network.py", "train_network.py", "flux_train_network.py"
TWO = {"datasets": [{"resolution": 512, "subsets": []}, {"subsets": []}], "resolution": None, "subsets": None}

FIRES = [
    ("resolution", "stop", SDXL, {"resolution": None}),
    ("resolution", "stop", SD15, TWO),
    ("reso-format", "hint", SDXL, {"resolution": "768, 768"}),
    ("reso-format", "hint", SDXL, {"resolution": "1024"}),
    ("reso-format", "stop", SDXL, {"resolution": "768x768"}),
    ("reso-format", "stop", SDXL, {"resolution": 0}),
    ("resolution-step", "stop", FLUX, {"resolution": [1000, 1024]}),
    ("resolution-step", "danger", "lumina_train_network.py", {"resolution": 1000}),
    ("res-sdxl", "warning", SDXL, {"resolution": [512, 512]}),
    ("res-sdxl", "warning", "sdxl_train.py", {"resolution": "640,640"}),
    ("res-family", "hint", SD15, {"resolution": [1024, 1024]}),
    ("res-family", "hint", SD15, {"resolution": 128}),
    ("res-family", "hint", SDXL, {"resolution": 4096}),
    ("interpolation", "stop", SD15, {"resize_interpolation": "AREA"}),
    ("interpolation", "stop", SD15, {"resize_interpolation": ""}),
    ("interpolation", "stop", SD15, {"general": {"resize_interpolation": "sharp"}}),
    ("interpolation", "warning", SD15, {"subsets": [{**SUBSET, "resize_interpolation": "sharp"}]}),
    ("face-crop", "warning", SD15, {"face_crop_aug_range": [4.0, 2.0]}),
]


@pytest.mark.parametrize(("identity", "severity", "script", "dataset"), FIRES)
def test_that_the_rule_fires_and_its_fixes_mend(identity, severity, script, dataset) -> None:
    view = make_view(make_plan({}, dataset), script)
    assert [finding.severity for finding in findings(identity, view)] == [severity]
    assert_fixes_mend(identity, view)


SILENT = [
    ("resolution", SDXL, {}, {}),
    ("resolution", SDXL, {"resolution": None}, {"dataset_config": "/data/own.toml"}),
    ("resolution", SDXL, {"resolution": None}, {"resolution": "1024,1024"}),
    ("reso-format", SDXL, {"resolution": 1024}, {}),
    ("reso-format", SDXL, {"resolution": [1024, 768]}, {}),
    ("reso-format", SDXL, {"resolution": [1, 2, 3]}, {}),
    ("reso-format", SDXL, {"resolution": None}, {}),
    ("resolution-step", FLUX, {"resolution": [1008, 1024]}, {}),
    ("resolution-step", FLUX, {"resolution": 1000, "enable_bucket": True}, {}),
    ("resolution-step", SDXL, {"resolution": 1000}, {}),
    ("res-sdxl", SDXL, {"resolution": [768, 768]}, {}),
    ("res-sdxl", SD15, {"resolution": [512, 512]}, {}),
    ("res-sdxl", SDXL, {"resolution": "?"}, {}),
    ("res-family", SD15, {"resolution": [512, 768]}, {}),
    ("res-family", "some_script.py", {"resolution": 16}, {}),
    ("reso-format", SDXL, {"resolution": True}, {}),
    ("interpolation", SD15, {"resize_interpolation": "box"}, {}),
    ("interpolation", SD15, {"resize_interpolation": 3}, {}),
    ("interpolation", SD15, {"resize_interpolation": "sharp"}, {"dataset_config": "own.toml"}),
    ("face-crop", SD15, {"face_crop_aug_range": [2.0, 4.0]}, {}),
    ("face-crop", SD15, {"face_crop_aug_range": "2.0,4.0"}, {}),
    ("face-crop", SD15, {"face_crop_aug_range": ["b", "a"]}, {}),
]

OWN_FILE = {"dataset_config": "/data/own.toml"}
"""Beside it the trainer reads these arguments' texts itself, part by part."""


@pytest.mark.parametrize("text", ["768.0", "768x768", "1,2,3", "", "512,", "1e3"])
def test_that_beside_a_dataset_file_a_resolution_that_the_trainer_cannot_read_stops(text) -> None:
    view = make_view(make_plan(OWN_FILE | {"resolution": text}, {"resolution": None}))
    (finding,) = findings("reso-format", view)
    assert (finding.severity, finding.arguments) == ("stop", ("resolution",))
    assert_fixes_mend("reso-format", view)


def test_that_a_size_with_a_point_is_read_as_meant() -> None:
    view = make_view(make_plan(OWN_FILE | {"resolution": "768.0,512"}, {"resolution": None}))
    (finding,) = findings("reso-format", view)
    assert [(fix.changes, fix.safe) for fix in finding.fixes] == [({"resolution": "768,512"}, True)]


@pytest.mark.parametrize("text", ["4.0,2.0", "1", "a,b", "1,2,3", "nan,1", ""])
def test_that_beside_a_dataset_file_a_range_that_the_trainer_cannot_read_stops(text) -> None:
    view = make_view(make_plan(OWN_FILE | {"face_crop_aug_range": text}))
    assert [finding.severity for finding in findings("face-crop", view)] == ["stop"]
    assert_fixes_mend("face-crop", view)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("resolution", "768"),
        ("resolution", "768, 512"),
        ("resolution", 768),
        ("resolution", None),
        ("face_crop_aug_range", "2,4.0"),
    ],
)
def test_that_beside_a_dataset_file_what_the_trainer_reads_is_fine(name, value) -> None:
    view = make_view(make_plan(OWN_FILE | {name: value}, {"resolution": None}))
    assert not findings("reso-format", view)
    assert not findings("face-crop", view)


@pytest.mark.parametrize(("identity", "script", "dataset", "arguments"), SILENT)
def test_that_the_rule_keeps_silent(identity, script, dataset, arguments) -> None:
    plan = make_plan(arguments, dataset)
    view = make_view(plan, SDXL if script == "some_script.py" else script)
    if script == "some_script.py":
        view = type(view)(plan, view.facts, script, None)
    assert not findings(identity, view)
