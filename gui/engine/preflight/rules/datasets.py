"""Rules about folders of images: that they are there, and taken as they are meant.

Source: trainer-facts 1.13, 6.2, 6.4 (train_network.py:575, config_util.py:607-638, train_util.py:2112-2184).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gui.engine.findings import Finding, Fix
from gui.engine.plan.dataset_options import folder_name_parts
from gui.engine.preflight.facts import Layout, SubsetFact
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import by_hand, first_few, write
from gui.engine.preflight.steps import forecast_steps
from gui.engine.preflight.view import SubsetView, View
from gui.engine.texts import _, ngettext

REG_SHARE = 3
"""Regularisation images for each training image, at least (T9)."""

ONCE = 1
"""Repeats to start from where a folder's name tells none."""


def _listed(view: View) -> Iterator[tuple[SubsetView, SubsetFact | None]]:
    """Return the subsets that the plan itself names, with what is known about their folders."""
    for subset, fact in view.subset_facts if view.dataset_known else ():
        if subset.own:
            yield subset, fact


def _out(subset: SubsetView, *, safe: bool = False) -> Fix:
    return write({subset.target: None}, _("leave this folder out"), identity="leave-out", safe=safe)


def _ways_out(view: View, subset: SubsetView) -> tuple[Fix, ...]:
    """Offer to leave a folder out, where its dataset still has others to train on then."""
    dataset = subset.target.split(".subsets.")[0]
    others = [
        other
        for other, _fact in _listed(view)
        if other is not subset and other.target.startswith(f"{dataset}.subsets.") and not other.is_reg
    ]
    return (_out(subset),) if others else ()


def check_data_missing(view: View) -> Iterator[Finding]:
    """A folder that is not there is passed over with a warning (train_util.py:1974)."""
    for subset, fact in _listed(view):
        if fact is None or fact.exists is not False:
            continue
        yield Finding(
            id="data-missing",
            severity="stop",
            title=_("The folder of images {path} does not exist.").format(path=fact.image_dir),
            detail=_("The trainer passes over it and trains on what is left, or ends at once."),
            arguments=(subset.target_of("image_dir"),),
            where=subset.target,
            fixes=_ways_out(view, subset),
            sources=("DATA-01", "trainer: train_util.py:1974"),
        )


def _without_images(view: View, *, nested: bool) -> Iterator[tuple[SubsetView, SubsetFact]]:
    for subset, fact in _listed(view):
        if fact is None or fact.images != 0 or fact.exists is False or subset.own.get("metadata_file"):
            continue
        if bool(fact.sub_folders) is nested:
            yield subset, fact


def check_data_empty(view: View) -> Iterator[Finding]:
    """A folder without images is passed over (train_util.py:2132)."""
    for subset, fact in _without_images(view, nested=False):
        title = _("The folder {path} holds no images that the trainer reads.")
        yield _no_images_in(view, "data-empty", title, subset, fact)


def check_data_nested(view: View) -> Iterator[Finding]:
    """Sub-folders are never looked into (train_util.py:2847)."""
    for subset, fact in _without_images(view, nested=True):
        title = _("The images lie in sub-folders of {path}, where the trainer does not look.")
        yield _no_images_in(view, "data-nested", title, subset, fact)


def _no_images_in(view: View, identity: str, title: str, subset: SubsetView, fact: SubsetFact) -> Finding:
    return Finding(
        id=identity,
        severity="stop",
        title=title.format(path=fact.image_dir),
        detail=_("It passes over the folder and trains on what is left, or ends at once, with status 0."),
        arguments=(subset.target_of("image_dir"),),
        where=subset.target,
        fixes=_ways_out(view, subset),
        sources=("DATA-01", "trainer: train_util.py:2132, 2847, train_network.py:575"),
    )


