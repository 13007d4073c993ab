"""What the Data page stands on: rows of images, tiles, short words, and the changes that use a folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, QSizeF

from gui.engine.dataset.problem_kinds import problem_kinds
from gui.engine.dataset.report import AlikeGroup, DatasetReport, ImageName, SubsetReport
from gui.engine.dataset.report_parts import found_problems
from gui.engine.plan.changes import apply_changes
from gui.engine.plan.model import TrainingPlan
from gui.window.bridges.dataset_source import names_images
from gui.window.models.image_rows import ImageFilter, ImageRows, Level, worst_first
from gui.window.models.looked_images import FolderImages, LookedAt
from gui.window.pages.data.tile_words import short_words, tile_words
from gui.window.pages.data.tiles import Grid
from gui.window.pages.data.use_in_plan import data_changes

ONE, TWO = Path("/data/one"), Path("/data/two")


def _rows() -> ImageRows:
    """Return rows of two folders of which some images were looked at."""
    rows = ImageRows((FolderImages(ONE, ("a.png", "b.png", "c.png")), FolderImages(TWO, ("b.png",))))
    for row, size in enumerate([(640, 480), (412, 900)]):
        rows.measure(row, size)
    found = [LookedAt(0, ()), LookedAt(1, ("img-small", "img-blur")), LookedAt(3, ("img-truncated",))]
    assert rows.learn(found) == {0, 1, 3}
    return rows


def _report() -> DatasetReport:
    """Return a report on the same folders, in which two images are twins."""
    found = {"img-small": ["b.png"], "img-dup": ["a.png", "c.png"]}
    one = SubsetReport(target="s.0", image_dir=str(ONE), exists=True, problems=found_problems(found))
    two = SubsetReport(target="s.1", image_dir=str(TWO), exists=True)
    twins = (ImageName(subset=0, name="a.png"), ImageName(subset=0, name="c.png"))
    return DatasetReport(
        complete=True,
        images=4,
        readable=3,
        seconds=1.0,
        subsets=(one, two),
        alike=(AlikeGroup(exact=True, images=twins),),
    )


def test_that_each_kind_of_trouble_is_told_in_few_words():
    for key, kind in problem_kinds().items():
        words = short_words(key)
        assert words != kind.id and len(words) <= 18, key


def test_that_the_worst_trouble_comes_first():
    assert worst_first(["img-blur", "img-small", "img-truncated", "img-blur"]) == (
        "img-truncated",
        "img-small",
        "img-blur",
    )


def test_that_rows_lie_folder_by_folder():
    rows = _rows()
    assert [rows.path(row) for row in range(len(rows))] == [
        *(ONE / f"{name}.png" for name in "abc"),
        TWO / "b.png",
    ]
    assert rows.row_at(TWO / "b.png") == 3
    assert rows.row_at(TWO / "a.png") is None and rows.row_at(Path("/else/b.png")) is None


def test_that_what_is_found_is_counted_by_level_and_kind():
    rows = _rows()
    assert [rows.level(row) for row in range(4)] == [Level.FINE, Level.LOOK, Level.UNKNOWN, Level.STOP]
    assert [rows.count(level) for level in Level] == [1, 1, 1, 1]
    assert rows.count(Level.STOP, 0) == 0 and rows.count(Level.STOP, 1) == 1
    assert rows.kinds() == {"img-blur": 1, "img-small": 1, "img-truncated": 1}
    assert rows.learn([LookedAt(0, ()), LookedAt(1, ("img-blur",)), LookedAt(3, ())]) == {1, 3}
    assert rows.kinds() == {"img-blur": 1}
    assert rows.level(1) is Level.FINE, "a hint makes no image worse than fine"


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (ImageFilter(), [0, 1, 2, 3]),
        (ImageFilter(level=Level.LOOK), [1]),
        (ImageFilter(key="img-truncated"), [3]),
        (ImageFilter(text="B."), [1, 3]),
        (ImageFilter(text="b.", place=0), [1]),
        (ImageFilter(place=1), [3]),
        (ImageFilter(names=frozenset({"c.png", "a.png", "z.png"}), place=0), [0, 2]),
        (ImageFilter(names=frozenset({"a.png", "b.png"}), place=0, key="img-small"), [1]),
    ],
)
def test_that_a_filter_lets_through_what_it_says(wanted, found):
    assert list(_rows().shown(wanted)) == found


def test_that_a_report_knows_twins_and_takes_back_what_is_over():
    rows = _rows().judged(_report())
    assert rows.keys(1) == ("img-small",) and rows.keys(3) == ()
    assert rows.level(3) is Level.FINE
    assert tile_words(rows, 0) == ("twin of c", "warn")
    assert tile_words(rows, 2) == ("twin of a", "warn")
    assert tile_words(rows, 1) == ("412 px", "warn")
    assert tile_words(rows, 3) == ("", "neutral")


def test_that_a_new_look_keeps_what_is_known_of_files_that_are_still_there():
    before = _rows().judged(_report())
    again = ImageRows((FolderImages(TWO, ("b.png", "n.png")), FolderImages(ONE, ("b.png", "c.png"))), before)
    names = [(again.path(row).name, again.level(row), again.keys(row)) for row in range(len(again))]
    assert names == [
        ("b.png", Level.FINE, ()),
        ("n.png", Level.UNKNOWN, ()),
        ("b.png", Level.LOOK, ("img-small",)),
        ("c.png", Level.LOOK, ("img-dup",)),
    ]
    assert again.size(2) == (412, 900) and again.twin(3) == "a.png"
    assert again.kinds() == {"img-small": 1, "img-dup": 1}


@given(
    columns=st.integers(1, 9),
    width=st.floats(40, 400),
    height=st.floats(40, 400),
    number=st.integers(0, 100_000),
)
def test_that_the_tile_at_the_middle_of_its_place_is_that_tile(columns, width, height, number):
    grid = Grid(columns, QSizeF(width, height), 12)
    assert grid.at(grid.place(number).center()) == number


def test_that_there_is_no_tile_between_tiles():
    grid = Grid(3, QSizeF(100, 100), 12)
    assert grid.at(QPointF(105, 50)) is None and grid.at(QPointF(50, 105)) is None
    assert grid.at(QPointF(400, 50)) is None and grid.lines(7) == 3


FOLDER = TrainingPlan.model_validate(
    {
        "name": "set",
        "dataset": {
            "caption_extension": ".txt",
            "resolution": [1024, 1024],
            "subsets": [{"image_dir": "/new", "num_repeats": 3}],
        },
    }
)


@pytest.mark.parametrize(
    ("dataset", "becomes"),
    [
        ({}, {"caption_extension": ".txt", "subsets": FOLDER.dataset["subsets"]}),
        (
            {"resolution": 512, "subsets": [{"image_dir": "/old"}]},
            {"resolution": 512, "caption_extension": ".txt", "subsets": FOLDER.dataset["subsets"]},
        ),
        (
            {"datasets": [{"resolution": 768, "subsets": [{"image_dir": "/old"}]}, {"resolution": 512}]},
            {
                "datasets": [
                    {"resolution": 768, "caption_extension": ".txt", "subsets": FOLDER.dataset["subsets"]}
                ]
            },
        ),
    ],
)
def test_that_a_folder_becomes_all_of_a_plans_data_and_the_rest_stays(dataset, becomes):
    plan = TrainingPlan.model_validate(
        {"name": "mine", "arguments": {"train_data_dir": "/older", "seed": 1}, "dataset": dataset}
    )
    changed = apply_changes(plan, data_changes(plan, FOLDER))
    assert changed.data()["dataset"] == becomes
    assert "train_data_dir" not in changed.arguments and changed.arguments["seed"] == 1
    assert names_images(changed)
