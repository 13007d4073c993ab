"""Makes a dataset with one fault of each kind that the dataset doctor knows, for what has to meet them.

Each fault is made in a folder beside clean images, under a stem of its own, so that many fit into one.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from zlib import crc32

import numpy as np
from dataset_maker import FAULTS, clean_caption, clean_dataset, picture, png, saved
from PIL import Image

from gui.engine.dataset.buckets import BucketSettings, Size

BUCKETS: Mapping[str, Any] = {
    "resolution": [128, 128],
    "enable_bucket": True,
    "min_bucket_reso": 64,
    "max_bucket_reso": 256,
}
"""Small, so that a real trainer can train on a processor."""

MASKS = "masks"
"""The folder of masks in a dataset that has them."""

TRIGGER = "mira_x"
LATENTS_OF_128 = (4, 16, 16)
SEED = 9000
TOGETHER = 9
THINGS = ("rain", "snow", "coats", "waves", "bicycles", "smoke", "cats", "flowers")

Setting = Literal["plain", "thin", "masks", "caches", "class"]
"""What a fault needs around it: ``thin`` no enlarging, ``masks`` masks beside the images, ``caches`` caches
on the disk, ``class`` class tokens, whose first word is the trigger word."""


@dataclass(frozen=True)
class MadeFault:
    """One fault.

    Attributes:
        make: Writes it into a folder under a stem.
        setting: What it needs around it.
    """

    make: Callable[[Path, str], None] = field(repr=False)
    setting: Setting = "plain"


def settings_of(setting: Setting) -> BucketSettings:
    """Return the buckets of a dataset with such a fault."""
    return BucketSettings(
        (128, 128), min_bucket_reso=64, max_bucket_reso=256, bucket_no_upscale=setting == "thin"
    )


def clean_ground(folder: Path, setting: Setting, count: int = 2) -> None:
    """Write clean images, with masks where the setting wants them."""
    files = clean_dataset(folder, count)
    if setting == "masks":
        (folder / MASKS).mkdir()
        for file in files:
            _mask(folder, file.stem)


def _captioned(folder: Path, stem: str, suffix: str, data: bytes) -> Path:
    file = folder / f"{stem}{suffix}"
    file.write_bytes(data)
    file.with_suffix(".txt").write_text(clean_caption(len(stem)), "utf-8")
    return file


def _own(suffix: str, draw: Callable[[int], bytes], setting: Setting = "plain") -> MadeFault:
    """Return an image of its own that is drawn from a seed."""

    def make(folder: Path, stem: str) -> None:
        _captioned(folder, stem, suffix, draw(SEED))

    return MadeFault(make, setting)


def _drawn(name: str) -> MadeFault:
    """Return a fault that the maker of datasets draws already."""
    return _own(Path(name).suffix, FAULTS[name][1])


def _of_size(size: Size, setting: Setting = "plain") -> MadeFault:
    return _own(".png", lambda seed: saved(picture(seed, size)), setting)


def _deep(seed: int) -> bytes:
    """Return a PNG with 16 bits for each of three colours, which Pillow does not write."""
    levels = np.asarray(picture(seed)).astype(">u2") * 257
    return png(levels.shape[1], levels.shape[0], 16, 2, b"".join(b"\0" + row.tobytes() for row in levels))


def _off_by_one(seed: int) -> bytes:
    """Return a WebP with transparency whose bucket is another one for a pixel less."""
    clear = picture(seed, (187, 640)).convert("RGBA")
    clear.putpixel((0, 0), (0, 0, 0, 250))
    return saved(clear, ".webp")


def _avif(seed: int) -> bytes:
    file = io.BytesIO()
    picture(seed).save(file, "AVIF")
    return file.getvalue()


def _nowhere(folder: Path, stem: str) -> None:
    (folder / f"{stem}.txt").write_text(clean_caption(1), "utf-8")
    (folder / f"{stem}.png").symlink_to(folder / "not there")


def _twins(suffix: str, **how: object) -> Callable[[Path, str], None]:
    def make(folder: Path, stem: str) -> None:
        twin = picture(SEED + 1)
        _captioned(folder, f"{stem}_a", ".png", saved(twin))
        _captioned(folder, f"{stem}_b", suffix, saved(twin, suffix, **how))

    return make


def _same_stem(folder: Path, stem: str) -> None:
    _captioned(folder, stem, ".png", saved(picture(SEED + 2)))
    (folder / f"{stem}.webp").write_bytes(saved(picture(SEED + 3), ".webp"))


def _caption(data: bytes | None, setting: Setting = "plain") -> MadeFault:
    """Return a sound image with such a caption; None for no file."""

    def make(folder: Path, stem: str) -> None:
        (folder / f"{stem}.png").write_bytes(saved(picture(SEED + crc32(stem.encode()) % 1000)))
        if data is not None:
            (folder / f"{stem}.txt").write_bytes(data)

    return MadeFault(make, setting)


def _one_of_two(folder: Path, stem: str) -> None:
    _captioned(folder, f"{stem}_a", ".png", saved(picture(SEED + 8)))
    (folder / f"{stem}_b.png").write_bytes(saved(picture(SEED + 9)))


def _named(folder: Path, stem: str) -> None:
    _captioned(folder, stem, ".png", saved(picture(SEED + 4)))
    (folder / f"{stem}.txt").write_text(stem, "utf-8")


def _captions(line: Callable[[int], str]) -> MadeFault:
    """Return images whose captions are bad only together."""

    def make(folder: Path, stem: str) -> None:
        for number in range(TOGETHER):
            file = _captioned(folder, f"{stem}_{number}", ".png", saved(picture(SEED + 100 + number)))
            file.with_suffix(".txt").write_text(line(number), "utf-8")

    return MadeFault(make, "class")


def _forbidden(folder: Path, stem: str) -> None:
    (folder / f"{stem}.png").write_bytes(saved(picture(SEED + 5)))
    (folder / f"{stem}.txt").write_text("mira_x", "utf-8")
    (folder / f"{stem}.txt").chmod(0)


def _mask(folder: Path, stem: str, side: int = 640) -> None:
    (folder / MASKS / f"{stem}.png").write_bytes(saved(Image.new("L", (side, side), 255)))


def _masked(mask: Callable[[Path, str], None], *, image: bool = True) -> MadeFault:
    def make(folder: Path, stem: str) -> None:
        if image:
            _captioned(folder, stem, ".png", saved(picture(SEED + 6)))
        mask(folder, stem)

    return MadeFault(make, "masks")


def _cut_mask(folder: Path, stem: str) -> None:
    (folder / MASKS / f"{stem}.png").write_bytes(saved(picture(SEED))[:900])


def _cached(write: Callable[[Path, str], object]) -> MadeFault:
    def make(folder: Path, stem: str) -> None:
        _captioned(folder, stem, ".png", saved(picture(SEED + 7)))
        write(folder, stem)

    return MadeFault(make, "caches")


def latents(folder: Path, stem: str, shape: tuple[int, ...] = LATENTS_OF_128, level: float = 0.1) -> Path:
    """Write latents as the trainer for SD 1.5 does; return the file."""
    file = folder / f"{stem}_0640x0640_sd.npz"
    values = np.full(shape, level, np.float32)
    np.savez(file, latents=values, original_size=np.array([640, 640]), crop_ltrb=np.array([0, 0, 640, 640]))
    return file


def _broken_cache(folder: Path, stem: str) -> None:
    file = latents(folder, stem)
    file.write_bytes(file.read_bytes()[:400])


def _old_cache(folder: Path, stem: str) -> None:
    os.utime(latents(folder, stem), (1_000_000_000, 1_000_000_000))


MADE_FAULTS: Mapping[str, MadeFault] = {
    "img-truncated": _drawn("cut.jpg"),
    "img-decode": _drawn("noise.png"),
    "img-empty": _drawn("empty.png"),
    "img-denied": MadeFault(_nowhere),
    "img-huge": _drawn("bomb.png"),
    "img-magic": _drawn("photo.jpeg"),
    "img-avif": _own(".jpg", _avif),
    "img-format": _drawn("renamed.jpg"),
    "img-end": _drawn("endless.png"),
    "img-animated": _drawn("moving.webp"),
    "img-exif": _drawn("turned.jpg"),
    "img-alpha": _drawn("holed.png"),
    "img-cmyk": _drawn("print.jpg"),
    "img-icc": _drawn("wide.png"),
    "img-palette": _drawn("palette.png"),
    "img-16bit-clipped": _drawn("sixteen.png"),
    "img-16bit": _own(".png", _deep),
    "img-grey": _drawn("grey.png"),
    "img-small": _drawn("small.png"),
    "img-ratio": _drawn("long.png"),
    "img-large": _drawn("large.png"),
    "img-jpeg": _drawn("blocks.jpg"),
    "img-blur": _drawn("soft.png"),
    "img-enlarged": _of_size((70, 70)),
    "img-cut": _of_size((2100, 300)),
    "bucket-thin": _of_size((2000, 10), "thin"),
    "img-webp-size": _own(".webp", _off_by_one),
    "img-dup": MadeFault(_twins(".png")),
    "img-near": MadeFault(_twins(".jpg", quality=80)),
    "img-dupstem": MadeFault(_same_stem),
    "mask-missing": _masked(lambda _folder, _stem: None),
    "mask-extra": _masked(_mask, image=False),
    "mask-size": _masked(lambda folder, stem: _mask(folder, stem, 500)),
    "mask-unreadable": _masked(_cut_mask),
    "cap-denied": MadeFault(_forbidden),
    "cap-encoding": _caption("mira_x, 비 오는 밤".encode("cp949")),
    "cap-mark": _caption(b"\xef\xbb\xbfmira_x, rain"),
    "cap-empty": _caption(b""),
    "cap-blank": _caption(b"\nmira_x, rain\n"),
    "cap-missing": _caption(None),
    "cap-missing-class": MadeFault(_one_of_two, "class"),
    "cap-control": _caption(b"mira_x, ra\x07in\x1b[31m"),
    "cap-long": _caption(
        ", ".join(["mira_x", *(f"thing {number} of many" for number in range(60))]).encode()
    ),
    "cap-repeat": _caption(b"mira_x, rain, night, rain, night"),
    "cap-name": MadeFault(_named),
    "cap-trigger": _caption(b"a red coat, window", "class"),
    "cap-trigger-spelled": _caption(b"Mira X, window, coat", "class"),
    "cap-trigger-late": _caption(b"window, mira_x, coat", "class"),
    "cap-style": _captions(
        lambda number: (
            f"A photo of mira_x who stands in the {THINGS[number % 8]} and looks at us. It is {number}."
        )
    ),
    "cap-template": _captions(lambda number: f"a good photo of mira_x with {THINGS[number % 8]} behind her"),
    "cap-common": _captions(lambda number: f"mira_x, lantern, {clean_caption(number)}"),
    "cache-broken": _cached(_broken_cache),
    "cache-nan": _cached(lambda folder, stem: latents(folder, stem, level=float("nan"))),
    "cache-size": _cached(lambda folder, stem: latents(folder, stem, (4, 8, 8))),
    "cache-stale": _cached(_old_cache),
    "cache-family": _cached(
        lambda folder, stem: latents(folder, stem).rename(folder / f"{stem}_0640x0640_flux.npz")
    ),
    "cache-leftover": _cached(lambda folder, stem: latents(folder, f"{stem}_gone")),
}
"""Key of the kind of trouble to how it is made; those of caches begin with ``cache-``."""
