"""Trouble with pictures: their colours, sizes and looks, and what a plan does with them."""

from __future__ import annotations

from gui.engine.dataset.problem_kind import READER, ProblemKind
from gui.engine.texts import _, ngettext

COLOURS_KINDS: tuple[ProblemKind, ...] = (
    ProblemKind(
        "img-alpha",
        "img-alpha",
        "warning",
        lambda n: ngettext(
            "{count} image is partly transparent: {names}",
            "{count} images are partly transparent: {names}",
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
            "{count} image is in print colours (CMYK): {names}",
            "{count} images are in print colours (CMYK): {names}",
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
            "{count} image has a colour profile that is not sRGB: {names}",
            "{count} images have colour profiles that are not sRGB: {names}",
            n,
        ),
        lambda: _("The trainer does not apply it: colours come out paler or shifted. Convert it to sRGB."),
        (READER,),
    ),
    ProblemKind(
        "img-palette",
        "img-palette",
        "hint",
        lambda n: ngettext(
            "{count} image has a palette of at most 256 colours: {names}",
            "{count} images have palettes of at most 256 colours: {names}",
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
            "{count} image has 16 bits a pixel and becomes nearly white: {names}",
            "{count} images have 16 bits a pixel and become nearly white: {names}",
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
            "{count} image has more than 8 bits a channel: {names}",
            "{count} images have more than 8 bits a channel: {names}",
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
            "{count} image has no colours: {names}", "{count} images have no colours: {names}", n
        ),
        lambda: _("The LoRA learns that. If it shall not, say so in the caption, or take it out."),
        ("N4",),
    ),
)
"""Colours that the trainer reads otherwise."""


SHAPE_KINDS: tuple[ProblemKind, ...] = (
    ProblemKind(
        "img-small",
        "img-small",
        "warning",
        lambda n: ngettext(
            "{count} image is smaller than 512 px on one side: {names}",
            "{count} images are smaller than 512 px on one side: {names}",
            n,
        ),
        lambda: _("Images of at least 512 × 512, better 768, teach details; smaller ones teach softness."),
        ("T10",),
    ),
    ProblemKind(
        "img-ratio",
        "img-ratio",
        "warning",
        lambda n: ngettext(
            "{count} image is extremely long or high: {names}",
            "{count} images are extremely long or high: {names}",
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
            "{count} image has more than 64 megapixels: {names}",
            "{count} images have more than 64 megapixels: {names}",
            n,
        ),
        lambda: _("Decoding it takes long and hundreds of megabytes. Training shrinks it anyway."),
        ("DATA-08",),
    ),
)
"""Sizes."""


LOOK_KINDS: tuple[ProblemKind, ...] = (
    ProblemKind(
        "img-jpeg",
        "img-jpeg",
        "hint",
        lambda n: ngettext(
            "{count} image has strong JPEG artefacts: {names}",
            "{count} images have strong JPEG artefacts: {names}",
            n,
        ),
        lambda: _("Blocks and rings are learned like everything else. Take a better copy if there is one."),
        ("T10",),
    ),
    ProblemKind(
        "img-blur",
        "img-blur",
        "hint",
        lambda n: ngettext("{count} image is blurred: {names}", "{count} images are blurred: {names}", n),
        lambda: _("Nothing in it is sharp, or it was enlarged. Look whether it shall be learned."),
        ("T10",),
    ),
)
"""What can be seen."""


PLACED_KINDS: tuple[ProblemKind, ...] = (
    ProblemKind(
        "bucket-thin",
        "bucket-thin",
        "stop",
        lambda n: ngettext(
            "{count} image is too thin for any bucket: {names}",
            "{count} images are too thin for any bucket: {names}",
            n,
        ),
        lambda: _("A side of its bucket becomes 0 pixels, and the trainer divides by zero."),
        ("trainer: train_util.py:337-345",),
    ),
    ProblemKind(
        "img-enlarged",
        "img-enlarged",
        "warning",
        lambda n: ngettext(
            "{count} image is blown up to the training size: {names}",
            "{count} images are blown up to the training size: {names}",
            n,
        ),
        lambda: _("Half again as long and more: the softness is learned. bucket_no_upscale leaves it small."),
        ("S2", "T10"),
    ),
    ProblemKind(
        "img-cut",
        "img-cut",
        "warning",
        lambda n: ngettext(
            "{count} image loses a quarter or more when it is cropped to its bucket: {names}",
            "{count} images lose a quarter or more when they are cropped to their buckets: {names}",
            n,
        ),
        lambda: _("What lies at the edge is never seen. Crop it yourself, or let buckets reach further."),
        ("S2",),
    ),
    ProblemKind(
        "img-webp-size",
        "img-webp-size",
        "hint",
        lambda n: ngettext(
            "{count} WebP image is taken for one pixel smaller than it is: {names}",
            "{count} WebP images are taken for one pixel smaller than they are: {names}",
            n,
        ),
        lambda: _("The trainer’s header reader errs here, and it gets a smaller bucket. Save it as PNG."),
        ("trainer: train_util.py:1482",),
    ),
)
"""What becomes of sizes under a plan."""
