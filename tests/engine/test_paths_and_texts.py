"""Where the program keeps its things, in which language it speaks, and what its errors say."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from gui.engine import errors, texts
from gui.engine.errors import CannotRead, CannotWrite, NewerDocument, PreflightError, WrongUsage
from gui.engine.findings import Finding, verdict_of
from gui.engine.paths import HOME_VARIABLE, Home


def test_that_the_chosen_home_wins_over_the_environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "environment"))
    assert Home.find(tmp_path / "chosen").root == tmp_path / "chosen"
    assert Home.find().root == tmp_path / "environment"


def test_that_the_home_is_absolute_and_knows_the_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert Home.find("here").root == tmp_path / "here"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert Home.find("~/x").root == tmp_path / "x"


def test_that_without_a_choice_the_platforms_data_folder_is_the_home(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(HOME_VARIABLE)
    assert Home.find().root.name == "kohya-preflight"
    assert Home.find().root.is_absolute()


def test_that_runs_cache_and_preferences_lie_in_the_home(home: Home):
    assert {home.runs.parent, home.cache.parent, home.preferences.parent} == {home.root}
    assert not home.root.exists()


@pytest.fixture
def languages(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_that_the_first_language_variable_that_is_set_decides(languages: pytest.MonkeyPatch):
    languages.setenv("LANG", "ja_JP.UTF-8")
    languages.setenv("LANGUAGE", "ko:en")
    assert texts._system_languages() == ["ko", "en"]
    languages.delenv("LANGUAGE")
    assert texts._system_languages() == ["ja_JP.UTF-8"]


def test_that_without_variables_the_systems_own_language_is_asked(languages: pytest.MonkeyPatch):
    languages.setattr(texts.locale, "getlocale", lambda: ("de_DE", "UTF-8"))
    assert texts._system_languages() == ["de_DE"]
    languages.setattr(texts.locale, "getlocale", lambda: (None, None))
    assert texts._system_languages() == []


def test_that_an_unknown_language_speaks_english_and_nothing_stays_nothing():
    texts.use_language("tlh")
    assert texts._("Cancelled.") == "Cancelled."
    assert texts._("") == ""
    assert texts.ngettext("{n} step", "{n} steps", 1) == "{n} step"
    texts.use_language("en")


def test_that_sentences_made_later_follow_a_change_of_language(pseudo_folder: Path):
    error = errors.Cancelled()
    assert str(error) == "Cancelled."
    texts.use_language("en_XA", pseudo_folder)
    changed = str(error)
    texts.use_language("en")
    assert changed != "Cancelled."
    assert changed.endswith("·")


def test_that_the_door_opens_by_itself(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(texts, "_door", texts._Door())
    assert texts._("Cancelled.") == "Cancelled."


def test_that_errors_of_files_name_the_file_and_the_reason(tmp_path: Path):
    for kind in (CannotRead, CannotWrite):
        error = kind(tmp_path / "plan.toml", "no room")
        assert str(tmp_path / "plan.toml") in str(error)
        assert "no room" in str(error)
        assert error.reason == "no room"


def test_that_a_newer_document_tells_which_versions():
    error = NewerDocument("run/plan.toml", 3, 1)
    assert (error.schema, error.known) == (3, 1)
    assert "format 3" in str(error)
    assert "Update" in str(error)


def test_that_wrong_usage_is_told_as_it_was_given():
    assert str(WrongUsage("two plans at once")) == "two plans at once"


def test_that_every_error_of_the_engine_has_a_sentence_of_its_own():
    kinds = [
        kind
        for _name, kind in inspect.getmembers(errors, inspect.isclass)
        if kind.__module__ == errors.__name__
    ]
    assert [kind.__name__ for kind in kinds if not issubclass(kind, PreflightError)] == []
    with pytest.raises(NotImplementedError):
        PreflightError().message()


def finding(severity: str) -> Finding:
    return Finding(id="x", severity=severity, title="x")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("severities", "verdict"),
    [
        ([], "go"),
        (["hint"], "go"),
        (["hint", "warning"], "caution"),
        (["danger"], "caution"),
        (["warning", "stop", "hint"], "stop"),
    ],
)
def test_that_the_worst_finding_makes_the_verdict(severities: list[str], verdict: str):
    assert verdict_of(finding(severity) for severity in severities) == verdict
