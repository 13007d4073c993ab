"""``dataset`` mends images and captions only when it is told so, and undoes it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from dataset_maker import clean_dataset, picture, saved

from gui.cli import dataset_repairs, main
from gui.engine.paths import Home


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "mira"
    clean_dataset(folder, 3)
    (folder / "cut.png").write_bytes(saved(picture(9))[:4000])
    (folder / "cut.txt").write_bytes("mira_x, 비".encode("cp949"))
    return folder


def hashes(folder: Path) -> dict[str, str]:
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.iterdir()
        if file.is_file()
    }


def test_that_captions_are_only_changed_when_it_is_said(images: Path, home: Home, capsys) -> None:
    before = hashes(images)
    assert main.run(["dataset", str(images), "--replace", "mira_x", "ohwx"]) == 0
    out = capsys.readouterr().out
    assert "4 captions change" in out
    assert "+ ohwx" in out
    assert "--write" in out
    assert hashes(images) == before
    for words in (
        ["--to-utf8"],
        ["--add-tag", "night"],
        ["--remove-tag", "night"],
        ["--replace", "mira_x", "o"],
    ):
        assert main.run(["dataset", str(images), *words, "--write"]) == 0
    assert (images / "cut.txt").read_text("utf-8") == "o, 비"
    assert main.run(["dataset", str(images), "--restore"]) == 0
    assert "4 captions are back, 0 files" in capsys.readouterr().out
    assert hashes(images) == before


def test_that_bad_images_go_aside_with_their_captions_and_come_back(images: Path, home: Home, capsys) -> None:
    before = hashes(images)
    assert main.run(["dataset", str(images), "--resolution", "640", "--set-aside", "--processes", "1"]) == 1
    assert "2 files are in quarantine" in capsys.readouterr().out
    assert set(before) - set(hashes(images)) == {"cut.png", "cut.txt"}
    assert main.run(["dataset", str(images), "--set-aside", "--json"]) in (0, 1)
    (images / "cut.png").write_bytes(b"another")
    assert main.run(["dataset", str(images), "--restore"]) == 0
    assert "another file has its name: cut.png" in capsys.readouterr().out
    (images / "cut.png").unlink()
    main.run(["dataset", str(images), "--restore"])
    assert hashes(images) == before


def test_that_a_copy_is_made_and_the_plans_changes_are_named(
    images: Path, home: Home, tmp_path, capsys
) -> None:
    before = hashes(images)
    assert main.run(["dataset", str(images), "--copy-to", str(tmp_path / "clean"), "--shrink"]) == 0
    out = capsys.readouterr().out
    assert "3 images are in" in out
    assert "left out: cut.png" in out
    assert f"dataset.subsets.0.image_dir = {tmp_path / 'clean' / 'mira'}" in out
    assert hashes(images) == before


def test_that_what_cannot_be_done_is_one_line(images: Path, home: Home, capsys, monkeypatch) -> None:
    (images / "odd.png").write_bytes(saved(picture(3)))
    (images / "odd.txt").write_bytes(b"\x81\x8d\x90")
    assert main.run(["dataset", str(images), "--add-tag", "night"]) == 0
    assert "cannot be told: odd.txt" in capsys.readouterr().out
    assert main.run(["dataset", str(images), "--replace", "", "x"]) == 2
    assert main.run(["dataset", str(images), "--add-tag", " , ", "--write"]) == 2
    assert main.run(["dataset", str(images), "--copy-to", str(images)]) == 2
    assert main.run(["dataset", str(images), "--add-tag", "night", "--write"]) == 0
    (images / "clean_000.txt").write_text("changed")
    assert main.run(["dataset", str(images), "--restore"]) == 0
    assert "left alone: clean_000.txt" in capsys.readouterr().out

    def interrupted(*_words, **_more):
        raise KeyboardInterrupt

    monkeypatch.setattr(dataset_repairs, "copy_clean", interrupted)
    assert main.run(["dataset", str(images), "--copy-to", str(images.parent / "x")]) == 2


def test_that_captions_that_end_otherwise_are_left_alone(tmp_path: Path, home: Home, capsys) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / "a.png").write_bytes(saved(picture(1)))
    (folder / "a.caption").write_text("mira")
    assert main.run(["dataset", str(folder), "--add-tag", "night"]) == 0
    assert (folder / "a.caption").read_text() == "mira"


def test_that_caches_are_removed_after_they_were_listed_and_nothing_else_is(
    images: Path, home: Home, capsys
) -> None:
    for name in ("gone_0640x0640_sdxl.npz", "clean_000_flux_te.npz"):
        (images / name).write_bytes(b"x" * 2_000_000)
    (images / "notes.npz").write_bytes(b"mine")
    before = hashes(images)
    words = ["dataset", str(images), "--family", "sdxl", "--processes", "1", "--remove-caches"]
    assert main.run(words) == 1
    out = capsys.readouterr().out
    assert f"{images / 'gone_0640x0640_sdxl.npz'}: without an image" in out
    assert f"{images / 'clean_000_flux_te.npz'}: of another model family" in out
    assert "2 cache files with something wrong, 3.8 MiB" in out
    assert "--write does it" in out
    assert hashes(images) == before
    main.run([*words, "--write"])
    assert "2 cache files are removed." in capsys.readouterr().out
    assert set(before) - set(hashes(images)) == {"gone_0640x0640_sdxl.npz", "clean_000_flux_te.npz"}
    assert {name: before[name] for name in hashes(images)} == hashes(images)
    main.run([*words, "--write"])
    assert "0 cache files with something wrong" in capsys.readouterr().out
