"""Each diagnosis is found by the words that show it, and not by words that only look like them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from gui.engine.runs.diagnoses import known_diagnoses
from gui.engine.runs.diagnosis import diagnose_log

WORDS = yaml.safe_load((Path(__file__).parents[1] / "data" / "diagnosis_words.yaml").read_text("utf-8"))


def cases(kind: str) -> list[tuple[str, str]]:
    return [(identity, words) for identity, said in WORDS.items() for words in said[kind]]


def found(words: str) -> list[str]:
    return [each.id for each in diagnose_log([f"preparing\n{words}\n".encode()])]


def test_that_every_diagnosis_has_words_that_show_it_and_words_that_do_not():
    assert set(WORDS) == {file.id for file in known_diagnoses()}
    assert all(said["hits"] and said["misses"] for said in WORDS.values())


@pytest.mark.parametrize(("identity", "words"), cases("hits"))
def test_that_words_show_their_cause_first(identity, words):
    assert found(words)[:1] == [identity]


@pytest.mark.parametrize(("identity", "words"), cases("misses"))
def test_that_words_near_to_a_cause_do_not_show_it(identity, words):
    assert identity not in found(words)
