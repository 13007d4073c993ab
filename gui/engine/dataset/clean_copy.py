"""Makes a copy of a dataset in a folder of its own in which everything that can be mended is.

The originals are only read. The copy can be called off and gone on with, also after a full disk or a crash:
each folder of it has a list of what came of every file, written as the files are.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from gui.engine.dataset.caption_edits import without_control
from gui.engine.dataset.caption_encoding import decoded
from gui.engine.dataset.caption_files import caption_names
from gui.engine.dataset.copy_list import CopiedFile, CopyHeader, CopyList, target_names
from gui.engine.dataset.image_look import MOST_BYTES, load_formats, look_at
from gui.engine.dataset.image_mending import ENDINGS, Mending, MendingWanted, mended, mendings
from gui.engine.dataset.image_problems import problems_of
from gui.engine.dataset.listing import list_folder
from gui.engine.dataset.pairing import stem_of
from gui.engine.dataset.presence import is_file
from gui.engine.dataset.scan import state_of
from gui.engine.dataset.spec import DatasetSpec, SubsetSpec
from gui.engine.dataset.thresholds import thresholds
from gui.engine.documents import read_bytes, reason_of, write_atomically
from gui.engine.errors import Cancelled, CannotRead, CannotWrite, PreflightError
from gui.engine.quantities import gib
from gui.engine.texts import _

RESERVE_BYTES = 100 << 20
"""So much of the disk must stay free."""

MASKS = "_masks"
"""How the copies of folders of masks end."""

Told = Callable[[int, int], None]


@dataclass(frozen=True)
class CleanCopy:
    """What came of a copy.

    Attributes:
        changes: What makes a plan use it: target to value.
        copied: How many images are in it.
        mended: How many of these differ from their originals.
        left_out: Names of images that are not in it, with their kind of trouble.
    """

    changes: dict[str, str]
    copied: int
    mended: int
    left_out: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Folder:
    """One folder and its copy."""

    subset: SubsetSpec
    names: tuple[str, ...]
    target: Path
    wanted: MendingWanted


def copy_clean(
    spec: DatasetSpec,
    target: Path,
    *,
    shrink: bool = False,
    told: Told = lambda _done, _total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> CleanCopy:
    """Copy all folders of a dataset, mended.

    Args:
        spec: Which folders, and how they are meant.
        target: Where to; a new or empty folder, or one with a part of the same copy.
        shrink: Whether images are shrunk to what their buckets need.
        told: Gets how many images are done, and how many there are.
        cancelled: Asked at each image; True ends it, what is done stays.

    Raises:
        CannotRead: A folder cannot be listed.
        CannotWrite: The copy cannot be written, there is no room, or something else is in its place.
        Cancelled: The caller asked for it.
    """
    folders = list(_folders(spec, target, shrink=shrink))
    _check_place(folders, target)
    load_formats()
    total, done = sum(len(folder.names) for folder in folders), 0
    results: list[CopiedFile] = []
    for folder in folders:
        for result in _copies(folder, shrink=shrink, cancelled=cancelled):
            results.append(result)
            done += 1
            told(done, total)
        _copy_masks(folder, cancelled)
    return CleanCopy(
        changes=_changes(spec, folders),
        copied=sum(result.target is not None for result in results),
        mended=sum(bool(result.did) for result in results if result.target),
        left_out=tuple((result.name, result.trouble) for result in results if result.target is None),
    )


def _folders(spec: DatasetSpec, target: Path, *, shrink: bool) -> Iterator[_Folder]:
    taken: dict[Path, str] = {}
    for subset in spec.subsets:
        if subset.image_dir in taken:
            continue
        name, number = subset.image_dir.name or "images", 1
        while name in taken.values():
            number += 1
            name = f"{subset.image_dir.name}_{number}"
        taken[subset.image_dir] = name
        wanted = MendingWanted(
            thresholds(),
            keep_alpha=subset.alpha_mask,
            keep_shape=subset.conditioning_data_dir is not None,
            buckets=subset.settings if shrink else None,
        )
        images = list_folder(subset.image_dir, subset.caption_extension, spec.suffixes).images
        yield _Folder(subset, images, target / name, wanted)


def _check_place(folders: Sequence[_Folder], target: Path) -> None:
    place = target.resolve()
    for folder in folders:
        source = folder.subset.image_dir.resolve()
        if place == source or place in source.parents or source in place.parents:
            raise CannotWrite(target, _("a copy must lie apart from its originals"))
    states = [state_of(folder.subset.image_dir / name) for folder in folders for name in folder.names]
    needed = sum(state.size_bytes for state in states if state) + RESERVE_BYTES
    try:
        target.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(target).free
    except OSError as error:
        raise CannotWrite(target, reason_of(error)) from error
    if free < needed:
        words = _("it needs about {needed}, and {free} are free")
        raise CannotWrite(target, words.format(needed=gib(needed), free=gib(free)))


def _copies(folder: _Folder, *, shrink: bool, cancelled: Callable[[], bool]) -> Iterator[CopiedFile]:
    header = CopyHeader(source=str(folder.subset.image_dir), shrink=shrink, wanted=repr(folder.wanted))
    names = dict(zip(folder.names, target_names(folder.names), strict=True))

    def copy(name: str) -> CopiedFile:
        if cancelled():
            raise Cancelled
        if name in known:  # its caption may have been changed since
            return known[name].model_copy(update={"caption": _copy_caption(folder, name, names[name])})
        return _copy(folder, name, names[name])

    with CopyList(folder.target, header) as listed:
        known = listed.still_true(folder.subset.image_dir)
        with ThreadPoolExecutor(max(1, min(8, os.cpu_count() or 1))) as pool:
            try:
                for result in pool.map(copy, folder.names):
                    if result.name not in known:
                        listed.add(result)
                    yield result
            finally:
                pool.shutdown(cancel_futures=True)


def _copy(folder: _Folder, name: str, stem: str) -> CopiedFile:
    source = folder.subset.image_dir / name
    state = state_of(source)
    size, changed = state if state else (-1, -1)
    row = CopiedFile(name=name, size_bytes=size, changed=changed)
    facts = look_at(source)
    if isinstance(facts, str) or facts.fault is not None:
        trouble = "img-gone" if isinstance(facts, str) else problems_of(name, facts, folder.wanted.limits)[0]
        return row.model_copy(update={"trouble": trouble})
    did: tuple[Mending, ...] = mendings(facts, folder.wanted)
    if facts.format not in ENDINGS and not did:
        did = ("name",)  # what not every trainer reads
    try:
        data = read_bytes(source, MOST_BYTES)
        if did:
            data, ending = mended(data, did, folder.wanted), ".png"
        else:
            ending = ENDINGS[facts.format]
            did = () if Path(name).suffix.lower() in (ending, ".jpeg") else ("name",)
    except (PreflightError, OSError, ValueError):
        return row.model_copy(update={"trouble": "img-decode"})
    target = f"{stem}{ending}"
    write_atomically(folder.target / target, data, durable=False)
    return row.model_copy(update={"target": target, "did": did, "caption": _copy_caption(folder, name, stem)})


def _copy_caption(folder: _Folder, name: str, stem: str) -> str | None:
    subset = folder.subset
    for caption in caption_names(subset.image_dir, name, subset.caption_extension):
        path = subset.image_dir / caption
        if not is_file(path):
            continue
        try:
            found = decoded(read_bytes(path))
        except CannotRead:
            return None
        if found is None or not found[0].strip():
            return None
        copy = f"{stem}{subset.caption_extension}"
        write_atomically(folder.target / copy, without_control(found[0]), durable=False)
        return copy
    return None


def _copy_masks(folder: _Folder, cancelled: Callable[[], bool]) -> None:
    """Copy masks as they are, each under the name that its image has now; left-over ones stay behind."""
    masks = folder.subset.conditioning_data_dir
    if masks is None:
        return
    stems = dict(zip(map(stem_of, folder.names), target_names(folder.names), strict=True))
    for name in list_folder(masks).images:
        if cancelled():
            raise Cancelled
        stem = stems.get(stem_of(name))
        if stem is not None:
            place = folder.target.with_name(folder.target.name + MASKS)
            data = read_bytes(masks / name, MOST_BYTES)
            write_atomically(place / f"{stem}{Path(name).suffix}", data, durable=False)


def _changes(spec: DatasetSpec, folders: Sequence[_Folder]) -> dict[str, str]:
    copies = {folder.subset.image_dir: folder.target for folder in folders}
    changes: dict[str, str] = {}
    for subset in spec.subsets:
        copy = copies[subset.image_dir]
        changes[f"{subset.target}.image_dir"] = str(copy)
        if subset.conditioning_data_dir is not None:
            changes[f"{subset.target}.conditioning_data_dir"] = str(copy.with_name(copy.name + MASKS))
    return changes
