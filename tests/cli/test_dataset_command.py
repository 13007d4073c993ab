"""``dataset``: what it prints, and how it leaves."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from dataset_maker import clean_dataset, faulty_dataset, picture, saved

from gui.cli import dataset, main, progress
from gui.engine.dataset.doctor import Doctor
from gui.engine.dataset.scan import ScanProgress
from gui.engine.paths import Home

PLAN = """
schema = 1
family = "sd15"
[arguments]
max_train_steps = 500
[dataset]
resolution = 512
[[dataset.subsets]]
image_dir = "images"
num_repeats = 10
caption_extension = ".txt"
"""


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.png").write_bytes(saved(picture(number, (512, 512))))
        (folder / f"{number}.txt").write_text(f"mira, picture {number}")
    return folder


def test_that_a_clean_folder_leaves_with_0(
    images: Path, home: Home, capsys: pytest.CaptureFixture[str], no_leftovers
) -> None:
    words = ("sits in the rain", "reads", "with a red hat, smiling", "from behind, night", "close-up")
    for number in range(24):
        (images / f"{number}.png").write_bytes(saved(picture(number, (512, 512))))
        (images / f"{number}.txt").write_text(f"mira {words[number % 5]} {number}")
    assert main.run(["dataset", str(images), "--resolution", "512"]) == 0
    out, err = capsys.readouterr()
    assert f"{images}: 24 images × 1" in out
    assert "512×512" in out
    assert err == ""


def test_that_a_fault_leaves_with_1_and_is_named(
    images: Path, home: Home, capsys: pytest.CaptureFixture[str], no_leftovers
) -> None:
    (images / "3.png").write_bytes(saved(picture(3))[:2000])
    (images / "4\n.jpg").write_bytes(b"")
    assert main.run(["dataset", str(images), "--family", "sd15", "--processes", "1"]) == 1
    out = capsys.readouterr().out
    assert "stop: 1 image is cut off: 3.png (img-decode)" in out
    assert "\N{REPLACEMENT CHARACTER}" in out


def test_that_json_is_one_document_of_the_report(
    images: Path, tmp_path: Path, home: Home, capsys: pytest.CaptureFixture[str], no_leftovers
) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    (images / "twin.png").write_bytes((images / "1.png").read_bytes())
    assert main.run(["dataset", str(tmp_path / "plan.toml"), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["schema"] == 1
    assert report["subsets"][0]["num_repeats"] == 10
    assert [image["name"] for image in report["alike"][0]["images"]] == ["1.png", "twin.png"]
    assert "img-dup" in {finding["id"] for finding in report["findings"]}
    main.run(["dataset", str(images)])
    assert "the same: 1.png, twin.png" in capsys.readouterr().out


def test_that_a_plans_family_and_size_can_be_others(
    images: Path, tmp_path: Path, home: Home, capsys: pytest.CaptureFixture[str], no_leftovers
) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    words = ["--family", "sdxl", "--resolution", "1024x768", "--json"]
    assert main.run(["dataset", str(tmp_path / "plan.toml"), *words]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["buckets"][0]["resolution"] == [1024, 768]
    assert "img-enlarged" in {finding["id"] for finding in report["findings"]}


def test_that_a_parent_of_folders_is_taken_as_it_is(
    tmp_path: Path, home: Home, capsys: pytest.CaptureFixture[str], no_leftovers
) -> None:
    faulty = tmp_path / "set" / "7_mira"
    faulty.mkdir(parents=True)
    (faulty / "a.png").write_bytes(saved(picture(1)))
    clean_dataset(tmp_path / "set" / "other words", 1)
    main.run(["dataset", str(tmp_path / "set")])
    out = capsys.readouterr().out
    assert f"{faulty}: 1 image × 7" in out
    assert "other words: 1 image × 1" in out


def test_that_a_folder_without_images_is_told(
    tmp_path: Path, home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    assert main.run(["dataset", str(tmp_path / "empty")]) == 2
    assert "holds no images" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--resolution", "wide"], "is no size"),
        (["--resolution", "0x5"], "is no size"),
        (["--processes", "0"], "above 0"),
        (["--family", "nonsense"], "no model family"),
    ],
)
def test_that_wrong_words_are_one_line(
    images: Path, home: Home, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main.run(["dataset", str(images), *words]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert len(err.splitlines()) == 1


def test_that_progress_is_drawn_on_a_terminal_only(
    images: Path,
    home: Home,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    no_leftovers,
) -> None:
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(progress, "REDRAW_SECONDS", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    main.run(["dataset", str(images)])
    drawn = capsys.readouterr().err
    assert "3 of 3 images" in drawn
    assert drawn.endswith("\r")


def test_that_pace_and_time_left_are_told() -> None:
    assert (
        dataset.progress_words(ScanProgress(5, 10, 2.0, 90.0))
        == "5 of 10 images · 2 a second, about 2 min left"
    )


def test_that_ctrl_c_is_one_line(
    images: Path, home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_doctor: Doctor):
        raise KeyboardInterrupt

    monkeypatch.setattr(Doctor, "batches", interrupt)
    assert main.run(["dataset", str(images)]) == 2
    assert capsys.readouterr().err == "kohya-preflight: Cancelled.\n"


def test_that_a_folder_of_every_fault_is_told_in_words(
    tmp_path: Path, home: Home, capsys: pytest.CaptureFixture[str], no_leftovers
) -> None:
    expected = faulty_dataset(tmp_path / "faulty")
    assert main.run(["dataset", str(tmp_path / "faulty"), "--resolution", "640"]) == 1
    out = capsys.readouterr().out
    assert [identity for identity in expected if f"({identity})" not in out] == []
