"""Rules about images, as a scan of their folder found them, and about what a plan does with their sizes.

Without a scan nothing but sizes is known here. Source: trainer-facts sections 5 and 6.1; N4, N5, T2, T10, S2.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from gui.engine.dataset.buckets import BucketSettings
from gui.engine.dataset.image_facts import ImageFacts
from gui.engine.dataset.pairing import examples
from gui.engine.dataset.problem_kinds import problem_kinds
from gui.engine.dataset.report_findings import image_finding
from gui.engine.dataset.size_problems import size_problems
from gui.engine.dataset.thresholds import thresholds
from gui.engine.findings import Finding, Fix
from gui.engine.preflight.facts import SubsetFact
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.rules.image_files import known_folders
from gui.engine.preflight.rules.resolution import pair, planned_settings
from gui.engine.preflight.view import SubsetView, View
from gui.engine.texts import _

SIZE_PROBLEMS = "size_problems"
"""Under which name a view remembers what is wrong with each size: two rules ask, of many folders."""


def _scanned(identity: str) -> Callable[[View], Iterator[Finding]]:
    """Return the rule that tells one kind of trouble, in all its grades."""

    def check(view: View) -> Iterator[Finding]:
        for subset, fact in known_folders(view):
            if identity == "img-alpha" and subset.flag("alpha_mask"):
                continue  # there it is the mask, and wanted
            for key, names in (fact.scanned or {}).items():
                kind = problem_kinds().get(key)
                if kind is not None and kind.id == identity:
                    yield image_finding(key, names, subset.target)

    check.__doc__ = f"What a scan found under {identity}."
    return check


def _by_size(key: str) -> Callable[[View], Iterator[Finding]]:
    """Return the rule that tells one kind of trouble with sizes under the plan."""

    def check(view: View) -> Iterator[Finding]:
        for subset, fact in known_folders(view):
            sizes = dict(_troubled(view, subset, fact, key))
            count = sum(sizes.values())
            if not count:
                continue
            kind = problem_kinds()[key]
            names = examples([pair(size) for size in sizes])
            found = image_finding(key, (), subset.target)
            title = kind.title(count).format(count=count, names=names)
            fixes = _left_small(view, subset) if key == "img-enlarged" else ()
            yield found.model_copy(update={"title": title, "fixes": fixes})

    check.__doc__ = f"Images under {key}, by their sizes."
    return check


def _left_small(view: View, subset: SubsetView) -> tuple[Fix, ...]:
    """Return the fix that leaves small images small, where there are buckets for them."""
    dataset = view.dataset_of(subset)
    if not dataset.flag("enable_bucket"):
        return ()
    changes = {dataset.target_of("bucket_no_upscale"): True}
    return (write(changes, _("leave small images small (bucket_no_upscale)"), identity="no-upscale"),)


def _troubled(
    view: View, subset: SubsetView, fact: SubsetFact, key: str
) -> Iterator[tuple[tuple[int, int], int]]:
    settings = planned_settings(view, view.dataset_of(subset))
    known: dict[tuple[BucketSettings | None, tuple[int, int]], Collection[str]] = view.memory.setdefault(
        SIZE_PROBLEMS, {}
    )
    for size, count in fact.measured.items():
        if (settings, size) not in known:
            facts = ImageFacts(width=size[0], height=size[1])
            known[settings, size] = tuple(size_problems(facts, settings, thresholds()))
        if key in known[settings, size]:
            yield size, count


def _rule(identity: str, summary: Callable[[], str]) -> Rule:
    kinds = [kind for kind in problem_kinds().values() if kind.id == identity]
    sources = tuple(dict.fromkeys(source for kind in kinds for source in kind.sources))
    check = _by_size(identity) if identity in ("img-enlarged", "img-cut") else _scanned(identity)
    return Rule(identity, check, sources, summary)


RULES: tuple[Rule, ...] = (
    _rule("img-crash", lambda: _("Images that crash the decoder")),
    _rule("img-gone", lambda: _("Images that go away during a scan")),
    _rule("img-unchecked", lambda: _("Images that cannot be looked at here")),
    _rule("img-end", lambda: _("Images that do not end as they should")),
    _rule("img-format", lambda: _("Images of another format than their names say")),
    _rule("img-animated", lambda: _("Animations")),
    _rule("img-exif", lambda: _("Images that the trainer will not turn")),
    _rule("img-alpha", lambda: _("Transparency that is thrown away")),
    _rule("img-cmyk", lambda: _("Images in print colours")),
    _rule("img-icc", lambda: _("Colour profiles that are not applied")),
    _rule("img-palette", lambda: _("Images with a palette")),
    _rule("img-16bit", lambda: _("Images with more than 8 bits a channel")),
    _rule("img-grey", lambda: _("Images without colours")),
    _rule("img-ratio", lambda: _("Images of an extreme shape")),
    _rule("img-jpeg", lambda: _("Strong JPEG artefacts")),
    _rule("img-blur", lambda: _("Blurred images")),
    _rule("img-dup", lambda: _("Images that are there more than once")),
    _rule("img-near", lambda: _("Images that look alike")),
    _rule("img-enlarged", lambda: _("Images that are blown up")),
    _rule("img-cut", lambda: _("Images of which much is cut off")),
)
