"""The resolution: given, written as the trainer reads it, and fit for the family."""

import pytest
from table import assert_fixes_mend, findings, make_plan, make_view

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
