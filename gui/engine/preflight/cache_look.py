"""Looks at cached latents and text encoder outputs that a plan would use again.

The trainer takes a cache for good when the arrays that it expects are in it; what they were made of is
written nowhere. Source: trainer-facts 2.5 (strategy_base.py:440-475, strategy_sd.py:134-158).
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gui.engine.dataset.buckets import BucketsImpossible, ImageTooThin, Size
from gui.engine.dataset.pairing import stem_of
from gui.engine.preflight.file_facts import CacheFact
from gui.engine.preflight.steps import bucket_settings
from gui.engine.preflight.view import SubsetView, View

LOOKED_AT = 300
"""The caches of so many images of a folder are looked at."""

TESTED_BYTES = 32 * 2**20
"""So many bytes of caches are read to the end, to test their check sums."""

NAMED = 20
"""So many damaged ones are named."""

SUFFIXES: Mapping[str, tuple[str, str | None]] = {
    "sdxl_": ("_sdxl.npz", "_te_outputs.npz"),
    "train_db": ("_sdxl.npz", None),
    "fine_tune": ("_sdxl.npz", None),
    "flux_": ("_flux.npz", "_flux_te.npz"),
    "sd3_": ("_sd3.npz", "_sd3_te.npz"),
    "lumina_": ("_lumina.npz", "_lumina_te.npz"),
    "hunyuan_": ("_hi.npz", "_hi_te.npz"),
    "anima_": ("_anima.npz", "_anima_te.npz"),
    "": ("_sd.npz", None),
}
"""How a script's name begins to the ends of its caches of latents and of text (strategy_*.py)."""

UNKEYED = ("_sd.npz", "_sdxl.npz")
"""Caches of latents that do not tell for which size they were made."""

OLD_STYLE = ".npz"

LIST = "metadata_cache.json"
"""The list of images and captions that ``cache_info`` keeps (train_util.py:1990)."""

LATENT_PX = 8
"""Pixels on each side of one latent of the Stable Diffusion models."""

_SHAPE = re.compile(rb"'shape': \(([0-9, ]*)\)")
_HEADER_BYTES = 256


@dataclass
class _Look:
    """What is counted on the way through a folder."""

    folder: Path
    text: int = 0
    latents: int = 0
    stale_text: int = 0
    stale_latents: int = 0
    other_size: int = 0
    damaged: list[str] = field(default_factory=list)
    old_style: list[str] = field(default_factory=list)
    bytes_left: int = TESTED_BYTES

    def time(self, name: str) -> float | None:
        try:
            return os.stat(self.folder / name).st_mtime  # noqa: PTH116 - hundreds at each check
        except (OSError, ValueError):
            return None

    def is_damaged(self, name: str) -> bool:
        """Whether a cache cannot be read; those that fit the rest of the budget are read to the end."""
        path = self.folder / name
        try:
            size = path.stat().st_size
            with zipfile.ZipFile(path) as archive:
                if size <= self.bytes_left:
                    self.bytes_left -= size
                    return archive.testzip() is not None
        except (OSError, ValueError, RuntimeError):
            return False  # not for us to read; the trainer may
        except Exception:  # noqa: BLE001 - each way to pack has an error of its own for damaged bytes
            return True
        return False


def look_at_caches(
    view: View, subset: SubsetView, folder: Path, sizes: Mapping[str, Size]
) -> CacheFact | None:
    """Return what lies beside the images of a folder; None where no cache on the disk is used.

    Args:
        view: The plan.
        subset: The subset.
        folder: Its folder.
        sizes: Name of an image to its size.
    """
    latents, text = ends_of_caches(view)
    listed = subset.flag("cache_info")
    if latents is None and text is None and not listed:
        return None
    look = _Look(folder)
    extension = str(subset.value("caption_extension") or "")
    names = list(sizes)[:LOOKED_AT]
    newest = 0.0
    for name in names:
        stem = stem_of(name)
        image, caption = look.time(name), look.time(f"{stem}{extension}")
        newest = max(newest, image or 0.0, caption or 0.0)
        if text is not None:
            _text(look, f"{stem}{text}", caption)
        if latents is not None:
            _latents(look, view, subset, stem, latents, sizes[name], image)
    written = look.time(LIST) if listed else None
    return CacheFact(
        looked=len(names),
        text=look.text,
        latents=look.latents,
        stale_text=look.stale_text,
        stale_latents=look.stale_latents,
        other_size=look.other_size,
        damaged=tuple(look.damaged[:NAMED]),
        old_style=tuple(look.old_style[:NAMED]),
        stale_list=written is not None and written < newest,
    )


def ends_of_caches(view: View) -> tuple[str | None, str | None]:
    """Return how the files end in which a plan keeps latents and text; None for what it does not keep."""
    latents, text = next(ends for start, ends in SUFFIXES.items() if view.script.startswith(start))
    keeps_text = view.flag("cache_text_encoder_outputs_to_disk")
    return latents if view.flag("cache_latents_to_disk") else None, text if keeps_text else None


def _text(look: _Look, name: str, caption: float | None) -> None:
    written = look.time(name)
    if written is None:
        return
    look.text += 1
    look.stale_text += caption is not None and caption > written
    if look.is_damaged(name):
        look.damaged.append(name)


def _latents(  # noqa: PLR0917 - what is known about one image
    look: _Look, view: View, subset: SubsetView, stem: str, end: str, size: Size, image: float | None
) -> None:
    name = f"{stem}_{size[0]:04d}x{size[1]:04d}{end}"
    if end in UNKEYED and look.time(f"{stem}{OLD_STYLE}") is not None:
        look.old_style.append(f"{stem}{OLD_STYLE}")
        return
    written = look.time(name)
    if written is None:
        return
    look.latents += 1
    look.stale_latents += image is not None and image > written
    if look.is_damaged(name):
        look.damaged.append(name)
    elif end in UNKEYED:
        wanted, found = _wanted(view, subset, size), _shape(look.folder / name)
        look.other_size += wanted is not None and found is not None and wanted != found


def _wanted(view: View, subset: SubsetView, size: Size) -> Size | None:
    """Return the width and height that an image's latents must have."""
    settings = bucket_settings(view.dataset_of(subset))
    if settings is None:
        return None
    try:
        bucket = settings.place(size).bucket if settings.enable_bucket else settings.resolution
    except (BucketsImpossible, ImageTooThin, ZeroDivisionError):
        return None
    return bucket[0] // LATENT_PX, bucket[1] // LATENT_PX


def _shape(path: Path) -> Size | None:
    """Return the width and height of cached latents, by the header of their array."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open("latents.npy") as array:
            found = _SHAPE.search(array.read(_HEADER_BYTES))
    except Exception:  # noqa: BLE001 - as above, and there may be no such array
        return None
    sides = [int(side) for side in found[1].split(b",") if side.strip()] if found else []
    return (sides[-1], sides[-2]) if len(sides) >= 2 else None
