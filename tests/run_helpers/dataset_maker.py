"""Draws datasets for tests: clean ones, and one that holds each fault that the dataset doctor knows."""

from __future__ import annotations

import io
import os
import random
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

SIDE = 640
"""All clean images have this side, which is also the size that tests train at."""

FORMATS = {".png": "PNG", ".jpg": "JPEG", ".webp": "WEBP", ".bmp": "BMP"}


def picture(seed: int, size: tuple[int, int] = (SIDE, SIDE)) -> Image.Image:
    """Draw a sharp picture in many colours that looks like no other one."""
    draw = random.Random(seed)
    ground = Image.new("RGB", (6, 6))
    ground.putdata([tuple(draw.randrange(256) for _channel in range(3)) for _pixel in range(36)])
    image = ground.resize(size, Image.Resampling.BICUBIC)
    pen = ImageDraw.Draw(image)
    for _shape in range(60):
        left, top = draw.randrange(size[0]), draw.randrange(size[1])
        box = (left, top, left + draw.randrange(10, 90), top + draw.randrange(10, 90))
        colour = tuple(draw.randrange(256) for _channel in range(3))
        (pen.rectangle if draw.random() < 0.5 else pen.ellipse)(box, fill=colour)
    return image


def saved(image: Image.Image, suffix: str = ".png", **how: object) -> bytes:
    """Return a picture as a file has it."""
    file = io.BytesIO()
    if suffix in (".jpg", ".webp"):
        how = {"quality": 92, **how}
    image.save(file, FORMATS[suffix], **how)
    return file.getvalue()


def clean_caption(number: int) -> str:
    """Write a caption that says other things than the others, after the trigger word."""
    draw = random.Random(number)
    things = ("rain", "red coat", "window", "night", "street lamps", "smile", "close-up", "from behind")
    places = ("park", "kitchen", "bus stop", "library", "roof", "field of wheat", "pier", "stairs")
    said = [*draw.sample(things, draw.randrange(1, 5)), *draw.sample(places, draw.randrange(3))]
    draw.shuffle(said)
    return ", ".join(["mira_x", *said])


def clean_dataset(folder: Path, count: int = 12, first: int = 1000) -> list[Path]:
    """Write images without any fault, each with a caption, in all formats by turns."""
    folder.mkdir(parents=True, exist_ok=True)
    suffixes = (".png", ".jpg", ".webp")
    files = []
    for number in range(count):
        suffix = suffixes[number % len(suffixes)]
        file = folder / f"clean_{number:03}{suffix}"
        file.write_bytes(saved(picture(first + number), suffix))
        file.with_suffix(".txt").write_text(clean_caption(number), "utf-8")
        files.append(file)
    return files


