"""A folder is listed as the trainer would read it."""

import os
from pathlib import Path

import pytest

from gui.engine.dataset.listing import list_folder, suffixes_read
from gui.engine.errors import CannotRead


def fill(folder: Path, *names: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_bytes(b"")
    return folder


@pytest.mark.skipif(os.name == "nt", reason="Windows does not tell .Jpg from .jpg")
def test_that_only_all_lower_or_all_upper_suffixes_are_read(tmp_path: Path) -> None:
    folder = fill(tmp_path / "미라", "b.PNG", "a.jpg", "c.Jpg", "d.gif", "e.txt", "f.webp", "g.heic")
    listing = list_folder(folder)
    assert listing.images == ("a.jpg", "b.PNG", "f.webp")
    assert listing.ignored == ("c.Jpg", "d.gif", "g.heic")


def test_that_sub_folders_are_named_and_not_looked_into(tmp_path: Path) -> None:
    fill(tmp_path / "10_mira", "x.png")
    listing = list_folder(tmp_path)
    assert (listing.images, listing.folders) == ((), ("10_mira",))


@pytest.mark.parametrize("extension", [".txt", "txt"])
def test_that_captions_are_counted_by_their_extension(tmp_path: Path, extension: str) -> None:
    folder = fill(tmp_path / "x", "a.png", "a.txt", "b.png", "b.caption", "c.png")
    listing = list_folder(folder, extension)
    assert listing.captioned == 1
    assert listing.other_captions == {".caption": 1}


def test_that_avif_and_jxl_are_read_where_the_trainer_can(tmp_path: Path) -> None:
    folder = fill(tmp_path / "x", "a.avif", "b.JXL")
    assert list_folder(folder).images == ()
    assert list_folder(folder, suffixes=suffixes_read(avif=True, jxl=True)).images == ("a.avif", "b.JXL")


def test_that_a_folder_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotRead) as caught:
        list_folder(tmp_path / "nowhere")
    assert caught.value.path == tmp_path / "nowhere"
