"""Rules about captions, as a scan of their folder found them; of what was not scanned they are silent.

Source: N4, N6, S1, T11, T12, T13; trainer-facts 2.6, 6.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gui.engine.dataset.problem_kinds import problem_kinds
from gui.engine.dataset.report_findings import caption_finding
from gui.engine.findings import Finding, Fix
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.rules.image_files import known_folders
from gui.engine.preflight.view import View
from gui.engine.texts import _

LONGER = "max_token_length"


def _scanned(identity: str) -> Callable[[View], Iterator[Finding]]:
    """Return the rule that tells one kind of trouble, in all its grades."""

    def check(view: View) -> Iterator[Finding]:
        for subset, fact in known_folders(view):
            for key, names in (fact.scanned or {}).items():
                kind = problem_kinds().get(key)
                if kind is not None and kind.id == identity:
                    fixes = tuple(_longer(view)) if identity == "cap-long" else ()
                    yield caption_finding(key, names, subset.target).model_copy(update={"fixes": fixes})

    check.__doc__ = f"What a scan found under {identity}."
    return check


def _longer(view: View) -> Iterator[Fix]:
    """Yield the fixes that let more tokens be read, where the family's text encoder can."""
    captions = view.kin.captions if view.kin else None
    now = view.number(LONGER) or 0
    for tokens in captions.longer if captions and view.knows(LONGER) else ():
        if tokens > now:
            label = _("read {tokens} tokens ({name})").format(tokens=tokens, name=LONGER)
            yield write({LONGER: tokens}, label, identity=f"read-{tokens}", safe=False)


def _rule(identity: str, summary: Callable[[], str]) -> Rule:
    kinds = [kind for kind in problem_kinds().values() if kind.id == identity]
    sources = tuple(dict.fromkeys(source for kind in kinds for source in kind.sources))
    return Rule(identity, _scanned(identity), sources, summary)


RULES: tuple[Rule, ...] = (
    _rule("cap-denied", lambda: _("Captions that must not be read")),
    _rule("cap-control", lambda: _("Control characters in captions")),
    _rule("cap-long", lambda: _("Captions that are cut off")),
    _rule("cap-trigger", lambda: _("The trigger word in captions")),
    _rule("cap-style", lambda: _("Tags or sentences")),
    _rule("cap-repeat", lambda: _("Tags that are repeated")),
    _rule("cap-template", lambda: _("One template for all captions")),
    _rule("cap-name", lambda: _("Captions that are only names")),
    _rule("cap-common", lambda: _("Words in every caption")),
)