def png(width: int, height: int, depth: int, colours: int, data: bytes) -> bytes:
    """Return a PNG of that many bits and kind of colours; of its rows, each with its filter byte."""

    def chunk(name: bytes, content: bytes) -> bytes:
        body = name + content
        return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, depth, colours, 0, 0, 0)
    packed = zlib.compress(data, 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def huge_png(width: int, height: int) -> bytes:
    """Return a small file that says it is a picture of that size, all black."""
    return png(width, height, 1, 0, bytes(height * (1 + (width + 7) // 8)))


def _fixed(*numbers: float) -> bytes:
    return struct.pack(f">{len(numbers)}i", *(round(each * 65536) for each in numbers))


def _profile(space: bytes, tags: dict[bytes, bytes]) -> bytes:
    """Put a colour profile together (ICC.1:2001-04)."""
    text = b"Made for a test\0"
    white = _fixed(0.9642, 1.0, 0.8249)
    tags = {
        b"desc": b"desc\0\0\0\0" + struct.pack(">I", len(text)) + text + bytes(78),
        b"wtpt": b"XYZ \0\0\0\0" + white,
        **tags,
    }
    at, table, body = 128 + 4 + 12 * len(tags), struct.pack(">I", len(tags)), b""
    for name, data in tags.items():
        table += name + struct.pack(">II", at + len(body), len(data))
        body += data + bytes(-len(data) % 4)
    header = struct.pack(">I4xI4s4s4s", at + len(body), 0x02400000, b"mntr", space, b"XYZ ").ljust(128, b"\0")
    header = header[:36] + b"acsp" + header[40:68] + white + header[80:]
    return header + table + body


def _gamma(value: float) -> bytes:
    return b"curv\0\0\0\0" + struct.pack(">IH", 1, round(value * 256))


def wide_profile() -> bytes:
    """Return a colour profile like a wide-gamut camera's: a matrix and a gamma of 2.2."""
    colours = {
        b"rXYZ": b"XYZ \0\0\0\0" + _fixed(0.7977, 0.2880, 0.0),
        b"gXYZ": b"XYZ \0\0\0\0" + _fixed(0.1352, 0.7119, 0.0),
        b"bXYZ": b"XYZ \0\0\0\0" + _fixed(0.0313, 0.0001, 0.8249),
    }
    return _profile(b"RGB ", colours | dict.fromkeys((b"rTRC", b"gTRC", b"bTRC"), _gamma(2.2)))


def grey_profile() -> bytes:
    """Return a colour profile of a grey scanner with a gamma of 1."""
    return _profile(b"GRAY", {b"kTRC": _gamma(1.0)})


def _turned(image: Image.Image) -> bytes:
    exif = image.getexif()
    exif[0x0112] = 6
    return saved(image, ".jpg", exif=exif)


def _sixteen(image: Image.Image) -> bytes:
    grey = np.asarray(image.convert("L")).astype(np.uint16) * 257
    return saved(Image.fromarray(grey))


def _holed(image: Image.Image) -> bytes:
    clear = image.convert("RGBA")
    alpha = Image.new("L", clear.size, 255)
    ImageDraw.Draw(alpha).rectangle((0, 0, SIDE // 2, SIDE), fill=0)
    clear.putalpha(alpha)
    return saved(clear)


def _endless(data: bytes) -> bytes:
    """Leave the last chunk of a PNG out."""
    return data[:-12]


FAULTS: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "cut.jpg": ("img-decode", lambda seed: saved(picture(seed), ".jpg")[:9000]),
    "empty.png": ("img-decode", lambda _seed: b""),
    "page.jpg": ("img-magic", lambda _seed: b"<!DOCTYPE html><html>not found</html>"),
    "photo.jpeg": ("img-magic", lambda _seed: b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(500)),
    "noise.png": ("img-decode", lambda _seed: random.Random(1).randbytes(3000)),
    "renamed.jpg": ("img-format", lambda seed: saved(picture(seed), ".png")),
    "bomb.png": ("img-huge", lambda _seed: huge_png(30_000, 30_000)),
    "large.png": ("img-huge", lambda _seed: huge_png(8_100, 8_000)),
    "endless.png": ("img-end", lambda seed: _endless(saved(picture(seed)))),
    "moving.webp": (
        "img-animated",
        lambda seed: saved(picture(seed), ".webp", save_all=True, append_images=[picture(seed + 5000)]),
    ),
    "holed.png": ("img-alpha", lambda seed: _holed(picture(seed))),
    "print.jpg": ("img-cmyk", lambda seed: saved(picture(seed).convert("CMYK"), ".jpg")),
    "wide.png": ("img-icc", lambda seed: saved(picture(seed), icc_profile=wide_profile())),
    "palette.png": ("img-palette", lambda seed: saved(picture(seed).quantize(200))),
    "sixteen.png": ("img-16bit", lambda seed: _sixteen(picture(seed))),
    "grey.png": ("img-grey", lambda seed: saved(picture(seed).convert("L"))),
    "turned.jpg": ("img-exif", lambda seed: _turned(picture(seed))),
    "small.png": ("img-small", lambda seed: saved(picture(seed, (400, 600)))),
    "tiny.png": ("img-enlarged", lambda seed: saved(picture(seed, (300, 300)))),
    "long.png": ("img-ratio", lambda seed: saved(picture(seed, (2400, 600)))),
    "blocks.jpg": ("img-jpeg", lambda seed: saved(picture(seed), ".jpg", quality=12)),
    "soft.png": ("img-blur", lambda seed: saved(picture(seed).filter(ImageFilter.GaussianBlur(6)))),
}
"""File name to the id that it must be found under, and how it is made of a seed."""


def faulty_dataset(folder: Path, seed: int = 1) -> dict[str, set[str]]:
    """Write one image of each fault; return id to the names that must be found under it."""
    folder.mkdir(parents=True, exist_ok=True)
    expected: dict[str, set[str]] = {}
    for number, (name, (identity, make)) in enumerate(FAULTS.items()):
        (folder / name).write_bytes(make(seed + number))
        expected.setdefault(identity, set()).add(name)
    twin = picture(seed + 100)
    files = {
        "twin_a.png": saved(twin),
        "twin_b.png": saved(twin),
        "near_a.png": saved(picture(seed + 101)),
        "near_b.jpg": saved(picture(seed + 101), ".jpg", quality=80),
        "stem.png": saved(picture(seed + 102)),
        "stem.webp": saved(picture(seed + 103), ".webp"),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    expected["img-dup"] = {"twin_a.png", "twin_b.png"}
    expected["img-near"] = {"near_a.png", "near_b.jpg"}
    expected["img-dupstem"] = {"stem.png", "stem.webp"}
    return expected


def ignored_files(folder: Path) -> set[str]:
    """Write files that look like images and that the trainer passes over; return their names."""
    names = {"old.gif", "scan.tif", "phone.heic", "._clean_000.png"} | (
        set() if os.name == "nt" else {"a.Jpg"}
    )
    for name in names:
        (folder / name).write_bytes(saved(picture(77)))
    return names
