"""What ``dataset`` can do besides looking: copies, captions, images set aside, and all of it undone."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from gui.cli.progress import ProgressLine, plain
from gui.engine.dataset.bad_images import put_aside, stopping_images
from gui.engine.dataset.cache_removal import bad_caches, remove_bad
from gui.engine.dataset.cache_trouble_kinds import short_words
from gui.engine.dataset.caption_edits import (
    Change,
    EditPreview,
    preview,
    replaced,
    to_utf8,
    with_tag,
    without_tag,
)
from gui.engine.dataset.caption_folders import caption_folders
from gui.engine.dataset.caption_originals import restore_originals, write_edits
from gui.engine.dataset.clean_copy import copy_clean
from gui.engine.dataset.quarantine import bring_back
from gui.engine.dataset.report import DatasetReport
from gui.engine.dataset.scan import done_words
from gui.engine.dataset.spec import DatasetSpec, SubsetSpec
from gui.engine.errors import Cancelled, WrongUsage
from gui.engine.quantities import gib
from gui.engine.texts import _, ngettext

SHOWN_EDITS = 20


def add_repairs(parser: argparse.ArgumentParser) -> None:
    """Add the options that mend something; at most one of them is taken."""
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--copy-to", metavar="DIR", help=_("copy images and captions, mended, into a folder"))
    one.add_argument("--to-utf8", action="store_true", help=_("convert captions to UTF-8"))
    one.add_argument("--replace", nargs=2, metavar=("OLD", "NEW"), help=_("replace a text in all captions"))
    one.add_argument("--add-tag", metavar="TAG", help=_("put a tag in front of all captions"))
    one.add_argument("--remove-tag", metavar="TAG", help=_("take a tag out of all captions"))
    one.add_argument(
        "--set-aside", action="store_true", help=_("move images that stop the trainer into quarantine")
    )
    one.add_argument(
        "--restore", action="store_true", help=_("bring original captions and images in quarantine back")
    )
    one.add_argument(
        "--remove-caches",
        action="store_true",
        help=_("list cache files with something wrong, to remove them"),
    )
    parser.add_argument("--shrink", action="store_true", help=_("shrink copied images to what buckets need"))
    parser.add_argument(
        "--write",
        action="store_true",
        help=_("change captions, remove caches; without it that is only shown"),
    )


def needs_no_scan(options: argparse.Namespace) -> bool:
    """Return whether the options mend something for which images need not be looked at."""
    return bool(options.copy_to or options.restore or _change(options))


def repair(options: argparse.Namespace, spec: DatasetSpec) -> int:
    """Do what needs no scan, print what came of it, and return the exit status."""
    change = _change(options)
    if options.copy_to:
        lines = _copy(spec, Path(options.copy_to).absolute(), shrink=options.shrink)
    elif change is not None:
        lines = _captions(spec, change, write=options.write)
    else:
        lines = _restore(spec)
    print("\n".join(map(plain, lines)))
    return 0


def repair_scanned(options: argparse.Namespace, spec: DatasetSpec, report: DatasetReport) -> Iterator[str]:
    """Do what needs a scan, and yield what was done."""
    if options.set_aside:
        yield from _set_bad_aside(spec, report)
    if options.remove_caches:
        yield from _remove_caches(report, write=options.write)


def _set_bad_aside(spec: DatasetSpec, report: DatasetReport) -> Iterator[str]:
    """Move the images that stop the trainer into quarantine, and yield what was done."""
    for subset, names in stopping_images(spec, report):
        moved = put_aside(spec, subset, names)
        words = ngettext(
            "{folder}: {count} file is in quarantine now; --restore brings it back",
            "{folder}: {count} files are in quarantine now; --restore brings them back",
            moved,
        )
        yield words.format(folder=subset.image_dir, count=moved)


def _remove_caches(report: DatasetReport, *, write: bool) -> Iterator[str]:
    """List the cache files with something wrong, and remove them only when that is said."""
    found = bad_caches(report)
    for cache in found:
        troubles = ", ".join(short_words()[trouble] for trouble in cache.troubles)
        yield f"{cache.folder / cache.name}: {troubles}"
    words = ngettext(
        "{count} cache file with something wrong, {size}",
        "{count} cache files with something wrong, {size}",
        len(found),
    )
    yield words.format(count=len(found), size=gib(sum(cache.state.size_bytes for cache in found)))
    if not found:
        return
    if not write:
        yield _("Nothing is removed yet; --write does it. The trainer makes caches anew.")
        return
    removed, left = remove_bad(found)
    words = ngettext("{count} cache file is removed.", "{count} cache files are removed.", len(removed))
    yield words.format(count=len(removed))
    for cache in left:
        yield _("left alone, it changed meanwhile or must not be removed: {name}").format(name=cache.name)


def _change(options: argparse.Namespace) -> Change | None:
    if options.to_utf8:
        return to_utf8
    if options.replace:
        if not options.replace[0]:
            raise WrongUsage(_("--replace needs a text to look for"))
        return replaced(*options.replace, match_case=True)
    for tag in (options.add_tag, options.remove_tag):
        if tag is not None and not tag.strip(", "):
            raise WrongUsage(_("--add-tag and --remove-tag need a tag"))
    if options.add_tag:
        return with_tag(options.add_tag)
    return without_tag(options.remove_tag) if options.remove_tag else None


def _copy(spec: DatasetSpec, target: Path, *, shrink: bool) -> Iterator[str]:
    line = ProgressLine()
    try:
        copy = copy_clean(
            spec,
            target,
            shrink=shrink,
            told=lambda done, total: line.show(done_words(done, total)),
        )
    except KeyboardInterrupt:
        raise Cancelled from None
    finally:
        line.clear()
    words = ngettext(
        "{count} image is in {folder}, {mended} of them mended",
        "{count} images are in {folder}, {mended} of them mended",
        copy.copied,
    )
    yield words.format(count=copy.copied, folder=target, mended=copy.mended)
    for name, _key in copy.left_out:
        yield _("left out: {name}").format(name=name)
    for place, value in copy.changes.items():
        yield f"{place} = {value}"


def _captions(spec: DatasetSpec, change: Change, *, write: bool) -> Iterator[str]:
    for subset, where in caption_folders(spec):
        if where is None:
            continue
        shown = preview(where, change)
        yield from _shown(subset, shown)
        if not write:
            yield _("Nothing is written yet; --write does it and keeps the originals.")
            continue
        written = write_edits(shown)
        words = ngettext("{count} caption is written.", "{count} captions are written.", len(written.done))
        yield words.format(count=len(written.done))


def _shown(subset: SubsetSpec, shown: EditPreview) -> Iterator[str]:
    words = ngettext(
        "{folder}: {count} caption changes", "{folder}: {count} captions change", len(shown.edits)
    )
    yield words.format(folder=subset.image_dir, count=len(shown.edits))
    for edit in shown.edits[:SHOWN_EDITS]:
        yield f"  {edit.name}"
        yield f"  - {_first_line(edit.before or '')}"
        yield f"  + {_first_line(edit.after)}"
    for name in shown.unreadable:
        yield "  " + _("its encoding cannot be told: {name}").format(name=name)


def _first_line(text: str) -> str:
    return re.split(r"[\r\n]", text, maxsplit=1)[0]


def _restore(spec: DatasetSpec) -> Iterator[str]:
    for subset, _where in caption_folders(spec):
        captions = restore_originals(subset.image_dir)
        images = bring_back(subset.image_dir)
        captions_back, files_back = len(captions.done), len(images.back)
        words = ngettext("{count} caption is back", "{count} captions are back", captions_back)
        more = ngettext(
            "{count} file from quarantine is back", "{count} files from quarantine are back", files_back
        )
        said = f"{words.format(count=captions_back)}, {more.format(count=files_back)}"
        yield f"{subset.image_dir}: {said}"
        for name in captions.left:
            yield "  " + _("changed by somebody else since, and left alone: {name}").format(name=name)
        for name in images.in_the_way:
            yield "  " + _("stays in quarantine, since another file has its name: {name}").format(name=name)
