"""Rules about what stands in caption files, and what becomes of it on the way.

Source: DATA-09, DATA-10; trainer-facts 2.6, 6.3 (train_util.py:821-932, 1958-1972, 2070-2090).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from gui.engine.findings import Finding, Fix
from gui.engine.preflight.actions import CONVERT_CAPTIONS
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.caching import caches_text, without_text_cache
from gui.engine.preflight.rules.fixes import by_hand, first_few, write
from gui.engine.preflight.rules.image_files import known_folders
from gui.engine.preflight.rules.subset_findings import subset_finding
from gui.engine.preflight.view import DATASET_DEFAULTS, SubsetView, View
from gui.engine.texts import _, ngettext

SHUFFLES = ("shuffle_caption", "token_warmup_step", "caption_tag_dropout_rate")
"""What takes a caption apart into tags; only then separators are removed (train_util.py:867-915)."""

MADE_LATER = (
    *("caption_prefix", "caption_suffix", "enable_wildcard", "secondary_separator"),
    "caption_dropout_every_n_epochs",
)
"""What is done to a caption each time, and so never to a cached one (train_util.py:1699-1718)."""


def _listed(view: View) -> Iterator[SubsetView]:
    yield from (subset for subset in view.subsets if subset.own) if view.dataset_known else ()


def _on(subset: SubsetView, name: str) -> bool:
    value = subset.value(name)
    return value is True or (isinstance(value, str) and bool(value)) or bool(subset.number(name))


def _off(subset: SubsetView, names: list[str], label: str) -> Fix:
    changes = {
        subset.target_of(name): DATASET_DEFAULTS.get(
            name, "" if isinstance(subset.value(name), str) else False
        )
        for name in names
    }
    return write(changes, label, identity="switch-off")


def check_cap_utf8(view: View) -> Iterator[Finding]:
    """Captions in another encoding stop the trainer; a mark at the beginning is learnt (DATA-09)."""
    for subset, fact in known_folders(view):
        wrong = [fault.name for fault in fact.caption_faults if fault.kind == "encoding"]
        marked = [fault.name for fault in fact.caption_faults if fault.kind == "mark"]
        if not wrong and not marked:
            continue
        yield _file_finding(
            subset,
            "cap-utf8",
            "stop" if wrong else "warning",
            (
                ngettext(
                    "{count} caption is no UTF-8: {names}",
                    "{count} captions are no UTF-8: {names}",
                    len(wrong),
                )
                if wrong
                else ngettext(
                    "{count} caption begins with a byte order mark: {names}",
                    "{count} captions begin with a byte order mark: {names}",
                    len(marked),
                )
            ).format(count=len(wrong or marked), names=first_few(wrong or marked)),
            _("The trainer reads UTF-8 without a mark: it stops at another encoding, and learns the mark."),
            fix=by_hand(CONVERT_CAPTIONS, _("convert these captions to UTF-8")),
            sources=(
                "DATA-09",
                "trainer: train_util.py:1958-1964",
            ),
        )


def check_cap_empty(view: View) -> Iterator[Finding]:
    """An empty caption file stops the trainer, a blank first line leaves no words (DATA-10)."""
    for subset, fact in known_folders(view):
        empty = [fault.name for fault in fact.caption_faults if fault.kind == "empty"]
        blank = [fault.name for fault in fact.caption_faults if fault.kind == "blank"]
        if subset.flag("enable_wildcard"):
            blank = []  # all lines count then
        if not empty and not blank:
            continue
        yield _file_finding(
            subset,
            "cap-empty",
            "stop" if empty else "warning",
            (
                ngettext(
                    "{count} caption file is empty: {names}",
                    "{count} caption files are empty: {names}",
                    len(empty),
                )
                if empty
                else ngettext(
                    "{count} caption begins with a blank line: {names}",
                    "{count} captions begin with a blank line: {names}",
                    len(blank),
                )
            ).format(count=len(empty or blank), names=first_few(empty or blank)),
            _("The trainer stops at an empty file. Of others it reads the first line alone."),
            fix=by_hand("write-captions", _("write these captions, or delete the files")),
            sources=(
                "DATA-10",
                "trainer: train_util.py:1965-1970",
            ),
        )


_file_finding = partial(subset_finding, key="caption_extension")


def check_cap_missing(view: View) -> Iterator[Finding]:
    """Images without a caption are trained with the class's words, or with none (train_util.py:2070)."""
    for subset, fact in known_folders(view):
        if fact.captions is None or not fact.images or subset.own.get("metadata_file") or fact.other_captions:
            continue
        missing = fact.images - fact.captions
        words = subset.value("class_tokens")
        if missing <= 0 or (words and not fact.captions):
            continue
        yield _file_finding(
            subset,
            "cap-missing",
            "hint" if words else "warning",
            ngettext(
                "{count} of {whole} images has no caption.",
                "{count} of {whole} images have no caption.",
                missing,
            ).format(count=missing, whole=fact.images),
            _("They are trained with “{words}” alone.").format(words=words)
            if words
            else _("They are trained without a word: nothing will call up what they teach."),
            fix=by_hand("write-captions", _("write captions")),
            sources=(
                "T11",
                "trainer: train_util.py:2070-2090",
            ),
        )


