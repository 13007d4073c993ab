"""What each kind of trouble with images means: how bad it is and what is said about it.

Several keys share an id where they are the same thing in two grades. Ids are part of the interface
(the rule index of the cases, where it has one). How bad each is was tried on the trainer's own reader
(train_util.py:1478, 2948).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from gui.engine.findings import Severity
from gui.engine.texts import _, ngettext

READER = "trainer: train_util.py:2948"


@dataclass(frozen=True)
class ProblemKind:
    """One kind of trouble.

    Attributes:
        key: What images are listed under.
        id: Of the finding.
        severity: How bad.
        title: The sentence for a number of images, with ``{count}`` and ``{names}``.
        detail: What the trainer does, and what helps.
        sources: Knowledge rows, cases, places in the trainer.
    """

    key: str
    id: str
    severity: Severity
    title: Callable[[int], str]
    detail: Callable[[], str]
    sources: tuple[str, ...]


@cache
def problem_kinds() -> Mapping[str, ProblemKind]:
    """Return all kinds by key, in the order in which they are told."""
    kinds = (*_unreadable(), *_file(), *_colours(), *_shape(), *_look(), *_among())
    return {kind.key: kind for kind in kinds}


def _unreadable() -> tuple[ProblemKind, ...]:
    return (
        ProblemKind(
            "img-truncated",
            "img-decode",
            "stop",
            lambda n: ngettext(
                "{count} image is cut off: {names}.", "{count} images are cut off: {names}.", n
            ),
            lambda: _("The trainer stops when it comes to it, perhaps after hours. Get the file anew."),
            ("N4", "DATA-05", READER),
        ),
        ProblemKind(
            "img-decode",
            "img-decode",
            "stop",
            lambda n: ngettext(
                "{count} image cannot be decoded: {names}.", "{count} images cannot be decoded: {names}.", n
            ),
            lambda: _(
                "The trainer stops when it comes to it, perhaps after hours. Save it anew or take it out."
            ),
            ("N5", "DATA-05", "DATA-06", READER),
        ),
        ProblemKind(
            "img-empty",
            "img-decode",
            "stop",
            lambda n: ngettext(
                "{count} image file is empty: {names}.", "{count} image files are empty: {names}.", n
            ),
            lambda: _("The trainer divides by its size, which is zero, and stops."),
            ("N4", "trainer: train_util.py:1478, 287"),
        ),
        ProblemKind(
            "img-denied",
            "img-decode",
            "stop",
            lambda n: ngettext(
                "{count} image must not be read, or leads nowhere: {names}.",
                "{count} images must not be read, or lead nowhere: {names}.",
                n,
            ),
            lambda: _("The trainer finds the name and stops when it opens it."),
            (READER,),
        ),
        ProblemKind(
            "img-gone",
            "img-gone",
            "warning",
            lambda n: ngettext(
                "{count} image went away while it was looked at: {names}.",
                "{count} images went away while they were looked at: {names}.",
                n,
            ),
            lambda: _("Somebody works on the folder. Look again when that is done."),
            (),
        ),
        ProblemKind(
            "img-crash",
            "img-crash",
            "danger",
            lambda n: ngettext(
                "The decoder crashes or never ends on {count} image: {names}.",
                "The decoder crashes or never ends on {count} images: {names}.",
                n,
            ),
            lambda: _("The trainer would very likely end with it. Save the image anew or take it out."),
            ("N5",),
        ),
        ProblemKind(
            "img-huge",
            "img-huge",
            "stop",
            lambda n: ngettext(
                "{count} image has too many pixels to be decoded: {names}.",
                "{count} images have too many pixels to be decoded: {names}.",
                n,
            ),
            lambda: _(
                "Above 178 megapixels the decoder takes it for an attack and refuses; the trainer stops."
            ),
            ("DATA-08", READER),
        ),
    )


def _file() -> tuple[ProblemKind, ...]:
    return (
        ProblemKind(
            "img-magic",
            "img-magic",
            "stop",
            lambda n: ngettext(
                "{count} file is not the image that its name says, and cannot be read: {names}.",
                "{count} files are not the images that their names say, and cannot be read: {names}.",
                n,
            ),
            lambda: _(
                "A HEIC photo or a web page was given another ending, for instance. Convert or remove it."
            ),
            ("DATA-07", READER),
        ),
        ProblemKind(
            "img-avif",
            "img-format",
            "danger",
            lambda n: ngettext(
                "{count} image is really AVIF: {names}.", "{count} images are really AVIF: {names}.", n
            ),
            lambda: _("Only a new Pillow reads it; with an older one the trainer stops. Convert it."),
            ("DATA-07", READER),
        ),
        ProblemKind(
            "img-format",
            "img-format",
            "warning",
            lambda n: ngettext(
                "{count} image is of another format than its name says: {names}.",
                "{count} images are of other formats than their names say: {names}.",
                n,
            ),
            lambda: _("The trainer goes by the content and reads it all the same; other programs may not."),
            ("DATA-07", READER),
        ),
        ProblemKind(
            "img-unchecked",
            "img-unchecked",
            "hint",
            lambda n: ngettext(
                "{count} image could not be looked at here: {names}.",
                "{count} images could not be looked at here: {names}.",
                n,
            ),
            lambda: _("The trainer has a decoder for this format, and this program has none."),
            (),
        ),
        ProblemKind(
            "img-end",
            "img-end",
            "warning",
            lambda n: ngettext(
                "{count} image does not end as it should: {names}.",
                "{count} images do not end as they should: {names}.",
                n,
            ),
            lambda: _(
                "The trainer reads it without a word. A part of the picture may be missing: look at it."
            ),
            ("N4", READER),
        ),
        ProblemKind(
            "img-animated",
            "img-animated",
            "warning",
            lambda n: ngettext(
                "{count} image is an animation: {names}.", "{count} images are animations: {names}.", n
            ),
            lambda: _("Only the first picture is trained."),
            (READER,),
        ),
        ProblemKind(
            "img-exif",
            "img-exif",
            "warning",
            lambda n: ngettext(
                "{count} image lies on its side or upside down for the trainer: {names}.",
                "{count} images lie on their sides or upside down for the trainer: {names}.",
                n,
            ),
            lambda: _("Viewers turn it as its EXIF data says; the trainer does not. Save it turned."),
            ("trainer: train_util.py:1478, 2948",),
        ),
    )


def _colours() -> tuple[ProblemKind, ...]:
    return (
        ProblemKind(
            "img-alpha",
            "img-alpha",
            "warning",
            lambda n: ngettext(
                "{count} image is partly transparent: {names}.",
                "{count} images are partly transparent: {names}.",
                n,
            ),
            lambda: _(
                "Without alpha_mask the trainer drops the transparency, and whatever colour lies below, "
                "often black, is trained."
            ),
            ("N4", READER),
        ),
        ProblemKind(
            "img-cmyk",
            "img-cmyk",
            "warning",
            lambda n: ngettext(
                "{count} image is in print colours (CMYK): {names}.",
                "{count} images are in print colours (CMYK): {names}.",
                n,
            ),
            lambda: _("It is converted without its colour profile: colours come out shifted."),
            ("N4", READER),
        ),
        ProblemKind(
            "img-icc",
            "img-icc",
            "warning",
            lambda n: ngettext(
                "{count} image has a colour profile that is not sRGB: {names}.",
                "{count} images have colour profiles that are not sRGB: {names}.",
                n,
            ),
            lambda: _(
                "The trainer does not apply it: colours come out paler or shifted. Convert it to sRGB."
            ),
            (READER,),
        ),
        ProblemKind(
            "img-palette",
            "img-palette",
            "hint",
            lambda n: ngettext(
                "{count} image has a palette of at most 256 colours: {names}.",
                "{count} images have palettes of at most 256 colours: {names}.",
                n,
            ),
            lambda: _("It can be read; its fine shades are lost already."),
            (READER,),
        ),
        ProblemKind(
            "img-16bit-clipped",
            "img-16bit",
            "danger",
            lambda n: ngettext(
                "{count} image has 16 bits a pixel and becomes nearly white: {names}.",
                "{count} images have 16 bits a pixel and become nearly white: {names}.",
                n,
            ),
            lambda: _(
                "The trainer’s reader cuts the upper levels off instead of scaling them. Save it with 8 bits."
            ),
            (READER,),
        ),
        ProblemKind(
            "img-16bit",
            "img-16bit",
            "hint",
            lambda n: ngettext(
                "{count} image has more than 8 bits a channel: {names}.",
                "{count} images have more than 8 bits a channel: {names}.",
                n,
            ),
            lambda: _("It is read with 8; nothing that training could use is lost."),
            (READER,),
        ),
        ProblemKind(
            "img-grey",
            "img-grey",
            "hint",
            lambda n: ngettext(
                "{count} image has no colours: {names}.", "{count} images have no colours: {names}.", n
            ),
            lambda: _("The LoRA learns that. If it shall not, say so in the caption, or take it out."),
            ("N4",),
        ),
    )


def _shape() -> tuple[ProblemKind, ...]:
    return (
        ProblemKind(
            "img-small",
            "img-small",
            "warning",
            lambda n: ngettext(
                "{count} image is smaller than 512 px on one side: {names}.",
                "{count} images are smaller than 512 px on one side: {names}.",
                n,
            ),
            lambda: _(
                "Images of at least 512 × 512, better 768, teach details; smaller ones teach softness."
            ),
            ("T10",),
        ),
        ProblemKind(
            "img-ratio",
            "img-ratio",
            "warning",
            lambda n: ngettext(
                "{count} image is extremely long or high: {names}.",
                "{count} images are extremely long or high: {names}.",
                n,
            ),
            lambda: _("Much of it is cut off or shrunk away. Crop it to what shall be learned."),
            ("S2",),
        ),
        ProblemKind(
            "img-large",
            "img-huge",
            "warning",
            lambda n: ngettext(
                "{count} image has more than 64 megapixels: {names}.",
                "{count} images have more than 64 megapixels: {names}.",
                n,
            ),
            lambda: _("Decoding it takes long and hundreds of megabytes. Training shrinks it anyway."),
            ("DATA-08",),
        ),
    )


def _look() -> tuple[ProblemKind, ...]:
    return (
        ProblemKind(
            "img-jpeg",
            "img-jpeg",
            "hint",
            lambda n: ngettext(
                "{count} image has strong JPEG artefacts: {names}.",
                "{count} images have strong JPEG artefacts: {names}.",
                n,
            ),
            lambda: _(
                "Blocks and rings are learned like everything else. Take a better copy if there is one."
            ),
            ("T10",),
        ),
        ProblemKind(
            "img-blur",
            "img-blur",
            "hint",
            lambda n: ngettext(
                "{count} image is blurred: {names}.", "{count} images are blurred: {names}.", n
            ),
            lambda: _("Nothing in it is sharp, or it was enlarged. Look whether it shall be learned."),
            ("T10",),
        ),
    )


def _among() -> tuple[ProblemKind, ...]:
    return (
        ProblemKind(
            "img-dup",
            "img-dup",
            "warning",
            lambda n: ngettext(
                "{count} image is there more than once: {names}.",
                "{count} images are there more than once: {names}.",
                n,
            ),
            lambda: _("The very same file counts double. Use the repeats of a folder for that, or keep one."),
            ("T2",),
        ),
        ProblemKind(
            "img-near",
            "img-near",
            "hint",
            lambda n: ngettext(
                "{count} image looks almost like another one: {names}.",
                "{count} images look almost like others: {names}.",
                n,
            ),
            lambda: _("Nearly identical pictures teach the picture, not the subject. Keep the best of them."),
            ("T2",),
        ),
        ProblemKind(
            "img-dupstem",
            "img-dupstem",
            "warning",
            lambda n: ngettext(
                "{count} image shares its name with another one: {names}.",
                "{count} images share their names with others: {names}.",
                n,
            ),
            lambda: _("Files that differ in the ending alone share one caption and one cache. Rename one."),
            ("DATA-14", "trainer: train_util.py:1946"),
        ),
    )
