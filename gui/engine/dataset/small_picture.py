"""Small pictures of images, made in a process of its own: a broken file or a bomb harms nobody there.

One line in is one wish, one line out says how large the answer is, and its bytes follow. Pictures are as
the trainer sees them: EXIF rotation is not applied, transparency is thrown away.
"""

from __future__ import annotations

import io
import json
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from gui.engine.dataset.buckets import Size
from gui.engine.dataset.helper_process import HelperProcess
from gui.engine.dataset.image_facts import MOST_PIXELS
from gui.engine.errors import ScanFailed
from gui.engine.own_program import own_words

if TYPE_CHECKING:
    from PIL import Image

COMMAND = "make-small-pictures"
"""How this program is told to be such a process; nobody calls it by hand."""

STUCK_SECONDS = 20.0
"""A file that takes longer has no picture."""

CHANNELS = 3


class PictureWish(NamedTuple):
    """A picture that is wanted.

    Attributes:
        path: The image.
        box: Its size in pixels.
        filling: Whether it fills the box, its middle cut out; else it is whole, within the box.
    """

    path: Path
    box: Size
    filling: bool = True

    def line(self) -> bytes:
        """Return the wish as it is sent; names that are no text survive as escapes."""
        return json.dumps([os.fspath(self.path), self.box, self.filling]).encode("ascii") + b"\n"

    @classmethod
    def read(cls, line: bytes) -> PictureWish:
        """Return the wish of a line."""
        path, (width, height), filling = json.loads(line)
        return cls(Path(path), (width, height), filling)


class SmallPicture(NamedTuple):
    """A picture.

    Attributes:
        size: Width and height in pixels.
        pixels: Red, green and blue, a byte each, row by row without gaps.
    """

    size: Size
    pixels: bytes


class PictureMaker:
    """Makes one picture at a time; asked by one thread. ``close`` may come from any.

    Args:
        words: The command line of the process; None takes this program.
        stuck_seconds: After so long a file is given up.
    """

    def __init__(self, words: list[str] | None = None, stuck_seconds: float = STUCK_SECONDS) -> None:
        self._process = HelperProcess(words or [*own_words(), COMMAND])
        self._stuck_seconds = stuck_seconds
        self._closed = threading.Event()

    def make(self, wish: PictureWish) -> SmallPicture | None:
        """Return a picture; None where the file has none, or its decoder dies or never ends.

        Raises:
            ScanFailed: No process can be started.
        """
        alarm = threading.Timer(self._stuck_seconds, self._process.kill)
        alarm.daemon = True
        alarm.start()
        try:
            return self._answer(wish)
        except (OSError, ValueError):  # it died, or was given up in the middle
            self._process.kill()
            return None
        finally:
            alarm.cancel()

    def close(self) -> None:
        """End the process now."""
        self._closed.set()
        self._process.kill()

    def _answer(self, wish: PictureWish) -> SmallPicture | None:
        if self._closed.is_set():
            return None
        try:
            asks, answers = self._process.pipes()
        except ScanFailed:
            if self._closed.is_set():
                return None
            raise
        asks.write(wish.line())
        asks.flush()
        width, height = json.loads(answers.readline())
        if not width:
            return None
        pixels = answers.read(width * height * CHANNELS)
        if len(pixels) < width * height * CHANNELS:
            raise OSError
        return SmallPicture((width, height), pixels)


def small_picture(wish: PictureWish) -> SmallPicture | None:
    """Decode a file into a small picture; None where that cannot be.

    Of a file that was cut off the rest stays grey: it can be seen how much is there.
    """
    from PIL import Image  # heavy, and only the process needs it

    from gui.engine.dataset.image_look import read_image, readable_formats

    try:
        data = read_image(wish.path)
        if not isinstance(data, bytes):
            return None
        with Image.open(io.BytesIO(data), formats=readable_formats()) as image:
            if image.width * image.height > MOST_PIXELS:
                return None
            image.draft("RGB", (2 * wish.box[0], 2 * wish.box[1]))  # a JPEG need not be decoded in full
            picture = _fitted(image if image.mode == "RGB" else image.convert("RGB"), wish)
    except Exception:  # noqa: BLE001 - decoders raise whatever they like for a broken file
        return None
    return SmallPicture(picture.size, picture.tobytes())


def _fitted(picture: Image.Image, wish: PictureWish) -> Image.Image:
    from PIL import Image

    (width, height), (wide, high) = picture.size, wish.box
    scales = (wide / width, high / height)
    scale = max(scales) if wish.filling else min(1.0, *scales)
    if wish.filling:
        part = (min(width, wide / scale), min(height, high / scale))
        left, top = (width - part[0]) / 2, (height - part[1]) / 2
        box, size = (left, top, left + part[0], top + part[1]), wish.box
    else:
        box = (0.0, 0.0, float(width), float(height))
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return picture.resize(size, Image.Resampling.BILINEAR, box=box, reducing_gap=2.0)


def prepare() -> None:
    """Set this process up for making pictures."""
    from PIL import ImageFile

    from gui.engine.dataset import image_look

    image_look.prepare()
    ImageFile.LOAD_TRUNCATED_IMAGES = True


def work(wishes: Iterable[bytes], answers: BinaryIO) -> None:
    """Answer wishes until there are none."""
    for line in wishes:
        picture = small_picture(PictureWish.read(line))
        answers.write(json.dumps(picture.size if picture else (0, 0)).encode("ascii") + b"\n")
        if picture is not None:
            answers.write(picture.pixels)
        answers.flush()
