"""Small pictures are made in a process of its own, and no file can harm who asks for them."""

from __future__ import annotations

import io
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from dataset_maker import huge_png, picture, saved
from PIL import Image, ImageFile

from gui.engine.dataset.small_picture import (
    PictureMaker,
    PictureWish,
    SmallPicture,
    prepare,
    small_picture,
    work,
)
from gui.engine.errors import ScanFailed


@pytest.fixture
def maker() -> Iterator[PictureMaker]:
    maker = PictureMaker()
    yield maker
    maker.close()


def _image(made: SmallPicture | None) -> Image.Image:
    assert made is not None
    return Image.frombytes("RGB", made.size, made.pixels)


def _half_red(folder: Path, name: str = "wide.png") -> Path:
    """Write a picture of 900 × 300, red at the left third, green in the middle, blue at the right."""
    image = Image.new("RGB", (900, 300), "red")
    image.paste("lime", (300, 0, 600, 300))
    image.paste("blue", (600, 0, 900, 300))
    image.save(folder / name)
    return folder / name


def test_that_a_filling_picture_shows_the_middle(tmp_path: Path, maker: PictureMaker) -> None:
    made = _image(maker.make(PictureWish(_half_red(tmp_path), (60, 60))))
    assert made.size == (60, 60)
    assert {made.getpixel(place) for place in ((3, 30), (30, 3), (56, 56))} == {(0, 255, 0)}


def test_that_a_whole_picture_lies_within_the_box(tmp_path: Path, maker: PictureMaker) -> None:
    made = _image(maker.make(PictureWish(_half_red(tmp_path), (90, 90), filling=False)))
    assert made.size == (90, 30)
    assert [made.getpixel((x, 15)) for x in (5, 45, 85)] == [(255, 0, 0), (0, 255, 0), (0, 0, 255)]


def test_that_a_whole_picture_is_not_enlarged(tmp_path: Path, maker: PictureMaker) -> None:
    (tmp_path / "small.png").write_bytes(saved(picture(1, (40, 30))))
    made = maker.make(PictureWish(tmp_path / "small.png", (400, 400), filling=False))
    assert made is not None and made.size == (40, 30)


def test_that_a_turned_photo_lies_as_the_trainer_sees_it(tmp_path: Path, maker: PictureMaker) -> None:
    image = Image.new("RGB", (60, 30))
    exif = image.getexif()
    exif[0x0112] = 6
    image.save(tmp_path / "turned.jpg", exif=exif)
    made = maker.make(PictureWish(tmp_path / "turned.jpg", (60, 60), filling=False))
    assert made is not None and made.size == (60, 30)


def test_that_of_a_cut_image_there_is_what_is_there(tmp_path: Path, maker: PictureMaker) -> None:
    data = saved(Image.effect_noise((600, 600), 90).convert("RGB"), ".jpg")
    (tmp_path / "cut.jpg").write_bytes(data[: len(data) // 2])
    made = _image(maker.make(PictureWish(tmp_path / "cut.jpg", (60, 60))))
    upper, lower = (made.crop(box).convert("L").getextrema() for box in ((0, 0, 60, 20), (0, 45, 60, 60)))
    assert upper[1] - upper[0] > 15 and lower[1] - lower[0] < 10


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("bomb.png", huge_png(30_000, 30_000)),
        ("empty.png", b""),
        ("page.jpg", b"<!DOCTYPE html><html>not found</html>"),
        ("gone.png", None),
    ],
)
def test_that_what_is_no_picture_has_none_and_the_next_one_has(
    tmp_path: Path, maker: PictureMaker, name: str, data: bytes | None
) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    assert maker.make(PictureWish(tmp_path / name, (60, 60))) is None
    assert maker.make(PictureWish(_half_red(tmp_path), (60, 60))) is not None


