"""Rules about what the trainer fetches from the Hugging Face hub. Source: MODEL-13, MODEL-14."""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding
from gui.engine.plan.paths import PATH_OR_HUB_ARGUMENTS
from gui.engine.preflight.limits import Tokenizers, hub
from gui.engine.preflight.place_look import OFFLINE, is_offline
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import leave_out, write
from gui.engine.preflight.rules.trainers import practises
from gui.engine.preflight.view import View
from gui.engine.redaction import ARGUMENT_OF_VARIABLE
from gui.engine.texts import _


def check_hf_removed(view: View) -> Iterator[Finding]:
    """Some well-known repositories are gone (MODEL-14)."""
    for name in sorted(PATH_OR_HUB_ARGUMENTS & view.plan.arguments.keys()):
        value = view.text(name) or ""
        new = hub().removed.get(value)
        if new is None or value in (view.facts.hub or ()):
            continue
        yield Finding(
            id="hf-removed",
            severity="warning",
            title=_("{name}: {repository} was taken away from the hub.").format(name=name, repository=value),
            detail=_("The trainer would end with 404. The same model is {repository}.").format(
                repository=new
            ),
            arguments=(name,),
            where=name,
            fixes=(
                write({name: new}, _("use {repository}").format(repository=new), identity="moved", safe=True),
            ),
            sources=("MODEL-14",),
        )


def _tokenizers(view: View) -> Tokenizers | None:
    return next(
        (
            each
            for each in hub().tokenizers
            if view.script.startswith(each.scripts) and (each.when is None or view.flag(each.when))
        ),
        None,
    )


def _missing(view: View, wanted: Tokenizers) -> list[str]:
    """Return what is not on this machine, also not under the trainer's own names (strategy_base.py:59)."""
    there = set(view.facts.hub or ())
    return [name for name in wanted.repositories if not {name, name.replace("/", "_")} & there]


def check_hf_tokenizer(view: View) -> Iterator[Finding]:
    """Tokenizers come from the hub at a family's first training, which ends without a network (MODEL-13)."""
    wanted = _tokenizers(view)
    missing = _missing(view, wanted) if wanted and view.facts.hub is not None and not practises(view) else []
    if wanted is None or not missing:
        return
    own = [name for name in OFFLINE if name in view.plan.launch.env]
    offline = view.facts.offline or is_offline(view.plan.launch.env)
    locked = wanted.gated and not _has_token(view)
    yield Finding(
        id="hf-tokenizer",
        severity="stop" if offline else "warning" if locked else "hint",
        title=(
            _("The tokenizers are not on this machine, and nothing may be fetched.")
            if offline
            else _("The tokenizers will be fetched from the Hugging Face hub.")
        ),
        detail=_("{names}.").format(names=", ".join(missing)) + " " + _after(offline=offline, locked=locked),
        arguments=("tokenizer_cache_dir", *(f"env.{name}" for name in own)),
        where="offline" if offline else None,
        fixes=(leave_out(*(f"env.{name}" for name in own), identity="fetch"),) if offline and own else (),
        sources=("MODEL-13", *wanted.sources),
    )


def _after(*, offline: bool, locked: bool) -> str:
    if offline:
        return _("Allow it once (HF_HUB_OFFLINE), or name the folder that holds them in tokenizer_cache_dir.")
    if locked:
        return _("Its owners ask you to agree to their terms on its page; then a token of yours is needed.")
    return _("That takes a few MB and a network; later trainings need none.")


def _has_token(view: View) -> bool:
    names = {name for name, argument in ARGUMENT_OF_VARIABLE.items() if argument == "huggingface_token"}
    return view.given("huggingface_token") or any(view.plan.launch.env.get(name) for name in names)


RULES: tuple[Rule, ...] = (
    Rule("hf-removed", check_hf_removed, ("MODEL-14",), lambda: _("Repositories that are gone")),
    Rule("hf-tokenizer", check_hf_tokenizer, ("MODEL-13",), lambda: _("Tokenizers from the hub")),
)
