"""Cache files with something wrong, listed before any is removed; what changed since then is left alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gui.engine.dataset.cache_files import CacheTrouble, is_cache
from gui.engine.dataset.image_cache import FileState
from gui.engine.dataset.report import DatasetReport
from gui.engine.dataset.scan import state_of


@dataclass(frozen=True)
class BadCache:
    """One cache file with something wrong.

    Attributes:
        folder: Where it lies.
        name: Its name.
        state: Its size and time when it was listed.
        troubles: What is wrong with it.
    """

    folder: Path
    name: str
    state: FileState
    troubles: tuple[CacheTrouble, ...]


def bad_caches(report: DatasetReport) -> list[BadCache]:
    """Return the cache files with something wrong that are still there.

    Args:
        report: What a scan found. Where subsets share a folder, a cache is bad only if it is of use to none.
    """
    found: list[BadCache] = []
    for folder, reports in _by_folder(report).items():
        for name in sorted(set.intersection(*(set(each) for each in reports))):
            state = state_of(folder / name)
            if state is not None:
                troubles = dict.fromkeys(trouble for each in reports for trouble in each[name])
                found.append(BadCache(folder, name, state, tuple(troubles)))
    return found


def remove_bad(caches: Iterable[BadCache]) -> tuple[list[BadCache], list[BadCache]]:
    """Remove cache files that were listed; nothing else is ever removed.

    Args:
        caches: As ``bad_caches`` told them.

    Returns:
        What was removed, and what was not: it is another file by now, or must not be removed.
    """
    removed: list[BadCache] = []
    left: list[BadCache] = []
    for cache in caches:
        same = state_of(cache.folder / cache.name) == cache.state
        (removed if same and remove_caches(cache.folder, [cache.name]) else left).append(cache)
    return removed, left


def remove_caches(folder: Path, names: Iterable[str]) -> list[str]:
    """Remove cache files that were listed before; everything else is refused by its name.

    Args:
        folder: Where they lie.
        names: As ``list_caches`` told them.

    Returns:
        The names that were removed; the others are not there any more or must not be removed.
    """
    removed = []
    for name in names:
        path = folder / name
        if Path(name).name != name or not is_cache(name) or path.is_symlink():
            continue
        try:
            path.unlink()
        except OSError:
            continue
        removed.append(name)
    return removed


def _by_folder(report: DatasetReport) -> dict[Path, list[dict[str, list[CacheTrouble]]]]:
    """Return for each folder what each of its subsets says: name to troubles."""
    found: dict[Path, list[dict[str, list[CacheTrouble]]]] = {}
    for subset in report.subsets:
        if subset.exists:
            troubles: dict[str, list[CacheTrouble]] = {}
            for caches in subset.caches:
                for name in caches.names:
                    troubles.setdefault(name, []).append(caches.trouble)
            found.setdefault(Path(subset.image_dir), []).append(troubles)
    return found