def test_that_transparency_is_thrown_away_as_the_trainer_does(tmp_path: Path) -> None:
    Image.new("RGBA", (30, 30), (200, 10, 20, 0)).save(tmp_path / "clear.png")
    made = _image(small_picture(PictureWish(tmp_path / "clear.png", (10, 10))))
    assert made.getpixel((5, 5)) == (200, 10, 20)


def test_that_the_process_answers_each_wish_with_its_size_and_its_bytes(tmp_path: Path) -> None:
    prepare()
    wishes = [
        PictureWish(_half_red(tmp_path), (60, 60)),
        PictureWish(tmp_path / "gone.png", (60, 60)),
        PictureWish(tmp_path, (60, 60)),
        PictureWish(tmp_path / "wide.png", (90, 90), filling=False),
    ]
    (tmp_path / "bomb.png").write_bytes(huge_png(30_000, 30_000))
    wishes.append(PictureWish(tmp_path / "bomb.png", (60, 60)))
    answers = io.BytesIO()
    try:
        work([wish.line() for wish in wishes], answers)
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = False
    nothing = b"[0, 0]\n"
    first = answers.getvalue()
    assert first.startswith(b"[60, 60]\n") and first.endswith(nothing)
    assert len(first) == 9 + 60 * 60 * 3 + 3 * len(nothing) + 9 + 90 * 30 * 3


def test_that_any_name_survives_the_way(tmp_path: Path, maker: PictureMaker) -> None:
    name = "with\nline, “quotes” and \udcff.png"
    data = io.BytesIO()
    Image.new("RGB", (20, 20)).save(data, "PNG")
    (tmp_path / name).write_bytes(data.getvalue())
    assert maker.make(PictureWish(tmp_path / name, (10, 10))) is not None


def _program(folder: Path, body: str) -> list[str]:
    """Write a process for pictures that does something else with files of certain names."""
    program = folder / "process.py"
    program.write_text(
        "import os, sys, time\n"
        "from gui.engine.dataset import small_picture as own\n"
        "from gui.engine.dataset.worker import serve\n"
        "make = own.small_picture\n"
        f"def other(wish):\n{textwrap.indent(textwrap.dedent(body), '    ')}\n    return make(wish)\n"
        "own.small_picture = other\n"
        "sys.exit(serve(own.prepare, own.work))\n"
    )
    return [sys.executable, str(program)]


def test_that_a_file_that_kills_its_process_costs_only_its_own_picture(tmp_path: Path) -> None:
    words = _program(tmp_path, "if wish.path.name == 'deadly.png':\n    os._exit(9)")
    maker = PictureMaker(words)
    try:
        assert maker.make(PictureWish(_half_red(tmp_path, "deadly.png"), (60, 60))) is None
        assert maker.make(PictureWish(_half_red(tmp_path), (60, 60))) is not None
    finally:
        maker.close()


def test_that_a_file_that_never_ends_is_given_up(tmp_path: Path) -> None:
    words = _program(tmp_path, "if wish.path.name == 'endless.png':\n    time.sleep(600)")
    maker = PictureMaker(words, stuck_seconds=3.0)
    try:
        assert maker.make(PictureWish(_half_red(tmp_path, "endless.png"), (60, 60))) is None
        assert maker.make(PictureWish(_half_red(tmp_path), (60, 60))) is not None
    finally:
        maker.close()


def test_that_it_is_said_when_no_process_can_be_started(tmp_path: Path) -> None:
    wish = PictureWish(_half_red(tmp_path), (60, 60))
    for words in ([str(tmp_path / "nothing")], [sys.executable, "-c", "print('hello')"]):
        with pytest.raises(ScanFailed):
            PictureMaker(words).make(wish)


def test_that_nothing_is_started_once_it_is_closed(tmp_path: Path) -> None:
    maker = PictureMaker([str(tmp_path / "nothing")])
    maker.close()
    assert maker.make(PictureWish(_half_red(tmp_path), (60, 60))) is None
