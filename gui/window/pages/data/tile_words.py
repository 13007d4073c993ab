"""What is wrong with an image in two or three words, for its tile, and in a sentence."""

from __future__ import annotations

from collections.abc import Mapping

from gui.engine.dataset.pairing import stem_of
from gui.engine.dataset.problem_kinds import problem_kinds
from gui.engine.findings import Severity
from gui.engine.texts import _
from gui.window.models.image_rows import ImageRows, Level
from gui.window.widgets.chip import Tone

TWINS = ("img-dup", "img-near")
LONGEST_TWIN = 10


def short_words(key: str) -> str:
    """Return a kind of trouble in two or three words."""
    words = {**_of_files(), **_of_looks(), **_of_captions()}.get(key)
    return words or problem_kinds()[key].id


def tone_of(severity: Severity) -> Tone:
    """Return how bad a kind of trouble looks on the page: red is what stops the run, and nothing else."""
    tones: dict[Severity, Tone] = {"stop": "bad", "danger": "warn", "warning": "warn", "hint": "neutral"}
    return tones[severity]


def tile_words(rows: ImageRows, row: int) -> tuple[str, Tone]:
    """Return the words and the tone of the chip of an image; no words where nothing is worth a look."""
    keys = rows.keys(row)
    if not keys or rows.level(row) <= Level.FINE:
        return "", "neutral"
    key = keys[0]
    tone = tone_of(problem_kinds()[key].severity)
    twin = stem_of(rows.twin(row))
    if key in TWINS and twin:
        shown = twin if len(twin) <= LONGEST_TWIN else f"…{twin[1 - LONGEST_TWIN :]}"
        return (_("twin of {name}") if key == "img-dup" else _("like {name}")).format(name=shown), tone
    if key == "img-small" and min(rows.size(row)):
        return _("{pixels} px").format(pixels=min(rows.size(row))), tone
    return short_words(key), tone


def image_words(rows: ImageRows, row: int) -> str:
    """Return an image's name and what is wrong with it, in full."""
    name = rows.name(row)
    told = [sentence(key, name) for key in rows.keys(row)]
    if not told and rows.level(row) is Level.FINE:
        told = [_("nothing is wrong with it")]
    return "\n".join([name, *told])


def sentence(key: str, name: str) -> str:
    """Return in a sentence what is wrong with one image."""
    return problem_kinds()[key].title(1).format(count=1, names=name)


def _of_files() -> Mapping[str, str]:
    return {
        "img-truncated": _("cut off"),
        "img-decode": _("broken"),
        "img-empty": _("empty file"),
        "img-denied": _("no access"),
        "img-gone": _("gone"),
        "img-crash": _("crashes"),
        "img-huge": _("too many pixels"),
        "img-magic": _("not an image"),
        "img-avif": _("really AVIF"),
        "img-format": _("wrong ending"),
        "img-unchecked": _("not looked at"),
        "img-end": _("odd end"),
        "img-animated": _("animation"),
        "img-dup": _("twin"),
        "img-near": _("looks alike"),
        "img-dupstem": _("same name"),
        "mask-missing": _("no mask"),
        "mask-extra": _("left-over mask"),
        "mask-size": _("mask size"),
        "mask-unreadable": _("broken mask"),
    }


def _of_looks() -> Mapping[str, str]:
    return {
        "img-exif": _("not upright"),
        "img-alpha": _("transparent"),
        "img-cmyk": _("print colours"),
        "img-icc": _("colour profile"),
        "img-palette": _("palette"),
        "img-16bit-clipped": _("becomes white"),
        "img-16bit": _("16 bits"),
        "img-grey": _("grey"),
        "img-small": _("small"),
        "img-ratio": _("very long"),
        "img-large": _("very large"),
        "img-jpeg": _("JPEG blocks"),
        "img-blur": _("blurred"),
        "bucket-thin": _("too thin"),
        "img-enlarged": _("blown up"),
        "img-cut": _("much cut"),
        "img-webp-size": _("WebP size"),
    }


def _of_captions() -> Mapping[str, str]:
    return {
        "cap-denied": _("caption denied"),
        "cap-encoding": _("not UTF-8"),
        "cap-mark": _("byte order mark"),
        "cap-empty": _("empty caption"),
        "cap-blank": _("blank line"),
        "cap-missing": _("no caption"),
        "cap-missing-class": _("no caption"),
        "cap-control": _("odd characters"),
        "cap-long": _("long caption"),
        "cap-repeat": _("tag repeated"),
        "cap-name": _("only a name"),
        "cap-trigger": _("no trigger"),
        "cap-trigger-spelled": _("trigger misspelt"),
        "cap-trigger-late": _("trigger late"),
        "cap-style": _("other style"),
        "cap-template": _("same form"),
        "cap-common": _("in every caption"),
    }
