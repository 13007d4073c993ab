"""The look is read without judging all preferences, and says the same as they do."""

from __future__ import annotations

from pathlib import Path

import pytest

from gui.engine.look import Look, read_look
from gui.engine.preferences import load_preferences


@pytest.mark.parametrize(
    "text",
    [
        "",
        'appearance = "dark"\ntext_percent = 150\nlanguage = "ko"\n',
        'appearance = "pink"\ntext_percent = 150\n',
        "appearance = 3\ntext_percent = 110\nlanguage = 7\n",
        'appearance = ["dark"]\ntext_percent = true\nlanguage = ""\n',
        "appearance = [broken",
        '\ufeffappearance = "light"\r\n',
    ],
)
def test_that_the_look_is_what_the_preferences_say(tmp_path: Path, text: str) -> None:
    path = tmp_path / "preferences.toml"
    path.write_bytes(text.encode())
    look, whole = read_look(path), load_preferences(path)
    assert look == Look(whole.appearance, whole.text_percent, whole.language)


def test_that_without_a_file_nothing_was_chosen(tmp_path: Path) -> None:
    assert read_look(tmp_path / "none.toml") == Look()
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    assert read_look(tmp_path / "bytes.toml") == Look()
