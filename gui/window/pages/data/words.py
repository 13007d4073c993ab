"""Sentences of the Data page: what was looked at, sizes, captions."""

from __future__ import annotations

from gui.engine.dataset.report import DatasetReport
from gui.engine.quantities import exact
from gui.engine.texts import _, ngettext
from gui.window.pages.data.image_look import CaptionLook, ImageLook

SHORT_SECONDS = 10.0
SHORTEST = 0.1
LEAST_LOST = 0.0005
"""What would be shown as 0.0 % is not told."""


def counts_sentence(report: DatasetReport) -> str:
    """Return what a dataset is made of: ``24 images · 23 captions · 10 repeats · looked at all in 0.4 s``."""
    own = [subset for subset in report.subsets if not subset.is_reg]
    images = sum(subset.images for subset in own)
    parts = [ngettext("{count} image", "{count} images", images).format(count=f"{images:,}")]
    captions = sum(subset.captions.captions for subset in own if subset.captions)
    parts.append(ngettext("{count} caption", "{count} captions", captions).format(count=f"{captions:,}"))
    repeats = sorted({subset.num_repeats for subset in own})
    if repeats and repeats[-1] != 1:
        shown = str(repeats[0]) if len(repeats) == 1 else f"{repeats[0]}–{repeats[-1]}"
        parts.append(ngettext("{count} repeat", "{count} repeats", repeats[-1]).format(count=shown))
    regularisation = sum(subset.images for subset in report.subsets if subset.is_reg)
    if regularisation:
        words = ngettext(
            "{count} regularisation image", "{count} regularisation images", regularisation
        ).format(count=f"{regularisation:,}")
        parts.append(words)
    parts.append(_("looked at all in {time}").format(time=_time(report.seconds)))
    return " · ".join(parts)


def size_words(look: ImageLook) -> str:
    """Return what becomes of an image's size: ``1920 × 1080 → 1344 × 768, 1.6 % cut``."""
    if look.facts is None or 0 in look.facts.size:
        return ""
    text = _size(look.facts.size)
    if look.placement is None or look.crop is None:
        return text
    text += f" → {_size(look.placement.bucket)}"
    if look.crop.lost >= LEAST_LOST:
        text += ", " + _("{lost:.1f} % cut").format(lost=100 * look.crop.lost)
    return text


def scale_words(look: ImageLook) -> str:
    """Return by how much an image is enlarged or shrunk; empty where it is not."""
    if look.crop is None:
        return ""
    percent = round(100 * look.crop.scale)
    if percent > 100:
        return _("Enlarged to {percent} % of its size").format(percent=percent)
    return _("Shrunk to {percent} % of its size").format(percent=percent) if percent < 100 else ""


def caption_words(caption: CaptionLook) -> str:
    """Return how long a caption is: ``Caption · 31 of 75 tokens``; or why there is none."""
    read = caption.read
    faults = {
        "missing": _("There is no caption"),
        "denied": _("The caption must not be read"),
        "empty": _("The caption is an empty file"),
        "blank": _("The caption has no words where the trainer looks"),
    }
    if read.fault in faults:
        return faults[read.fault]
    if caption.marks is None:
        return _("Caption")
    tokens = caption.marks.tokens
    if caption.limit is None:
        words = ngettext("Caption · {count} token", "Caption · {count} tokens", tokens)
    elif caption.exact:
        words = ngettext(
            "Caption · {count} of {limit} token", "Caption · {count} of {limit} tokens", caption.limit
        )
    else:
        words = _("Caption · about {count} of {limit} tokens (estimated)")
    return words.format(count=tokens, limit=caption.limit)


def _size(size: tuple[int, int]) -> str:
    return f"{size[0]} × {size[1]}"


def _time(seconds: float) -> str:
    return (
        _("{seconds:.1f} s").format(seconds=max(SHORTEST, seconds))
        if seconds < SHORT_SECONDS
        else exact(seconds)
    )
