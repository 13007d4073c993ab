"""Captions are taken apart into the very tokens that the trainer's tokenizer makes of them."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from gui.engine.dataset.clip_tokens import clip_tokenizer

ANSWERS = Path(__file__).parents[1] / "data" / "clip" / "tokens.json"


def test_that_tokens_are_those_of_the_trainer() -> None:
    answers = json.loads(ANSWERS.read_text("utf-8"))
    assert max(len(text) for text, _ids, _other in answers) >= 5000
    for text, ids, _other in answers:
        assert clip_tokenizer().ids(text) == ids, text


def test_that_stable_diffusion_2_counts_each_exclamation_mark() -> None:
    for text, ids, other in json.loads(ANSWERS.read_text("utf-8")):
        assert clip_tokenizer("!").ids(text) == (other or ids), text
    assert (clip_tokenizer().count("!!!"), clip_tokenizer("!").count("!!!")) == (1, 3)


@given(st.text())
def test_that_any_text_can_be_counted(text: str) -> None:
    tokenizer = clip_tokenizer()
    assert tokenizer.count(text) == len(tokenizer.ids(text))
    for mark in tokenizer.marks(text):
        assert text[mark.start : mark.end].split() != []


def test_that_words_are_marked_where_they_stand() -> None:
    text = "mira_x,  in the rain"
    marks = clip_tokenizer().marks(text)
    assert [text[mark.start : mark.end] for mark in marks] == ["mira_x,", "in", "the", "rain"]
    assert sum(mark.tokens for mark in marks) == clip_tokenizer().count(text)
