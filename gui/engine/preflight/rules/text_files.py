"""Rules about text files that the trainer reads, and about the environment in which it reads them.

Source: STEP-06, ENC-01, ENC-02, ENC-05; trainer-facts 1.7, 1.8 (train_util.py:6329, config_util.py:675).
"""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding
from gui.engine.plan.paths import PATH_ARGUMENTS, PATH_OR_HUB_ARGUMENTS
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import leave_out, write
from gui.engine.preflight.rules.paths import dataset_paths
from gui.engine.preflight.surroundings import PROMPTS, TextFact
from gui.engine.preflight.view import View
from gui.engine.texts import _
from gui.engine.trainer.launch_environment import OUTPUT_VARIABLES

ESCAPES = {"\t": "t", "\n": "n", "\r": "r", "\b": "b", "\f": "f", "\a": "a", "\v": "v"}
"""What TOML, JSON and shells make of a backslash and a letter."""


def _is_toml(fact: TextFact) -> bool:
    return fact.path.lower().endswith((".toml", ".json"))


def _at(fact: TextFact) -> str:
    return _("{path}, line {line}").format(path=fact.path, line=fact.line) if fact.line else fact.path


def check_env_utf8(view: View) -> Iterator[Finding]:
    """Prompts must be UTF-8, and so must the trainer's own output be (STEP-06, ENC-01)."""
    for fact in view.facts.text:
        if fact.argument == PROMPTS and fact.problem in ("encoding", "mark"):
            yield from _prompts(view, fact)
    for name in sorted(OUTPUT_VARIABLES.keys() & view.plan.launch.env.keys()):
        if view.plan.launch.env[name] != OUTPUT_VARIABLES[name]:
            yield Finding(
                id="env-utf8",
                severity="hint",
                title=_("{name} in the plan’s environment has no effect.").format(name=name),
                detail=_(
                    "Every run gets {name}={value}, so that texts in all languages come through."
                ).format(name=name, value=OUTPUT_VARIABLES[name]),
                arguments=(f"env.{name}",),
                where=f"env.{name}",
                fixes=(leave_out(f"env.{name}", safe=True),),
                sources=("ENC-01", "STEP-06"),
            )


def _prompts(view: View, fact: TextFact) -> Iterator[Finding]:
    broken = fact.problem == "encoding" or _is_toml(fact)
    sampling = _sampling(view)
    yield Finding(
        id="env-utf8",
        severity="stop" if broken else "warning",
        title=(
            _("The sample prompts are not UTF-8: {place}")
            if fact.problem == "encoding"
            else _("The sample prompts begin with a byte order mark: {place}")
        ).format(place=_at(fact)),
        detail=(
            _("The training ends at the first sample. Save the file as UTF-8 (without a mark) in an editor.")
            if broken
            else _("It becomes a part of the first prompt. Save the file as UTF-8 without a mark.")
        ),
        arguments=(PROMPTS,),
        where=PROMPTS,
        fixes=(leave_out(*sampling, identity="no-samples"),) if sampling else (),
        sources=("STEP-06", "trainer: train_util.py:6332"),
    )


def _sampling(view: View) -> list[str]:
    names = (PROMPTS, "sample_every_n_steps", "sample_every_n_epochs", "sample_at_first")
    return [name for name in names if view.given(name)]


def check_toml_utf8(view: View) -> Iterator[Finding]:
    """Settings in another encoding than UTF-8 are not read (ENC-02)."""
    for fact in view.facts.text:
        if fact.argument == PROMPTS or fact.problem not in ("encoding", "mark"):
            continue
        yield Finding(
            id="toml-utf8",
            severity="stop",
            title=(
                _("{name} is not UTF-8: {place}")
                if fact.problem == "encoding"
                else _("{name} begins with a byte order mark: {place}")
            ).format(name=fact.argument, place=_at(fact)),
            detail=_("The trainer cannot read it. Save it as UTF-8 without a mark in an editor."),
            arguments=(fact.argument,),
            where=fact.argument,
            sources=("ENC-02", "trainer: config_util.py:675-700"),
        )


def check_toml_esc(view: View) -> Iterator[Finding]:
    """In TOML a backslash begins an escape: paths of Windows break, or become other paths (ENC-05)."""
    for fact in view.facts.text:
        if fact.problem not in ("escape", "syntax"):
            continue
        escape = fact.problem == "escape"
        yield Finding(
            id="toml-esc",
            severity="stop" if escape or fact.path.lower().endswith(".json") else "danger",
            title=(
                _("{name} has backslashes that mean something else: {place}")
                if escape
                else _("{name} cannot be read: {place}")
            ).format(name=fact.argument, place=_at(fact)),
            detail=(
                _("Write paths with forward slashes (C:/images) or in single quotes ('C:\\images').")
                if escape
                else _("A reader says: {words}.").format(words=fact.words)
            ),
            arguments=(fact.argument,),
            where=fact.argument,
            sources=("ENC-05", "trainer: config_util.py:675-700"),
        )
    yield from _swallowed(view)


def _swallowed(view: View) -> Iterator[Finding]:
    r"""Say which paths hold signs that were a backslash and a letter once: ``D:\train`` has a tab."""
    own = view.own or view.plan
    names = PATH_ARGUMENTS | PATH_OR_HUB_ARGUMENTS
    texts = [(name, value) for name, value in own.arguments.items() if name in names]
    for place, value in (*texts, *dataset_paths("dataset", own.dataset)):
        if not isinstance(value, str) or not any(sign in value.strip() for sign in ESCAPES):
            continue
        meant = "".join("/" + ESCAPES[sign] if sign in ESCAPES else sign for sign in value.strip())
        meant = meant.replace("\\", "/")
        yield Finding(
            id="toml-esc",
            severity="stop",
            title=_("{name} holds a tab or line break where a path has none.").format(name=place),
            detail=_(
                "A backslash and the letter behind it were read as one sign. Meant is perhaps {path}"
            ).format(path=meant),
            arguments=(place,),
            where=place,
            fixes=(write({place: meant}, _("write {path}").format(path=meant), identity="slashes"),),
            sources=("ENC-05",),
        )


RULES: tuple[Rule, ...] = (
    Rule("env-utf8", check_env_utf8, ("STEP-06", "ENC-01"), lambda: _("Prompts and output in UTF-8")),
    Rule("toml-utf8", check_toml_utf8, ("ENC-02",), lambda: _("Settings in UTF-8")),
    Rule("toml-esc", check_toml_esc, ("ENC-05",), lambda: _("Backslashes in settings")),
)
