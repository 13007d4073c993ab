"""What each trouble with cache files means: how bad it is and what is said about it."""

from __future__ import annotations

from collections.abc import Mapping

from gui.engine.dataset.cache_files import CacheTrouble
from gui.engine.dataset.problem_kind import ProblemKind
from gui.engine.texts import _, ngettext

SOURCES = ("DATA-12", "DATA-13", "NAN-20", "trainer: strategy_base.py:440-475")

CACHE_TROUBLES: Mapping[CacheTrouble, ProblemKind] = {
    "broken": ProblemKind(
        "broken",
        "cache-verify",
        "stop",
        lambda n: ngettext(
            "{count} cache file is damaged: {names}", "{count} cache files are damaged: {names}", n
        ),
        lambda: _("The trainer stops at it. It makes caches anew when they are gone."),
        SOURCES,
    ),
    "nan": ProblemKind(
        "nan",
        "cache-nan",
        "stop",
        lambda n: ngettext(
            "{count} cache file holds numbers that are none (NaN): {names}",
            "{count} cache files hold numbers that are none (NaN): {names}",
            n,
        ),
        lambda: _("The loss becomes NaN with it. It makes caches anew when they are gone."),
        SOURCES,
    ),
    "size": ProblemKind(
        "size",
        "cache-fingerprint",
        "danger",
        lambda n: ngettext(
            "{count} cache file is of another resolution: {names}",
            "{count} cache files are of another resolution: {names}",
            n,
        ),
        lambda: _("The trainer of SD and SDXL does not notice: it uses them, or stops in an epoch."),
        SOURCES,
    ),
    "stale": ProblemKind(
        "stale",
        "cache-stale",
        "danger",
        lambda n: ngettext(
            "{count} cache file is older than its image or caption: {names}",
            "{count} cache files are older than their images or captions: {names}",
            n,
        ),
        lambda: _("The trainer does not notice and goes on with what was there before."),
        SOURCES,
    ),
    "family": ProblemKind(
        "family",
        "cache-leftover",
        "hint",
        lambda n: ngettext(
            "{count} cache file is of another model family: {names}",
            "{count} cache files are of another model family: {names}",
            n,
        ),
        lambda: _("It does no harm and takes room."),
        SOURCES,
    ),
    "leftover": ProblemKind(
        "leftover",
        "cache-leftover",
        "hint",
        lambda n: ngettext(
            "{count} cache file belongs to no image any more: {names}",
            "{count} cache files belong to no image any more: {names}",
            n,
        ),
        lambda: _("It does no harm and takes room."),
        SOURCES,
    ),
}
"""Trouble to what it means; titles are for a number of files."""


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