def check_no_data(view: View) -> Iterator[Finding]:
    """Without training images the trainer ends at once, with status 0 (train_network.py:575)."""
    listed = list(_listed(view))
    only_reg = bool(listed) and all(subset.is_reg for subset, _fact in listed)
    fact = view.facts.dataset
    none = fact is not None and fact.images == 0 and not fact.subsets
    if not only_reg and not none:
        return
    first = listed[0][0] if listed else None
    fix = (
        (write({first.target_of("is_reg"): False}, _("train on the first folder"), identity="train"),)
        if first is not None and only_reg
        else ()
    )
    yield Finding(
        id="no-data",
        severity="stop",
        title=(
            _("All folders hold regularisation images: nothing is left to learn.")
            if only_reg
            else _("There are no images to train on.")
        ),
        detail=_("The trainer ends at once, and says that all is well."),
        arguments=("dataset.subsets",),
        where="dataset.subsets",
        fixes=fix,
        sources=("DATA-01", "trainer: train_network.py:575"),
    )


def check_data_leaf(view: View) -> Iterator[Finding]:
    """``train_data_dir`` is the parent of folders, not the folder of images itself (DATA-01)."""
    parent = _parent(view, "leaf")
    if parent is None:
        return
    title = _("train_data_dir points at the images themselves, not at the folder above them.")
    yield _not_a_parent("data-leaf", title, parent)


def check_data_name(view: View) -> Iterator[Finding]:
    """The folders in ``train_data_dir`` are named ``N_name`` (DATA-02, DATA-03, DATA-04)."""
    yield from _passed_over(view)
    parent = _parent(view, "flat")
    if parent is None:
        return
    title = _("train_data_dir holds no folder whose name begins with a number of repeats.")
    inside = view.facts.dataset.passed_over if view.facts.dataset else ()
    yield _not_a_parent("data-name", title, parent, _within(parent, inside) if inside else None)


def _passed_over(view: View) -> Iterator[Finding]:
    """Folders beside well named ones are passed over with a warning (config_util.py:607-638)."""
    names = view.facts.dataset.passed_over if view.facts.dataset else ()
    if not names or _parent(view, "parent") is None:
        return
    yield Finding(
        id="data-name",
        severity="warning",
        title=ngettext(
            "{count} folder is passed over: {names}", "{count} folders are passed over: {names}", len(names)
        ).format(count=len(names), names=first_few(names)),
        detail=_("Their names do not begin with a number of repeats from 1 on, such as “10_name”."),
        arguments=("train_data_dir",),
        where="train_data_dir",
        fixes=(by_hand("rename-folders", _("give them names like “10_name”")),),
        sources=("DATA-02", "DATA-04", "trainer: config_util.py:607-638"),
    )


def _parent(view: View, layout: Layout) -> str | None:
    """Return ``train_data_dir`` as the user wrote it, where it is laid out so."""
    if view.facts.dataset is None or view.facts.dataset.layout != layout:
        return None
    parent = (view.own or view.plan).arguments.get("train_data_dir")
    return parent if isinstance(parent, str) and parent else None


def _within(parent: str, names: tuple[str, ...]) -> Fix:
    """Return the fix that trains on the folders in a folder, whose names tell no repeats."""
    root = parent.rstrip("\\/")
    subsets = [{"image_dir": f"{root}/{name}", "num_repeats": ONCE} for name in names]
    return write(
        {"train_data_dir": None, "dataset.subsets": subsets},
        _("train on the images in {folders}, each once an epoch").format(folders=first_few(names)),
        identity="subset",
    )


def _itself(parent: str) -> Fix:
    """Return the fix that trains on the images in a folder, as often as its name says."""
    name = re.split(r"[\\/]", parent.rstrip("\\/"))[-1]
    parts = folder_name_parts(name)
    repeats, words = parts or (ONCE, "")
    subset: dict[str, Any] = {"image_dir": parent, "num_repeats": repeats}
    if words:
        subset["class_tokens"] = words
    return write(
        {"train_data_dir": None, "dataset.subsets": [subset]},
        ngettext(
            "train on the images in {folder}, once an epoch",
            "train on the images in {folder}, {repeats} times an epoch",
            repeats,
        ).format(folder=name, repeats=repeats),
        identity="subset",
        safe=parts is not None,
    )


