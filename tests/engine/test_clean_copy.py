"""A clean copy holds what can be mended, leaves out what cannot, and never touches the originals."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from dataset_maker import SIDE, clean_dataset, faulty_dataset, picture, saved
from PIL import Image

from gui.engine.dataset import clean_copy
from gui.engine.dataset.buckets import BucketSettings
from gui.engine.dataset.clean_copy import CleanCopy, copy_clean
from gui.engine.dataset.copy_list import LIST, CopiedFile, CopyHeader, CopyList, target_names
from gui.engine.dataset.doctor import Doctor
from gui.engine.dataset.spec import DatasetSpec, SubsetSpec
from gui.engine.errors import Cancelled, CannotWrite

SETTINGS = BucketSettings((SIDE, SIDE), max_bucket_reso=2048)


def spec_of(*folders: Path, **more) -> DatasetSpec:
    more = {"settings": SETTINGS, "caption_extension": ".txt", **more}
    return DatasetSpec(
        tuple(
            SubsetSpec(f"dataset.subsets.{at}", "dataset", folder, **more)
            for at, folder in enumerate(folders)
        )
    )


def hashes(folder: Path) -> dict[str, str]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def problems(folder: Path) -> set[str]:
    doctor = Doctor(spec_of(folder), None, 2)
    try:
        for _batch in doctor.batches():
            pass
        return {problem.key for problem in doctor.report().subsets[0].problems}
    finally:
        doctor.close()


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory):
    """A copy of a dataset with one image of each fault."""
    place = tmp_path_factory.mktemp("copies")
    source = place / "mira"
    faulty_dataset(source)
    (source / "holed.txt").write_bytes("mira, 비".encode("cp949"))
    (source / "stem.txt").write_bytes(b"\xef\xbb\xbfmira\x07, coat")
    (source / "grey.txt").write_bytes(b"")
    before = hashes(source)
    copy = copy_clean(spec_of(source), place / "clean")
    assert hashes(source) == before
    return copy, source, place / "clean" / "mira"


def test_that_what_cannot_be_read_is_left_out_and_named(copied) -> None:
    copy, source, target = copied
    left_out = {"cut.jpg", "empty.png", "page.jpg", "photo.jpeg", "noise.png", "bomb.png"}
    assert {name for name, _key in copy.left_out} == left_out
    assert copy.copied == len(list(source.glob("*.*g"))) + len(list(source.glob("*.webp"))) - len(left_out)
    assert copy.changes == {"dataset.subsets.0.image_dir": str(target)}


def test_that_what_can_be_mended_is(copied) -> None:
    _copy, _source, target = copied
    left = {
        "img-small",
        "img-ratio",
        "img-enlarged",
        "img-grey",
        "img-jpeg",
        "img-blur",
        "img-near",
        "img-dup",
    }
    assert problems(target) <= left | {"img-large", "img-cut"}
    with Image.open(target / "turned.png") as turned:
        assert turned.mode == "RGB"
        assert not turned.getexif()
    with Image.open(target / "holed.png") as holed:
        assert holed.getpixel((2, 2)) == (255, 255, 255)
    with Image.open(target / "sixteen.png") as sixteen:
        assert 20 < np.asarray(sixteen).mean() < 235
    assert (target / "renamed.png").is_file()


def test_that_captions_become_plain_utf8_and_are_not_shared(copied) -> None:
    _copy, _source, target = copied
    assert (target / "holed.txt").read_bytes() == "mira, 비".encode()
    assert (target / "stem.txt").read_bytes() == b"mira, coat"
    assert (target / "stem_2.txt").read_bytes() == b"mira, coat"
    assert not (target / "grey.txt").exists()


def test_that_good_images_are_copied_to_the_byte(tmp_path: Path) -> None:
    source = tmp_path / "mira"
    clean_dataset(source, 6)
    copy = copy_clean(spec_of(source), tmp_path / "clean")
    assert (copy.copied, copy.mended, copy.left_out) == (6, 0, ())
    for file in source.iterdir():
        assert (tmp_path / "clean" / "mira" / file.name).read_bytes() == file.read_bytes()


def test_that_images_are_shrunk_to_what_their_bucket_needs(tmp_path: Path) -> None:
    source = tmp_path / "mira"
    source.mkdir()
    (source / "large.png").write_bytes(saved(picture(1, (1600, 1600))))
    (source / "small.png").write_bytes(saved(picture(2, (500, 500))))
    copy_clean(spec_of(source), tmp_path / "clean", shrink=True)
    sizes = {}
    for file in (tmp_path / "clean" / "mira").glob("*.png"):
        with Image.open(file) as image:
            sizes[file.name] = image.size
    assert sizes == {"large.png": (SIDE, SIDE), "small.png": (500, 500)}


def test_that_masks_come_along_and_keep_fitting(tmp_path: Path) -> None:
    source, masks = tmp_path / "mira", tmp_path / "masks"
    clean_dataset(source, 3)
    masks.mkdir()
    for file in source.glob("*.png"):
        (masks / file.name).write_bytes(saved(Image.new("L", (SIDE, SIDE), 9)))
    (masks / "other.png").write_bytes(saved(Image.new("L", (8, 8))))
    copy = copy_clean(spec_of(source, conditioning_data_dir=masks), tmp_path / "clean", shrink=True)
    place = Path(copy.changes["dataset.subsets.0.conditioning_data_dir"])
    assert {file.name for file in place.iterdir()} == {"clean_000.png"}


def test_that_alpha_masks_keep_their_transparency(tmp_path: Path) -> None:
    source = tmp_path / "mira"
    source.mkdir()
    clear = picture(1).convert("RGBA")
    clear.putalpha(100)
    (source / "a.png").write_bytes(saved(clear))
    copy_clean(spec_of(source, alpha_mask=True), tmp_path / "clean")
    assert (tmp_path / "clean" / "mira" / "a.png").read_bytes() == (source / "a.png").read_bytes()


def test_that_a_copy_goes_on_where_it_was_called_off(tmp_path: Path, monkeypatch) -> None:
    source = tmp_path / "mira"
    clean_dataset(source, 8)
    spec, target = spec_of(source), tmp_path / "clean"
    done: list[int] = []
    with pytest.raises(Cancelled):
        copy_clean(
            spec, target, told=lambda count, _total: done.append(count), cancelled=lambda: len(done) >= 3
        )
    listed = target / "mira" / LIST
    listed.write_text(listed.read_text() + '{"name": "cut o')  # as a kill leaves it
    made: list[str] = []
    copy_one = clean_copy._copy

    def counted(folder, name: str, stem: str):
        made.append(name)
        return copy_one(folder, name, stem)

    monkeypatch.setattr(clean_copy, "_copy", counted)
    assert copy_clean(spec, target).copied == 8
    assert 0 < len(made) <= 5
    (source / "clean_000.png").write_bytes(saved(picture(5)))
    made.clear()
    assert copy_clean(spec, target).copied == 8
    assert made == ["clean_000.png"]


def test_that_a_copy_lies_apart_and_replaces_nothing(tmp_path: Path) -> None:
    source = tmp_path / "data" / "mira"
    clean_dataset(source, 2)
    for place in (source, source / "clean", tmp_path / "data"):
        with pytest.raises(CannotWrite):
            copy_clean(spec_of(source), place)
    target = tmp_path / "clean"
    (target / "mira").mkdir(parents=True)
    (target / "mira" / "own.png").write_bytes(b"x")
    with pytest.raises(CannotWrite):
        copy_clean(spec_of(source), target)
    (target / "mira" / "own.png").unlink()
    copy_clean(spec_of(source), target)
    with pytest.raises(CannotWrite):
        copy_clean(spec_of(source), target, shrink=True)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(CannotWrite):
        copy_clean(spec_of(source), tmp_path / "file")


def test_that_a_full_disk_is_told_before_and_while_it_happens(tmp_path: Path, monkeypatch) -> None:
    source = tmp_path / "mira"
    clean_dataset(source, 3)
    usage = clean_copy.shutil.disk_usage(tmp_path)
    monkeypatch.setattr(clean_copy.shutil, "disk_usage", lambda _place: usage._replace(free=1000))
    with pytest.raises(CannotWrite, match="free"):
        copy_clean(spec_of(source), tmp_path / "clean")
    monkeypatch.undo()

    def full(path: Path, *_words, **_more) -> None:
        raise CannotWrite(path, os.strerror(28))

    monkeypatch.setattr(clean_copy, "write_atomically", full)
    with pytest.raises(CannotWrite):
        copy_clean(spec_of(source), tmp_path / "clean")
    monkeypatch.undo()
    assert copy_clean(spec_of(source), tmp_path / "clean").copied == 3


def test_that_two_folders_of_one_name_are_kept_apart(tmp_path: Path) -> None:
    one, other = tmp_path / "a" / "mira", tmp_path / "b" / "mira"
    clean_dataset(one, 1)
    clean_dataset(other, 1, first=50)
    spec = spec_of(one, other)
    again = DatasetSpec((*spec.subsets, replace(spec.subsets[0], target="dataset.subsets.2")))
    copy = copy_clean(again, tmp_path / "clean")
    assert isinstance(copy, CleanCopy)
    assert [Path(place).name for place in copy.changes.values()] == ["mira", "mira_2", "mira"]


def test_that_an_image_that_goes_away_is_left_out(tmp_path: Path, monkeypatch) -> None:
    source = tmp_path / "mira"
    clean_dataset(source, 2)
    look = clean_copy.look_at

    def gone(path: Path):
        path.unlink() if path.name == "clean_000.png" else None
        return look(path)

    monkeypatch.setattr(clean_copy, "look_at", gone)
    assert copy_clean(spec_of(source), tmp_path / "clean").left_out == (("clean_000.png", "img-gone"),)


def test_that_no_two_copies_have_one_name() -> None:
    assert target_names(["a.png", "a.jpg", "a_2.png", "A.webp", "b.png"]) == ["a", "a_3", "a_2", "A_4", "b"]


def test_that_a_list_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch) -> None:
    header = CopyHeader(source="/a", shrink=False, wanted="")
    with CopyList(tmp_path / "a", header) as listed:
        listed.add(CopiedFile(name="a.png", size_bytes=1, changed=1))
    (tmp_path / "a" / LIST).write_text((tmp_path / "a" / LIST).read_text() + '{"odd": 1}\n')
    with CopyList(tmp_path / "a", header) as listed:
        assert listed.still_true(tmp_path) == {}
        listed._file.close()
        listed._file = FullFile()
        with pytest.raises(CannotWrite):
            listed.add(CopiedFile(name="b.png", size_bytes=1, changed=1))


class FullFile:
    def write(self, _text: str) -> None:
        raise OSError(28, os.strerror(28))

    def close(self) -> None:
        pass
