"""Each row of the guides, of the trainer's demands and of the real cases is answered, or has a reason."""

from __future__ import annotations

import re
from itertools import chain

import pytest

from coverage_page import PROJECT, Coverage, main

KNOWN_ROW = re.compile(r"[NST]\d+|[A-Z]{2,}-\d\d")
"""How rows of the guides and real cases are named; other sources are places in the trainer."""


@pytest.fixture(scope="module")
def coverage() -> Coverage:
    return Coverage()


def test_that_no_row_is_without_an_answer_or_a_reason(coverage: Coverage) -> None:
    assert [(row.id, row.says, row.unknown) for row in coverage.all_rows() if row.is_open] == []


def test_that_whatever_answers_has_a_test(coverage: Coverage) -> None:
    for answer in chain(*coverage.answers.values(), coverage.presets):
        assert answer.test and (PROJECT / answer.test).is_file(), answer


def test_that_sources_name_rows_that_exist(coverage: Coverage) -> None:
    rows = {row.id for row in coverage.all_rows()}
    for answer in chain(*coverage.answers.values(), coverage.presets):
        named = {source for source in answer.sources if KNOWN_ROW.fullmatch(source)}
        assert not named - rows, answer


def test_that_all_sections_rows_and_cases_are_there(coverage: Coverage) -> None:
    assert len(coverage.cases()) == 171
    guides = [row.id for row in coverage.knowledge()]
    assert guides == [f"{g}{n}" for g, last in (("N", 20), ("S", 10), ("T", 20)) for n in range(1, last + 1)]
    assert {title.split()[0] for title, _rows in coverage.facts()} >= {
        *(f"1.{n}" for n in range(1, 15)),
        *(f"2.{n}" for n in range(1, 12)),
        *("4", "6.1", "6.2", "6.3", "6.4", "6.5", "6.6", "6.7", "9"),
    }


def test_that_the_page_is_written_with_each_row(tmp_path, coverage: Coverage) -> None:
    page = tmp_path / "coverage.md"
    assert main([str(page)]) == 0
    text = page.read_text("utf-8")
    assert all(f"| {row.id} | " in text for row in coverage.all_rows())
    assert "`nan-flux-fp16` (rule)" in text and "`cuda-oom` (diagnosis)" in text


def test_that_an_open_row_is_told(tmp_path, coverage: Coverage, capsys, monkeypatch) -> None:
    for file in coverage.data.iterdir():
        (tmp_path / file.name).write_text(file.read_text("utf-8"), "utf-8")
    facts = (tmp_path / "facts.yaml").read_text("utf-8")
    (tmp_path / "facts.yaml").write_text(facts.replace("by: [seed-range]", "by: [no-such-rule]"), "utf-8")
    monkeypatch.setattr("coverage_page.DATA", tmp_path)
    assert main([]) == 1
    told = capsys.readouterr()
    assert "no-such-rule" in told.err and "unknown: no-such-rule" in told.out
