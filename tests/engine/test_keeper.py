"""The last clean file outlives the trainer's own deleting, and nothing of the user's is lost for it."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from gui.engine.errors import CannotWrite
from gui.engine.runs.keeper import JOURNAL, CleanKeeper, KeptFile, kept_folder


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


@pytest.fixture
def folder(out: Path) -> Path:
    return kept_folder(out, "20261130-003837-mira")


def no_links(_source: Path, _target: Path) -> None:
    raise OSError(errno.EPERM, "no links here")


def saved(out: Path, step: int, content: str = "") -> Path:
    path = out / f"mira-step{step:08}.safetensors"
    path.write_text(content or f"weights of step {step}")
    return path


def held(keeper: CleanKeeper) -> list[str]:
    return [entry.kept.name for entry in keeper.files]


def in_folder(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {JOURNAL}


@pytest.mark.parametrize("link", [os.link, no_links])
def test_that_the_last_clean_file_outlives_the_trainer_s_deleting(
    out: Path, folder: Path, link: object
) -> None:
    keeper = CleanKeeper(folder, link)  # type: ignore[arg-type]
    for step in (10, 20):
        path = saved(out, step)
        keeper.hold(path)
        keeper.consider(path, "clean")
    for step, judgement in ((30, "grown"), (40, "nonfinite"), (50, "after-nonfinite")):
        keeper.hold(saved(out, step))
        assert keeper.consider(out / f"mira-step{step:08}.safetensors", judgement) is None  # type: ignore[arg-type]
        (out / f"mira-step{step - 20:08}.safetensors").unlink()
    last = keeper.last_clean
    assert last is not None
    assert last.kept.read_text() == "weights of step 20"
    assert keeper.release() == (last,)
    assert in_folder(folder) == {"mira-step00000020.safetensors"}
    assert last.how == ("link" if link is os.link else "copy")


def test_that_a_file_found_bad_only_later_gives_way_to_the_one_before(out: Path, folder: Path) -> None:
    keeper = CleanKeeper(folder)
    for step in (10, 20, 30):
        keeper.consider(saved(out, step), "clean")
    assert held(keeper) == ["mira-step00000020.safetensors", "mira-step00000030.safetensors"]
    (out / "mira-step00000020.safetensors").unlink()
    keeper.consider(out / "mira-step00000030.safetensors", "after-nonfinite")
    assert held(keeper) == ["mira-step00000020.safetensors"]


def test_that_a_file_is_held_before_it_is_judged(out: Path, folder: Path) -> None:
    keeper = CleanKeeper(folder)
    path = saved(out, 10)
    entry = keeper.hold(path)
    assert entry is not None
    assert keeper.hold(path) == entry
    path.unlink()
    assert entry.kept.read_text() == "weights of step 10"
    clean = keeper.consider(path, "clean")
    assert clean is not None
    assert (clean.kept, clean.judgement) == (entry.kept, "clean")


def test_that_unchecked_files_are_kept_beside_clean_ones(out: Path, folder: Path) -> None:
    keeper = CleanKeeper(folder)
    keeper.consider(saved(out, 10), "clean")
    for step in (20, 30, 40):
        keeper.consider(saved(out, step), "not-checked")
    assert held(keeper) == [f"mira-step000000{step}.safetensors" for step in (10, 30, 40)]


def test_that_everything_is_let_go_when_all_originals_are_in_place(out: Path, folder: Path) -> None:
    keeper = CleanKeeper(folder)
    for step in (10, 20):
        keeper.consider(saved(out, step), "clean")
    assert keeper.release() == ()
    assert not folder.parent.exists()
    assert {path.name for path in out.iterdir()} == {
        f"mira-step000000{step}.safetensors" for step in (10, 20)
    }


def test_that_only_the_newest_stays_when_the_run_is_over(out: Path, folder: Path) -> None:
    keeper = CleanKeeper(folder)
    for step in (10, 20):
        path = saved(out, step)
        keeper.consider(path, "clean")
        path.unlink()
    [entry] = keeper.release()
    assert entry.original.path.name == "mira-step00000020.safetensors"


@pytest.mark.parametrize("link", [os.link, no_links])
def test_that_a_file_written_over_is_held_anew(out: Path, folder: Path, link: object) -> None:
    keeper = CleanKeeper(folder, link)  # type: ignore[arg-type]
    keeper.consider(saved(out, 10), "clean")
    again = saved(out, 10, "other weights of step 10")
    entry = keeper.hold(again)
    assert entry is not None
    assert entry.kept.read_text() == "other weights of step 10"
    if link is no_links:  # the copy of the clean one is still good
        assert keeper.last_clean is not None
        assert keeper.last_clean.kept.read_text() == "weights of step 10"
        assert entry.kept.name == "mira-step00000010 (2).safetensors"
    else:
        assert len(keeper.files) == 1


def test_that_what_was_never_judged_makes_way_for_what_is_written_over_it(out: Path, folder: Path) -> None:
    keeper = CleanKeeper(folder, no_links)
    keeper.hold(saved(out, 10))
    keeper.hold(saved(out, 10, "other weights of step 10"))
    assert held(keeper) == ["mira-step00000010.safetensors"]
    assert keeper.files[0].kept.read_text() == "other weights of step 10"


def test_that_a_foreign_file_of_that_name_is_never_written_over(out: Path, folder: Path) -> None:
    folder.mkdir(parents=True)
    path = saved(out, 10)
    (folder / path.name).write_text("the user's")
    for link in (os.link, no_links):
        entry = CleanKeeper(folder, link).hold(path)
        assert entry is not None
        assert entry.kept.read_text() == "weights of step 10"
    assert (folder / path.name).read_text() == "the user's"


def test_that_a_later_supervisor_goes_on_with_what_is_kept(out: Path, folder: Path) -> None:
    first = CleanKeeper(folder)
    first.consider(saved(out, 10), "clean")
    second = CleanKeeper(folder)
    assert second.files == first.files
    for entry in first.files:
        entry.kept.unlink()
    assert CleanKeeper(folder).files == ()


def test_that_a_journal_cannot_make_anything_else_be_deleted(out: Path, folder: Path) -> None:
    keeper = CleanKeeper(folder)
    keeper.consider(saved(out, 10), "clean")
    precious = out / "precious.txt"
    precious.write_text("the user's")
    journal = json.loads((folder / JOURNAL).read_text())
    journal["files"][0]["kept"] = str(precious)
    (folder / JOURNAL).write_text(json.dumps(journal))
    assert CleanKeeper(folder).files == ()
    (folder / JOURNAL).write_text("{")
    assert CleanKeeper(folder).files == ()


def test_that_folders_and_missing_files_are_not_kept(out: Path, folder: Path) -> None:
    keeper = CleanKeeper(folder)
    assert keeper.hold(out) is None
    assert keeper.consider(out / "gone.safetensors", "clean") is None
    assert keeper.consider(out / "gone.safetensors", "grown") is None


def test_that_a_file_that_vanishes_while_it_is_copied_is_no_error(
    out: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(out, 10)

    def vanish(*_words: object) -> None:
        path.unlink(missing_ok=True)
        raise FileNotFoundError(path)

    assert CleanKeeper(folder, vanish).hold(path) is None
    assert in_folder(folder) == set()


class Usage(NamedTuple):
    free: int


def test_that_a_copy_never_takes_the_room_of_the_next_save(
    out: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(out, 10)
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: Usage(path.stat().st_size))
    with pytest.raises(CannotWrite, match="no room"):
        CleanKeeper(folder, no_links).hold(path)
    assert in_folder(folder) == set()


def test_that_a_disk_that_fills_during_the_copy_leaves_nothing_behind(
    out: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(out, 10)

    def full(*_words: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(CannotWrite, match="No space left"):
        CleanKeeper(folder, no_links).hold(path)
    assert in_folder(folder) == set()


def test_that_a_journal_without_room_does_not_stop_the_keeping(
    out: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import gui.engine.runs.keeper as module

    def full(path: Path, _data: object) -> None:
        raise CannotWrite(path, "No space left on device")

    monkeypatch.setattr(module, "write_atomically", full)
    keeper = CleanKeeper(folder)
    entry = keeper.consider(saved(out, 10), "clean")
    assert isinstance(entry, KeptFile)
    assert entry.kept.exists()