def _not_a_parent(identity: str, title: str, parent: str, fix: Fix | None = None) -> Finding:
    return Finding(
        id=identity,
        severity="stop",
        title=title,
        detail=_(
            "The trainer looks in it for folders named like “10_name”. It finds none, ends at once, and says "
            "that all is well."
        ),
        arguments=("train_data_dir",),
        where="train_data_dir",
        fixes=(fix or _itself(parent),),
        sources=("DATA-01", "DATA-02", "DATA-03", "trainer: config_util.py:607-638"),
    )


def check_repeats(view: View) -> Iterator[Finding]:
    """A folder with repeats below 1 is passed over (train_util.py:2119)."""
    repeats = {subset.target: subset.number("num_repeats") for subset, _fact in _listed(view)}
    nothing_left = all(number is not None and number < 1 for number in repeats.values())
    for subset, _fact in _listed(view):
        number = repeats[subset.target]
        if number is None or number >= 1:
            continue
        detail = _("The trainer passes over folders with less than 1 repeat.")
        if nothing_left:
            detail += " " + _("Nothing is left to train on.")
        elif view.is_paired(subset):
            detail += " " + _("It stops at the conditioning images that are left over.")
        yield Finding(
            id="repeats-zero",
            severity="stop" if nothing_left or view.is_paired(subset) else "danger",
            title=_("{path} is not trained: its repeats are {repeats:g}.").format(
                path=subset.value("image_dir"), repeats=number
            ),
            detail=detail,
            arguments=(subset.target_of("num_repeats"),),
            where=subset.target,
            fixes=(
                write({subset.target_of("num_repeats"): ONCE}, _("take each image once"), identity="once"),
            ),
            sources=("trainer: train_util.py:2119, 2490",),
        )


def check_dup_folder(view: View) -> Iterator[Finding]:
    """Of a folder that is named twice in one dataset the second is passed over (train_util.py:2124)."""
    seen: set[tuple[str, str]] = set()
    for subset, _fact in _listed(view):
        folder = subset.value("image_dir")
        if not isinstance(folder, str) or subset.own.get("metadata_file"):
            continue
        key = subset.target.split(".subsets.")[0], folder
        if key in seen:
            yield Finding(
                id="dup-folder",
                severity="warning",
                title=_("{path} is named twice; the second time is passed over.").format(path=folder),
                detail=_("Its repeats and options do not count. Raise the repeats of the first one."),
                arguments=(subset.target_of("image_dir"),),
                where=subset.target,
                fixes=(_out(subset, safe=True),),
                sources=("trainer: train_util.py:2124",),
            )
        seen.add(key)


def check_steps_reg(view: View) -> Iterator[Finding]:
    """Regularisation images are repeated until they are as many: steps double (DATA-15)."""
    if not any(subset.is_reg for subset, _fact in _listed(view)):
        return
    forecast = forecast_steps(view)
    by_epochs = view.given("max_train_epochs")
    if forecast is None:
        figures = ""
    elif by_epochs:
        figures = " " + ngettext(
            "{epochs} epoch is {steps} steps.", "{epochs} epochs are {steps} steps.", forecast.epochs
        ).format(epochs=forecast.epochs, steps=forecast.total_steps)
    else:
        figures = " " + ngettext(
            "{steps} step is {epochs} epochs.", "{steps} steps are {epochs} epochs.", forecast.total_steps
        ).format(epochs=forecast.epochs, steps=forecast.total_steps)
    yield Finding(
        id="steps-reg",
        severity="warning" if by_epochs else "hint",
        title=_("Regularisation images double the steps of an epoch."),
        detail=_("They are repeated until they are as many as the training images.") + figures,
        arguments=("max_train_epochs" if by_epochs else "max_train_steps",),
        sources=("DATA-15", "trainer: train_util.py:2160-2184"),
    )


