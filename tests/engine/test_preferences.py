"""Choices survive damage, strangers' keys and each other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.preferences import Preferences, change_preferences, load_preferences


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
