"""Trouble with image files: what cannot be read, what is odd, what is there twice."""

from __future__ import annotations

from gui.engine.dataset.problem_kind import READER, ProblemKind
from gui.engine.texts import _, ngettext

UNREADABLE_KINDS: tuple[ProblemKind, ...] = (
    ProblemKind(
        "img-truncated",
        "img-decode",
        "stop",
        lambda n: ngettext("{count} image is cut off: {names}", "{count} images are cut off: {names}", n),
        lambda: _("The trainer stops when it comes to it, perhaps after hours. Get the file anew."),
        ("N4", "DATA-05", READER),
    ),
    ProblemKind(
        "img-decode",
        "img-decode",
        "stop",
        lambda n: ngettext(
            "{count} image cannot be decoded: {names}", "{count} images cannot be decoded: {names}", n
        ),
        lambda: _("The trainer stops when it comes to it, perhaps after hours. Save it anew or take it out."),
        ("N5", "DATA-05", "DATA-06", READER),
    ),
    ProblemKind(
        "img-empty",
        "img-decode",
        "stop",
        lambda n: ngettext(
            "{count} image file is empty: {names}", "{count} image files are empty: {names}", n
        ),
        lambda: _("The trainer divides by its size, which is zero, and stops."),
        ("N4", "trainer: train_util.py:1478, 287"),
    ),
    ProblemKind(
        "img-denied",
        "img-decode",
        "stop",
        lambda n: ngettext(
            "{count} image must not be read, or leads nowhere: {names}",
            "{count} images must not be read, or lead nowhere: {names}",
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
            "{count} image went away while it was looked at: {names}",
            "{count} images went away while they were looked at: {names}",
            n,
        ),
        lambda: _("Somebody works on the folder. Look again when that is done."),
        ("N5",),
    ),
    ProblemKind(
        "img-crash",
        "img-crash",
        "danger",
        lambda n: ngettext(
            "The decoder crashes or never ends on {count} image: {names}",
            "The decoder crashes or never ends on {count} images: {names}",
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
            "{count} image has too many pixels to be decoded: {names}",
            "{count} images have too many pixels to be decoded: {names}",
            n,
        ),
        lambda: _("Above 178 megapixels the decoder takes it for an attack and refuses; the trainer stops."),
        ("DATA-08", READER),
    ),
)
"""Images without pixels."""


FILE_KINDS: tuple[ProblemKind, ...] = (
    ProblemKind(
        "img-magic",
        "img-magic",
        "stop",
        lambda n: ngettext(
            "{count} file is not the image that its name says, and cannot be read: {names}",
            "{count} files are not the images that their names say, and cannot be read: {names}",
            n,
        ),
        lambda: _("A HEIC photo or a web page was given another ending, for instance. Convert or remove it."),
        ("DATA-07", READER),
    ),
    ProblemKind(
        "img-avif",
        "img-format",
        "danger",
        lambda n: ngettext(
            "{count} image is really AVIF: {names}", "{count} images are really AVIF: {names}", n
        ),
        lambda: _("Only a new Pillow reads it; with an older one the trainer stops. Convert it."),
        ("DATA-07", READER),
    ),
    ProblemKind(
        "img-format",
        "img-format",
        "warning",
        lambda n: ngettext(
            "{count} image is of another format than its name says: {names}",
            "{count} images are of other formats than their names say: {names}",
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
            "{count} image could not be looked at here: {names}",
            "{count} images could not be looked at here: {names}",
            n,
        ),
        lambda: _("The trainer has a decoder for this format, and this program has none."),
        ("N5",),
    ),
    ProblemKind(
        "img-end",
        "img-end",
        "warning",
        lambda n: ngettext(
            "{count} image does not end as it should: {names}",
            "{count} images do not end as they should: {names}",
            n,
        ),
        lambda: _("The trainer reads it without a word. A part of the picture may be missing: look at it."),
        ("N4", READER),
    ),
    ProblemKind(
        "img-animated",
        "img-animated",
        "warning",
        lambda n: ngettext(
            "{count} image is an animation: {names}", "{count} images are animations: {names}", n
        ),
        lambda: _("Only the first picture is trained."),
        (READER,),
    ),
    ProblemKind(
        "img-exif",
        "img-exif",
        "warning",
        lambda n: ngettext(
            "{count} image lies on its side or upside down for the trainer: {names}",
            "{count} images lie on their sides or upside down for the trainer: {names}",
            n,
        ),
        lambda: _("Viewers turn it as its EXIF data says; the trainer does not. Save it turned."),
        ("trainer: train_util.py:1478, 2948",),
    ),
)
"""What can be odd about a file whose pixels can be read."""


AMONG_KINDS: tuple[ProblemKind, ...] = (
    ProblemKind(
        "img-dup",
        "img-dup",
        "warning",
        lambda n: ngettext(
            "{count} image is there more than once: {names}",
            "{count} images are there more than once: {names}",
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
            "{count} image looks almost like another one: {names}",
            "{count} images look almost like others: {names}",
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
            "{count} image shares its name with another one: {names}",
            "{count} images share their names with others: {names}",
            n,
        ),
        lambda: _("Files that differ in the ending alone share one caption and one cache. Rename one."),
        ("DATA-14", "trainer: train_util.py:1946"),
    ),
)
"""What images have to do with one another."""


MASK_KINDS: tuple[ProblemKind, ...] = (
    ProblemKind(
        "mask-missing",
        "control-pairs",
        "stop",
        lambda n: ngettext(
            "{count} image has no mask or conditioning image: {names}",
            "{count} images have no mask or conditioning image: {names}",
            n,
        ),
        lambda: _("The trainer insists on one of the same name for each image, and stops."),
        ("trainer: train_util.py:2487",),
    ),
    ProblemKind(
        "mask-extra",
        "control-pairs",
        "stop",
        lambda n: ngettext(
            "{count} mask or conditioning image belongs to no image: {names}",
            "{count} masks or conditioning images belong to no image: {names}",
            n,
        ),
        lambda: _("The trainer allows none to be left over, and stops."),
        ("trainer: train_util.py:2490",),
    ),
    ProblemKind(
        "mask-size",
        "control-pairs",
        "stop",
        lambda n: ngettext(
            "{count} image has a mask or conditioning image of another size: {names}",
            "{count} images have masks or conditioning images of other sizes: {names}",
            n,
        ),
        lambda: _("With buckets the trainer stops when it comes to it."),
        ("trainer: train_util.py:2537",),
    ),
    ProblemKind(
        "mask-unreadable",
        "control-pairs",
        "stop",
        lambda n: ngettext(
            "{count} mask or conditioning image cannot be read: {names}",
            "{count} masks or conditioning images cannot be read: {names}",
            n,
        ),
        lambda: _("The trainer stops when it comes to it."),
        (READER,),
    ),
)
"""What can be wrong between images and their masks or conditioning images."""
