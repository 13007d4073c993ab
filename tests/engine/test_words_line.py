"""Several values in one line, as people type them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.trainer.words_line import join_line, split_line


@given(st.lists(st.text(max_size=6) | st.text(alphabet="a \"'\\\t", max_size=6), max_size=5))
def test_that_a_line_gives_back_the_values_it_was_made_of(words: list[str]) -> None:
    assert split_line(join_line(words)) == words


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", []),
        ("  ", []),
        ("weight_decay=0.01 betas=0.9,0.99", ["weight_decay=0.01", "betas=0.9,0.99"]),
        (r'C:\models\a.safetensors "D:\my models\b"', [r"C:\models\a.safetensors", r"D:\my models\b"]),
        ("a\"b c\"'d e'", ["ab cd e"]),
        ('""', [""]),
        ('"not closed', None),
        ("it's", None),
    ],
)
def test_that_lines_are_read_as_they_are_meant(line: str, words: list[str] | None) -> None:
    assert split_line(line) == words
