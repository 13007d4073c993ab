"""The cache as a whole: counted, emptied, and never more than that."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gui.engine.cache import clear_cache, folder_size
from gui.engine.errors import Cancelled, CannotWrite
from gui.engine.paths import Home
from gui.engine.texts import DOMAIN, known_languages


@pytest.fixture
def full(home: Home) -> Home:
    deep = home.cache / "trainers" / "deep"
    deep.mkdir(parents=True)
    (deep / "a.json").write_bytes(b"1" * 100)
    (home.cache / "b.json").write_bytes(b"2" * 23)
    home.runs.mkdir()
    (home.runs / "run").write_bytes(b"3" * 50)
    return home


def test_that_all_files_of_the_cache_are_counted(full):
    assert folder_size(full.cache) == 123


def test_that_a_cache_that_never_was_is_empty(home):
    assert folder_size(home.cache) == 0
    assert clear_cache(home) == 0


def test_that_clearing_empties_the_cache_and_nothing_else(full):
    assert clear_cache(full) == 123
    assert list(full.cache.iterdir()) == []
    assert (full.runs / "run").is_file()


def test_that_what_a_link_leads_to_is_neither_counted_nor_removed(full, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "dear").write_bytes(b"4" * 9999)
    try:
        (full.cache / "link").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    except OSError:
        pytest.skip("links cannot be made here")
    assert folder_size(full.cache) == 123
    clear_cache(full)
    assert list(full.cache.iterdir()) == []
    assert (tmp_path / "elsewhere" / "dear").is_file()


def test_that_counting_can_be_called_off(full):
    with pytest.raises(Cancelled):
        folder_size(full.cache, cancelled=lambda: True)


def test_that_what_cannot_be_removed_is_named_and_the_rest_is_gone(full, monkeypatch):
    unlink = Path.unlink

    def held(path: Path, missing_ok: bool = False) -> None:
        if path.name == "a.json":
            raise PermissionError(13, os.strerror(13), str(path))
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", held)
    with pytest.raises(CannotWrite, match=r"a\.json cannot be written"):
        clear_cache(full)
    assert not (full.cache / "b.json").exists()


def test_that_a_file_that_another_program_removed_first_is_no_trouble(full, monkeypatch):
    unlink = Path.unlink

    def twice(path: Path, missing_ok: bool = False) -> None:
        unlink(path, missing_ok)
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", twice)
    clear_cache(full)
    assert list(full.cache.iterdir()) == []


def test_that_english_and_all_compiled_catalogues_can_be_spoken(tmp_path):
    for code, name in (("ko", f"{DOMAIN}.mo"), ("de", f"{DOMAIN}.mo"), ("fr", f"{DOMAIN}.po")):
        folder = tmp_path / code / "LC_MESSAGES"
        folder.mkdir(parents=True)
        (folder / name).touch()
    assert known_languages(tmp_path) == ["en", "de", "ko"]
    assert known_languages()[0] == "en"
