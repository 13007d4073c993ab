"""Rules about caches that lie beside the images from an earlier run.

The trainer takes them whenever the arrays that it expects are there. Of what they were made nothing is
written down, so that their times and sizes have to tell.
Source: NAN-20, DATA-12, DATA-13; trainer-facts 2.5 (strategy_base.py:440-475, strategy_sd.py:150-165).
"""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding, Severity
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.caching import caches_to_disk
from gui.engine.preflight.rules.fixes import by_hand, first_few, leave_out, write
from gui.engine.preflight.rules.image_files import known_folders
from gui.engine.preflight.view import SubsetView, View
from gui.engine.texts import _, ngettext

DELETE = "delete-cache"

SKIPS_NOTHING = ("flux_train_network", "lumina_train_network", "hunyuan_image_train_network")
"""LoRA scripts that check cached latents whatever ``skip_cache_check`` says (flux_train_network.py:186)."""


def _finding(subset: SubsetView, name: str, severity: Severity, title: str, detail: str) -> Finding:
    return Finding(
        id="cache-fingerprint",
        severity=severity,
        title=title,
        detail=detail,
        arguments=(name, subset.target_of("image_dir")),
        where=f"{subset.target}.{name}",
        fixes=(by_hand(DELETE, _("delete these caches; they are made anew")),),
        sources=("NAN-20", "DATA-12", "trainer: strategy_base.py:440-475, strategy_sd.py:150-158"),
    )


def _other_size(count: int) -> str:
    words = ngettext(
        "{count} cached latent is for another size than the plan’s.",
        "{count} cached latents are for other sizes than the plan’s.",
        count,
    )
    return words.format(count=count)


def _stale_latents(count: int) -> str:
    words = ngettext(
        "{count} image is newer than its cached latents.",
        "{count} images are newer than their cached latents.",
        count,
    )
    return words.format(count=count)


def _stale_text(count: int) -> str:
    words = ngettext(
        "{count} caption is newer than its cached text encoder outputs.",
        "{count} captions are newer than their cached text encoder outputs.",
        count,
    )
    return words.format(count=count)


def check_fingerprint(view: View) -> Iterator[Finding]:
    """Caches that are older than what they were made of, or made for another size (NAN-20, DATA-12)."""
    for subset, fact in known_folders(view):
        caches = fact.caches
        if caches is None:
            continue
        if caches.other_size:
            yield _finding(
                subset,
                "cache_latents_to_disk",
                "stop",
                _other_size(caches.other_size),
                _("The trainer does not look at their size: it stops when a batch does not fit together."),
            )
        elif caches.stale_latents:
            yield _finding(
                subset,
                "cache_latents_to_disk",
                "warning",
                _stale_latents(caches.stale_latents),
                _("The trainer would learn the images as they were before."),
            )
        elif caches.old_style:
            yield _finding(
                subset,
                "cache_latents_to_disk",
                "warning",
                _("Caches of an older trainer are taken whatever they hold: {names}").format(
                    names=first_few(caches.old_style)
                ),
                _("A file named like the image goes before all others, for Stable Diffusion 1 and XL alike."),
            )
        if caches.stale_text:
            yield _finding(
                subset,
                "cache_text_encoder_outputs_to_disk",
                "warning",
                _stale_text(caches.stale_text),
                _("The caption is not kept in the cache: the trainer would learn the words from before."),
            )


def check_verify(view: View) -> Iterator[Finding]:
    """A damaged cache stops the trainer; none is skipped (DATA-13)."""
    for subset, fact in known_folders(view):
        if fact.caches is None or not fact.caches.damaged:
            continue
        names = fact.caches.damaged
        yield Finding(
            id="cache-verify",
            severity="stop",
            title=ngettext(
                "{count} cache is damaged: {names}", "{count} caches are damaged: {names}", len(names)
            ).format(count=len(names), names=first_few(names)),
            detail=_(
                "Writing them was broken off, or the disk was full. The trainer stops at the first one."
            ),
            arguments=("cache_latents_to_disk", subset.target_of("image_dir")),
            where=subset.target,
            fixes=(by_hand(DELETE, _("delete these caches; they are made anew")),),
            sources=("DATA-13", "trainer: strategy_base.py:468"),
        )


def check_cache_info(view: View) -> Iterator[Finding]:
    """With ``cache_info`` captions and images come from a list that is never renewed (2.5)."""
    for subset, fact in known_folders(view):
        if fact.caches is None or not fact.caches.stale_list or not subset.flag("cache_info"):
            continue
        yield Finding(
            id="cache-info",
            severity="warning",
            title=_("The list that cache_info keeps is older than images or captions in it."),
            detail=_("What was added or changed since is not seen: the trainer reads metadata_cache.json."),
            arguments=(subset.target_of("cache_info"),),
            where=subset.target,
            fixes=(
                write({subset.target_of("cache_info"): False}, _("read the folder itself"), identity="off"),
                by_hand(DELETE, _("delete metadata_cache.json")),
            ),
            sources=("trainer: train_util.py:1990-1997",),
        )


def check_skip(view: View) -> Iterator[Finding]:
    """``skip_cache_check`` takes every cache for good, also one for another size (2.5)."""
    if not view.flag("skip_cache_check") or view.script.removesuffix(".py") in SKIPS_NOTHING:
        return
    if not caches_to_disk(view):
        return
    yield Finding(
        id="skip-cache-check",
        severity="warning",
        title=_("skip_cache_check takes every cache for good that has the right name."),
        detail=_("One for another resolution, or half of one, then stops the trainer when its turn comes."),
        arguments=("skip_cache_check",),
        fixes=(leave_out("skip_cache_check"),),
        sources=("DATA-12", "trainer: strategy_base.py:440-475, 589"),
    )


RULES: tuple[Rule, ...] = (
    Rule(
        "cache-fingerprint",
        check_fingerprint,
        ("NAN-20", "DATA-12"),
        lambda: _("Caches of other images or captions"),
    ),
    Rule("cache-verify", check_verify, ("DATA-13",), lambda: _("Damaged caches")),
    Rule(
        "cache-info",
        check_cache_info,
        ("trainer: train_util.py:1990",),
        lambda: _("A list of images that is out of date"),
    ),
    Rule(
        "skip-cache-check",
        check_skip,
        ("trainer: strategy_base.py:440",),
        lambda: _("Caches that are not checked"),
    ),
)