def check_separator(view: View) -> Iterator[Finding]:
    """Separators are taken out only where captions are taken apart (train_util.py:867-915)."""
    for subset in _listed(view):
        separator = subset.value("keep_tokens_separator")
        if not separator or any(_on(subset, name) for name in SHUFFLES):
            continue
        yield Finding(
            id="separator-kept",
            severity="warning",
            title=_("The separator “{text}” would be trained as a word.").format(text=separator),
            detail=_("It is taken out only when captions are shuffled, warmed up, or lose single tags."),
            arguments=(subset.target_of("keep_tokens_separator"), subset.target_of("shuffle_caption")),
            where=subset.target,
            fixes=(
                *(
                    ()
                    if caches_text(view)
                    else (
                        write(
                            {subset.target_of("shuffle_caption"): True},
                            _("shuffle captions"),
                            identity="shuffle",
                        ),
                    )
                ),
                write(
                    {subset.target_of("keep_tokens_separator"): ""}, _("use no separator"), identity="none"
                ),
            ),
            sources=("trainer: train_util.py:867-915",),
        )


def check_cached_raw(view: View) -> Iterator[Finding]:
    """A cached caption is the file's raw text (train_util.py:1699-1718)."""
    if not caches_text(view):
        return
    for subset in _listed(view):
        names = [name for name in MADE_LATER if _on(subset, name)]
        if not names:
            continue
        joined = ", ".join(names)
        yield Finding(
            id="cache-te-raw",
            severity="warning",
            title=_("With cached text encoder outputs {names} does nothing.").format(names=joined),
            detail=_("The captions are cached as they stand in the files, and the trainer does not say so."),
            arguments=(*map(subset.target_of, names), "cache_text_encoder_outputs"),
            where=subset.target,
            fixes=(
                _off(subset, names, _("leave {names} out").format(names=joined)),
                without_text_cache(view),
            ),
            sources=("trainer: train_util.py:1699-1718",),
        )


def check_joined(view: View) -> Iterator[Finding]:
    """Shuffled tags are put together with a comma, whatever separated them (train_util.py:915)."""
    for subset in _listed(view):
        separator = subset.value("caption_separator")
        if not isinstance(separator, str) or separator.strip() in ("", ","):
            continue
        if any(_on(subset, name) for name in SHUFFLES):
            yield Finding(
                id="caption-joined",
                severity="hint",
                title=_("Tags that “{text}” separates are put together again with commas.").format(
                    text=separator
                ),
                detail=_("So the model sees other captions than those in the files."),
                arguments=(subset.target_of("caption_separator"),),
                where=subset.target,
                fixes=(
                    by_hand("separate-tags", _("separate the tags in the files with commas")),
                    write(
                        {
                            subset.target_of("caption_separator"): ",",
                        },
                        _("separate by commas"),
                        identity="comma",
                    ),
                ),
                sources=("trainer: train_util.py:915",),
            )


RULES: tuple[Rule, ...] = (
    Rule("cap-utf8", check_cap_utf8, ("DATA-09",), lambda: _("Captions are UTF-8")),
    Rule("cap-empty", check_cap_empty, ("DATA-10",), lambda: _("Captions have words")),
    Rule("cap-missing", check_cap_missing, ("T11",), lambda: _("Images without captions")),
    Rule(
        "separator-kept",
        check_separator,
        ("trainer: train_util.py:867",),
        lambda: _("Separators that would be trained"),
    ),
    Rule(
        "cache-te-raw",
        check_cached_raw,
        ("trainer: train_util.py:1699",),
        lambda: _("Changes of captions that a cache skips"),
    ),
    Rule(
        "caption-joined",
        check_joined,
        ("trainer: train_util.py:915",),
        lambda: _("How shuffled tags are put together"),
    ),
)
