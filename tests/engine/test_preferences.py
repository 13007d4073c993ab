"""Choices survive damage, strangers' keys and each other."""

import json
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.errors import CannotWrite
from gui.engine.paths import Home
from gui.engine.preferences import OwnTrainer, Preferences, change_preferences, load_preferences
from gui.engine.window_state import WindowState, load_window_state, save_window_state


def test_that_nothing_chosen_is_the_beginning(tmp_path):
    assert load_preferences(tmp_path / "preferences.toml") == Preferences()


def test_that_a_choice_is_kept_and_can_be_forgotten(tmp_path):
    file = tmp_path / "home" / "preferences.toml"
    assert change_preferences(file, trainer="/a b/✓", language="ko").language == "ko"
    assert load_preferences(file).trainer == "/a b/✓"
    assert change_preferences(file, language=None) == Preferences(trainer="/a b/✓")
    assert change_preferences(file, language=None).language is None


def test_that_what_others_wrote_into_the_file_stays(tmp_path):
    file = tmp_path / "preferences.toml"
    file.write_text('# mine\ntheme = "dark"\nlanguage = "en"\n\n[window]\nwidth = 5\n')
    change_preferences(file, language="ko", trainer="practice")
    text = file.read_text()
    assert text.startswith("# mine\n")
    assert 'theme = "dark"' in text
    assert "[window]\nwidth = 5" in text
    assert load_preferences(file) == Preferences(language="ko", trainer="practice")


@pytest.mark.parametrize(
    "content", [b"\xff", b"language = ", b"language = 5\ntrainer = ''", b"", b"[language]"]
)
def test_that_damage_is_as_if_nothing_had_been_chosen(tmp_path, content):
    file = tmp_path / "preferences.toml"
    file.write_bytes(content)
    assert load_preferences(file) == Preferences()
    assert change_preferences(file, language="ko").language == "ko"


def test_that_a_damaged_file_is_put_aside_when_it_is_replaced(tmp_path):
    file = tmp_path / "preferences.toml"
    file.write_text("language = ")
    change_preferences(file, language="ko")
    assert (tmp_path / "preferences.toml.damaged").read_text() == "language = "


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_that_any_path_comes_back_as_it_was(tmp_path_factory, text):
    file = tmp_path_factory.mktemp("home") / "preferences.toml"
    assert change_preferences(file, trainer=text).trainer == text


def test_that_every_kind_of_choice_comes_back(tmp_path):
    file = tmp_path / "preferences.toml"
    chosen = {
        "appearance": "dark",
        "text_percent": 125,
        "guard": "confirm",
        "notifications": False,
        "gpu": "GPU-1",
        "trainers": (OwnTrainer(path="/a"), OwnTrainer(path="/b", python="/b/python")),
    }
    assert change_preferences(file, **chosen) == Preferences(**chosen)
    change_preferences(file, language="ko")
    assert load_preferences(file) == Preferences(language="ko", **chosen)
    assert change_preferences(file, **dict.fromkeys([*chosen, "language"])) == Preferences()
    assert change_preferences(file, trainers=()) == Preferences()


@pytest.mark.parametrize(
    "line",
    [
        'appearance = "pink"',
        "appearance = 1",
        "text_percent = 7",
        'text_percent = "big"',
        "text_percent = nan",
        'guard = "hope"',
        "notifications = 1",
        "gpu = 0",
        'trainers = "x"',
        'trainers = [1, {python = "x"}, {path = 1}, {path = "a", colour = "b"}]',
        "trainers = {}",
        "language = [[[]]]",
    ],
)
def test_that_one_wrong_choice_does_not_harm_the_others(tmp_path, line):
    file = tmp_path / "preferences.toml"
    file.write_text(f'trainer = "practice"\n{line}\n')
    assert load_preferences(file) == Preferences(trainer="practice")


def test_that_of_several_trainers_the_readable_ones_are_kept(tmp_path):
    file = tmp_path / "preferences.toml"
    file.write_text('trainers = [1, {path = "a"}]\n[window]\n')
    assert load_preferences(file).trainers == (OwnTrainer(path="a"),)


def test_that_changes_at_the_same_time_are_all_kept(tmp_path):
    file = tmp_path / "preferences.toml"
    changes = [{"trainer": "a"}, {"gpu": "b"}, {"language": "c"}, {"guard": "warn"}, {"text_percent": 150}]
    threads = [threading.Thread(target=change_preferences, args=(file,), kwargs=each) for each in changes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert load_preferences(file) == Preferences(
        trainer="a", gpu="b", language="c", guard="warn", text_percent=150
    )


def test_that_a_program_that_hangs_with_the_file_holds_nobody_up(tmp_path, monkeypatch):
    file = tmp_path / "preferences.toml"
    monkeypatch.setattr("gui.engine.file_lock.PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr("gui.engine.file_lock.try_lock", lambda file: False)
    assert change_preferences(file, language="ko").language == "ko"


def test_that_a_home_that_is_a_file_is_said(tmp_path):
    (tmp_path / "home").touch()
    with pytest.raises(CannotWrite):
        change_preferences(tmp_path / "home" / "preferences.toml", language="ko")


def test_that_the_window_looks_as_it_was_left(tmp_path):
    home = Home(tmp_path / "new")
    assert load_window_state(home) == WindowState()
    left = WindowState(geometry="AdnQ", page="plan", step="data", plan="/a b/✓.toml")
    save_window_state(home, left)
    assert load_window_state(home) == left


@pytest.mark.parametrize("content", ["", "[]", "{", '{"page": 5, "geometry": []}', '{"more": 1}'])
def test_that_a_damaged_look_is_the_first_one(tmp_path, content):
    home = Home(tmp_path)
    home.window_state.write_text(content)
    assert load_window_state(home) == WindowState()
    home.window_state.write_text(json.dumps({"page": "runs", "step": 1}))
    assert load_window_state(home) == WindowState(page="runs")


def test_that_a_home_that_cannot_be_written_costs_only_the_look(tmp_path):
    (tmp_path / "home").touch()
    save_window_state(Home(tmp_path / "home"), WindowState(page="runs"))