def check_reg_unused(view: View) -> Iterator[Finding]:
    """Surplus regularisation images are never used (train_util.py:2158)."""
    forecast = forecast_steps(view)
    if forecast is None or not forecast.reg_images:
        return
    given = 0
    for subset, fact in _listed(view):
        if subset.is_reg:
            if fact is None or fact.images is None:
                return
            given += fact.images * max(0, int(subset.number("num_repeats") or ONCE))
    unused = given - forecast.reg_images
    if unused > 0:
        yield Finding(
            id="reg-unused",
            severity="hint",
            title=ngettext(
                "{count} regularisation image (with repeats) is not used.",
                "{count} regularisation images (with repeats) are not used.",
                unused,
            ).format(count=unused),
            detail=_("The trainer takes as many as there are training images with repeats, in their order."),
            arguments=("dataset.subsets",),
            sources=("T9", "trainer: train_util.py:2158-2184"),
        )


def check_reg_ratio(view: View) -> Iterator[Finding]:
    """For a person three to five regularisation images for each training image are advised (T9)."""
    counts = {True: 0, False: 0}
    for subset, fact in _listed(view):
        if fact is None or fact.images is None:
            return
        counts[subset.is_reg] += fact.images
    if not counts[True] or not counts[False] or counts[True] >= counts[False] * REG_SHARE:
        return
    yield Finding(
        id="reg-ratio",
        severity="hint",
        title=ngettext(
            "{reg} regularisation image stands beside {images} images.",
            "{reg} regularisation images stand beside {images} images.",
            counts[True],
        ).format(reg=counts[True], images=counts[False]),
        detail=_(
            "For a person three to five times as many are advised; few ones are repeated until they fit."
        ),
        arguments=("dataset.subsets",),
        fixes=(by_hand("add-regularisation", _("add regularisation images")),),
        sources=("T9",),
    )


def check_batch_size(view: View) -> Iterator[Finding]:
    """A batch holds at least one image."""
    for dataset in view.dataset_views if view.dataset_known else ():
        size = dataset.number("batch_size")
        if size is None or size >= 1:
            continue
        yield Finding(
            id="batch-size",
            severity="stop",
            title=_("A batch size of {size:g} holds no image.").format(size=size),
            detail=_("The trainer divides by it and stops."),
            arguments=(dataset.target_of("batch_size"),),
            where=dataset.target,
            fixes=(
                write(
                    {dataset.target_of("batch_size"): 1},
                    _("take one image a batch"),
                    identity="one",
                    safe=True,
                ),
            ),
            sources=("trainer: train_util.py:1078",),
        )


RULES: tuple[Rule, ...] = (
    Rule("data-missing", check_data_missing, ("DATA-01",), lambda: _("Folders of images exist")),
    Rule("data-empty", check_data_empty, ("DATA-01",), lambda: _("Folders of images hold images")),
    Rule("data-nested", check_data_nested, ("DATA-01",), lambda: _("Images in sub-folders")),
    Rule("no-data", check_no_data, ("DATA-01",), lambda: _("There is something to train on")),
    Rule("data-leaf", check_data_leaf, ("DATA-01",), lambda: _("What train_data_dir points at")),
    Rule("data-name", check_data_name, ("DATA-02", "DATA-03"), lambda: _("How folders are named")),
    Rule("repeats-zero", check_repeats, ("trainer: train_util.py:2119",), lambda: _("Repeats below 1")),
    Rule("dup-folder", check_dup_folder, ("trainer: train_util.py:2124",), lambda: _("Folders named twice")),
    Rule("steps-reg", check_steps_reg, ("DATA-15",), lambda: _("Regularisation images and steps")),
    Rule("reg-unused", check_reg_unused, ("T9",), lambda: _("Regularisation images that are not used")),
    Rule("reg-ratio", check_reg_ratio, ("T9",), lambda: _("How many regularisation images there are")),
    Rule("batch-size", check_batch_size, ("trainer: train_util.py:1078",), lambda: _("The batch size")),
)
