"""What each trouble with cache files means: how bad it is and what is said about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from gui.engine.dataset.cache_files import CacheTrouble
from gui.engine.dataset.problem_kind import ProblemKind
from gui.engine.findings import Severity
from gui.engine.texts import _, ngettext

SOURCES = ("DATA-12", "DATA-13", "NAN-20", "trainer: strategy_base.py:440-475")


@cache
def cache_trouble_kinds() -> Mapping[CacheTrouble, ProblemKind]:
    """Return all kinds; their titles are for a number of files."""

    def made_anew() -> str:
        return _("The trainer stops at it. It makes caches anew when they are gone.")

    def harmless() -> str:
        return _("It does no harm and takes room.")

    return {
        "broken": _kind("broken", "cache-verify", "stop", _broken, made_anew),
        "nan": _kind(
            "nan",
            "cache-nan",
            "stop",
            _nan,
            lambda: _("The loss becomes NaN with it. It makes caches anew when they are gone."),
        ),
        "size": _kind(
            "size",
            "cache-fingerprint",
            "danger",
            _other_size,
            lambda: _("The trainer of SD and SDXL does not notice: it uses them, or stops in an epoch."),
        ),
        "stale": _kind(
            "stale",
            "cache-stale",
            "danger",
            _stale,
            lambda: _("The trainer does not notice and goes on with what was there before."),
        ),
        "family": _kind("family", "cache-leftover", "hint", _other_family, harmless),
        "leftover": _kind("leftover", "cache-leftover", "hint", _leftover, harmless),
    }


def short_words() -> Mapping[CacheTrouble, str]:
    """Return each trouble in a word or two, for lists of single files."""
    return {
        "broken": _("damaged"),
        "nan": _("holds NaN"),
        "size": _("of another resolution"),
        "stale": _("older than its image or caption"),
        "family": _("of another model family"),
        "leftover": _("without an image"),
    }


def _kind(
    key: CacheTrouble,
    identity: str,
    severity: Severity,
    title: Callable[[int], str],
    detail: Callable[[], str],
) -> ProblemKind:
    return ProblemKind(key, identity, severity, title, detail, SOURCES)


def _broken(count: int) -> str:
    return ngettext(
        "{count} cache file is damaged: {names}", "{count} cache files are damaged: {names}", count
    )


def _nan(count: int) -> str:
    return ngettext(
        "{count} cache file holds numbers that are none (NaN): {names}",
        "{count} cache files hold numbers that are none (NaN): {names}",
        count,
    )


def _other_size(count: int) -> str:
    return ngettext(
        "{count} cache file is of another resolution: {names}",
        "{count} cache files are of another resolution: {names}",
        count,
    )


def _stale(count: int) -> str:
    return ngettext(
        "{count} cache file is older than its image or caption: {names}",
        "{count} cache files are older than their images or captions: {names}",
        count,
    )


def _other_family(count: int) -> str:
    return ngettext(
        "{count} cache file is of another model family: {names}",
        "{count} cache files are of another model family: {names}",
        count,
    )


def _leftover(count: int) -> str:
    return ngettext(
        "{count} cache file belongs to no image any more: {names}",
        "{count} cache files belong to no image any more: {names}",
        count,
    )
