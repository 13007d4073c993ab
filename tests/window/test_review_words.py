"""The words of the Review page."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QWidget

from gui.engine.findings import Finding, Fix
from gui.window.pages.review.diff_chip import DiffChip
from gui.window.pages.review.words import (
    Difference,
    differences_of,
    headline,
    sentence_case,
    short,
    value_text,
)
from gui.window.widgets.way_button import WayButton


def of(*severities: str) -> list[Finding]:
    return [Finding(id=word, severity=word, title=word) for word in severities]


@pytest.mark.parametrize(
    ("findings", "words"),
    [
        ((), "Nothing stops this run"),
        (("hint",), "Nothing stops this run"),
        (("warning", "warning"), "Nothing stops this run; look at 2 things first"),
        (("danger", "warning"), "Nothing stops this run, but 1 thing is likely to go wrong"),
        (("stop", "stop", "danger"), "2 things stop this run"),
    ],
)
def test_that_the_headline_tells_whether_the_run_can_start(findings, words):
    assert headline(of(*findings)) == words


def test_that_a_difference_names_old_and_new_and_hides_tokens():
    changes = {"mixed_precision": "bf16", "sdpa": True, "xformers": None, "huggingface_token": "hf_abc"}
    fix = Fix(id="f", label="f", changes={**changes, "action": "by-hand"}, safe=True)
    found = differences_of(fix, {"mixed_precision": "fp16", "xformers": True, "sdpa": False})
    assert found == (
        Difference("mixed_precision", "fp16", "bf16"),
        Difference("sdpa", "", "true"),
        Difference("xformers", "true", ""),
        Difference("huggingface_token", "", "•••"),
    )
    assert [each.words() for each in found[:3]] == [
        "mixed_precision: fp16 becomes bf16",
        "sdpa becomes true",
        "xformers is taken away",
    ]


@pytest.mark.parametrize(
    ("difference", "text"),
    [
        (Difference("network_dim", "128", "32"), "network_dim <s>128</s> → 32"),
        (Difference("network_dim", "", "32"), "+ network_dim 32"),
        (Difference("sdpa", "", "true"), "+ sdpa"),
        (Difference("sdpa", "true", ""), "<s>sdpa</s>"),
        (Difference("seed", "4", ""), "seed <s>4</s>"),
        (Difference("name", "<b>", "a&b"), "name <s>&lt;b&gt;</s> → a&amp;b"),
    ],
)
def test_that_a_chip_strikes_the_old_value_through(qapp, theme, difference, text):
    assert DiffChip(difference).text() == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e-4, "1e-4"),
        ([1024, 768], "1024, 768"),
        (False, "false"),
        ({"a": 1}, "1 entries"),
        ([{"a": 1}, {}], "2 entries"),
    ],
)
def test_that_values_are_written_as_people_write_them(value, text):
    assert value_text("something", value) == text


def test_that_long_values_are_cut_where_it_matters_least():
    assert short("/a/very/long/path/that/ends/with/model.safetensors", 20).endswith("model.safetensors")
    assert short("word " * 20, 10) == "word word…"
    assert short("short") == "short"


def test_that_buttons_begin_with_a_capital_unless_it_is_a_name():
    assert sentence_case("use bf16") == "Use bf16"
    assert sentence_case("network_dim 32") == "network_dim 32"


def test_that_a_long_button_is_cut_and_tells_all_in_its_tooltip(qtbot, show):
    holder = QWidget()
    button = WayButton("Do this & that, and a great many other things", "quiet", name="fix-x")
    button.setParent(holder)
    show(holder, 400, 100)
    whole = button.sizeHint().width()
    button.resize(120, 30)
    assert button.text().endswith("…")
    assert abs(button.sizeHint().width() - whole) <= 2
    assert button.accessibleName() == "Do this & that, and a great many other things"
    assert button.accessibleName() in button.toolTip()
    button.resize(whole, 30)
    assert button.text() == "Do this && that, and a great many other things"
