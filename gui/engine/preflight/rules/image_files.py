"""Rules about image files, as far as names, headers and tails tell.

Source: DATA-05 to DATA-08, DATA-14; trainer-facts 2.5, 6.1 (train_util.py:104-129, 1478, 2948).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from gui.engine.findings import Finding, Fix
from gui.engine.preflight.facts import SubsetFact
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import by_hand, first_few
from gui.engine.preflight.rules.subset_findings import subset_finding
from gui.engine.preflight.view import SubsetView, View
from gui.engine.texts import _, ngettext

SMALL_PX = 512
"""A side below this has too little to learn from (T10)."""

SMALL_SHARE = 0.1
"""From this share of small images on it is said."""


def known_folders(view: View) -> Iterator[tuple[SubsetView, SubsetFact]]:
    """Return the subsets that the plan itself names, and whose folders are known."""
    for subset, fact in view.subset_facts if view.dataset_known else ():
        if subset.own and fact is not None:
            yield subset, fact


def set_aside() -> Fix:
    """Return the fix that takes images out of a folder, by hand."""
    return by_hand("set-aside-images", _("take these images out of the folder"))


_finding = partial(subset_finding, key="image_dir")


def _faulty(fact: SubsetFact, kind: str) -> list[str]:
    return [fault.name for fault in fact.image_faults if fault.kind == kind]


def check_img_decode(view: View) -> Iterator[Finding]:
    """A broken or cut off image stops the trainer when its turn comes (DATA-05, DATA-06)."""
    for subset, fact in known_folders(view):
        names = _faulty(fact, "unreadable")
        if names:
            yield _finding(
                subset,
                "img-decode",
                "stop",
                ngettext(
                    "{count} image cannot be read: {names}",
                    "{count} images cannot be read: {names}",
                    len(names),
                ).format(count=len(names), names=first_few(names)),
                _("They are empty, broken or cut off. The trainer stops at the first one, perhaps late."),
                fix=set_aside(),
                sources=(
                    "N4",
                    "DATA-05",
                    "DATA-06",
                ),
            )


def check_img_magic(view: View) -> Iterator[Finding]:
    """Something else behind an image's name stops the trainer as well (DATA-07)."""
    for subset, fact in known_folders(view):
        faults = [fault for fault in fact.image_faults if fault.kind == "format"]
        if faults:
            names = [f"{fault.name} ({fault.what})" for fault in faults]
            yield _finding(
                subset,
                "img-magic",
                "stop",
                ngettext(
                    "{count} file is something else than its name says: {names}",
                    "{count} files are something else than their names say: {names}",
                    len(faults),
                ).format(count=len(faults), names=first_few(names)),
                _("The trainer cannot read them and stops. Convert them to PNG or JPEG, or take them out."),
                fix=by_hand("convert-images", _("convert these images")),
                sources=("DATA-07",),
            )


def check_img_huge(view: View) -> Iterator[Finding]:
    """Pillow warns of very large images, and refuses twice that (DATA-08)."""
    for subset, fact in known_folders(view):
        bombs, large = _faulty(fact, "bomb"), _faulty(fact, "large")
        if not bombs and not large:
            continue
        yield _finding(
            subset,
            "img-huge",
            "stop" if bombs else "warning",
            (
                ngettext(
                    "{count} image is so large that it is refused: {names}",
                    "{count} images are so large that they are refused: {names}",
                    len(bombs),
                )
                if bombs
                else ngettext(
                    "{count} image is needlessly large: {names}",
                    "{count} images are needlessly large: {names}",
                    len(large),
                )
            ).format(count=len(bombs or large), names=first_few(bombs or large)),
            _("More than 178 million pixels are taken for an attack; more than 64 million only cost time."),
            fix=by_hand("scale-images", _("scale these images down")),
            sources=("DATA-08",),
        )


def check_img_macosx(view: View) -> Iterator[Finding]:
    """What macOS notes beside files has an image's ending, and is none (DATA-07)."""
    for subset, fact in known_folders(view):
        if fact.mac_files:
            yield _finding(
                subset,
                "img-macosx",
                "hint",
                ngettext(
                    "{count} file is a note of macOS, no image: {names}",
                    "{count} files are notes of macOS, no images: {names}",
                    len(fact.mac_files),
                ).format(count=len(fact.mac_files), names=first_few(fact.mac_files)),
                _("The trainer passes over them; its captioning tools take them for images and stop."),
                fix=set_aside(),
                sources=(
                    "DATA-07",
                    "trainer: train_util.py:2851, 2859",
                ),
            )


def check_img_dupstem(view: View) -> Iterator[Finding]:
    """Images whose names differ only in the ending share a caption and caches (DATA-14)."""
    for subset, fact in known_folders(view):
        if fact.same_stem:
            yield _finding(
                subset,
                "img-dupstem",
                "warning",
                _("Several images have the same name but for the ending: {names}").format(
                    names=first_few(fact.same_stem)
                ),
                _("They get the same caption, and the caches of one are taken for the other."),
                fix=by_hand("rename-images", _("give them names of their own")),
                sources=(
                    "DATA-14",
                    "trainer: strategy_sd.py:150-158",
                ),
            )


def check_img_skipped(view: View) -> Iterator[Finding]:
    """The trainer passes over formats that it does not read, in silence (trainer-facts 6.1)."""
    for subset, fact in known_folders(view):
        if fact.unread:
            counted = ", ".join(f"{suffix} ({count})" for suffix, count in sorted(fact.unread.items()))
            yield _finding(
                subset,
                "img-skipped",
                "warning",
                _("Images are passed over because of how their names end: {endings}").format(endings=counted),
                _(
                    "The trainer reads .png, .jpg, .jpeg, .webp and .bmp, all in small or all in capital "
                    "letters."
                ),
                fix=by_hand("convert-images", _("convert or rename these images")),
                sources=("trainer: train_util.py:104-129",),
            )


def check_img_small(view: View) -> Iterator[Finding]:
    """Small images are blown up, and their blur is learnt (T10)."""
    for subset, fact in known_folders(view):
        small = sum(count for size, count in fact.measured.items() if min(size) < SMALL_PX)
        whole = sum(fact.measured.values())
        if whole and small / whole >= SMALL_SHARE:
            yield _finding(
                subset,
                "img-small",
                "hint",
                ngettext(
                    "{count} of {whole} images is smaller than {side} pixels.",
                    "{count} of {whole} images are smaller than {side} pixels.",
                    small,
                ).format(count=small, whole=whole, side=SMALL_PX),
                _("They are enlarged, and what that blurs is learnt. 768 pixels and more are better."),
                fix=set_aside(),
                sources=("T10",),
            )


def check_control_pairs(view: View) -> Iterator[Finding]:
    """Each image needs its conditioning image of the same size, and none may be left over (1.6)."""
    for subset, fact in known_folders(view):
        pairs = fact.pairs
        if pairs is None or not view.is_paired(subset):
            continue
        if pairs.without:
            names = pairs.without
            title = ngettext(
                "{count} image has no conditioning image: {names}",
                "{count} images have no conditioning image: {names}",
                len(names),
            )
        elif pairs.surplus:
            names = pairs.surplus
            title = ngettext(
                "{count} conditioning image belongs to no image: {names}",
                "{count} conditioning images belong to no image: {names}",
                len(names),
            )
        elif pairs.other_size and view.dataset_of(subset).flag("enable_bucket"):
            names = pairs.other_size
            title = ngettext(
                "{count} conditioning image has another size than its image: {names}",
                "{count} conditioning images have another size than their image: {names}",
                len(names),
            )
        else:
            continue
        yield _finding(
            subset,
            "control-pairs",
            "stop",
            title.format(count=len(names), names=first_few(names)),
            _("The trainer insists on one for each image, by name, and with buckets of its size."),
            fix=by_hand("complete-pairs", _("complete the pairs")),
            sources=("trainer: train_util.py:2487-2490, 2537",),
        )


RULES: tuple[Rule, ...] = (
    Rule("img-decode", check_img_decode, ("DATA-05", "DATA-06", "N4"), lambda: _("Images can be read")),
    Rule("img-magic", check_img_magic, ("DATA-07",), lambda: _("Images are what their names say")),
    Rule("img-huge", check_img_huge, ("DATA-08",), lambda: _("Images that are too large")),
    Rule("img-macosx", check_img_macosx, ("DATA-07",), lambda: _("Notes of macOS among the images")),
    Rule("img-dupstem", check_img_dupstem, ("DATA-14",), lambda: _("Images of the same name")),
    Rule(
        "img-skipped",
        check_img_skipped,
        ("trainer: train_util.py:104",),
        lambda: _("Images that are passed over"),
    ),
    Rule("img-small", check_img_small, ("T10",), lambda: _("Images that are too small")),
    Rule(
        "control-pairs",
        check_control_pairs,
        ("trainer: train_util.py:2487",),
        lambda: _("Images and their conditioning images"),
    ),
)
