"""``trainer probe|list|use``: finds and examines sd-scripts installs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from gui.cli.context import home, install_of, trainer_of
from gui.engine.documents import Document
from gui.engine.errors import TrainerBroken
from gui.engine.preferences import change_preferences
from gui.engine.texts import _, ngettext
from gui.engine.trainer.checkout import commit_of, version_of
from gui.engine.trainer.choosing import PRACTICE, KnownTrainer, known_trainers
from gui.engine.trainer.facts import TrainerFacts
from gui.engine.trainer.installs import TrainerInstall
from gui.engine.trainer.probe import require_torch


class ListedTrainer(Document):
    """One trainer on this machine.

    Attributes:
        root: The folder with the training scripts.
        python: Its interpreter; None when none was found.
        origin: The program that it belongs to.
        version: Where it can be told.
        commit: Where it can be told.
        practice: Whether it is the practice trainer.
        default: Whether it is used when nothing else is named.
    """

    root: str
    python: str | None
    origin: str
    label: str
    version: str | None
    commit: str | None
    practice: bool
    default: bool


class TrainerList(Document):
    """What ``trainer list --json`` prints."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    trainers: tuple[ListedTrainer, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    probing = actions.add_parser("probe", help=_("examine an install"))
    probing.add_argument("dir", metavar="DIR", nargs="?", help=_("the install; the default one without it"))
    probing.add_argument("--refresh", action="store_true", help=_("ask again even if nothing has changed"))
    listing = actions.add_parser("list", help=_("list the installs on this machine"))
    using = actions.add_parser("use", help=_("remember the default install"))
    using.add_argument("dir", metavar="DIR", help=_("the install, or “practice”"))
    for each in (probing, listing):
        each.add_argument("--json", action="store_true", help=_("print one JSON document"))
    for each in (probing, listing, using):
        # Also behind the action; without a default, so that one before it still counts.
        each.add_argument("--python", metavar="EXE", default=argparse.SUPPRESS, help=_("its Python"))
        each.add_argument("--home", metavar="DIR", default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def run(options: argparse.Namespace) -> int:
    """Do what is asked."""
    return {"probe": _probe, "list": _list, "use": _use}[options.action](options)


def _probe(options: argparse.Namespace) -> int:
    if options.dir:
        options.trainer = options.dir
    install = install_of(options)
    try:
        facts = trainer_of(options, refresh=options.refresh).facts
    except TrainerBroken as error:
        facts = _facts_of_a_broken(install, str(error))
    if options.json:
        print(facts.model_dump_json(by_alias=True, indent=1))
    else:
        print("\n".join(_described(install, facts)))
    return 1 if facts.problems else 0


def _facts_of_a_broken(install: TrainerInstall, sentence: str) -> TrainerFacts:
    commit = commit_of(install.root)
    return TrainerFacts(
        schema=1,
        root=str(install.root),
        python=str(install.python),
        commit=commit,
        version=version_of(install.root, commit),
        problems=(sentence,),
    )


def _described(install: TrainerInstall, facts: TrainerFacts) -> Iterator[str]:
    commit = _(", commit {commit}").format(commit=facts.commit[:8]) if facts.commit else ""
    yield f"{install.label}: {' '.join(filter(None, (facts.name, facts.version)))}{commit}"
    yield _("Python {version}: {path}").format(version=facts.python_version or "?", path=facts.python)
    if facts.torch:
        built = f"CUDA {facts.cuda}" if facts.cuda else f"ROCm {facts.hip}" if facts.hip else "CPU"
        yield _("torch {version}, built for {platform}").format(version=facts.torch, platform=built)
        yield from _described_gpus(facts)
    if facts.packages:
        known = (f"{name} {version or ''}".strip() for name, version in facts.packages.items())
        yield _("packages: {names}").format(names=", ".join(known))
    if facts.accelerate:
        yield _("accelerate's own settings: {path}").format(path=facts.accelerate.path)
    usable = [name for name, script in facts.scripts.items() if script.error is None]
    if usable:
        yield _("training scripts: {names}").format(names=", ".join(usable))
    for problem in facts.problems:
        yield _("PROBLEM: {sentence}").format(sentence=problem)


def _described_gpus(facts: TrainerFacts) -> Iterator[str]:
    if not facts.gpus:
        yield (
            _("it sees no GPU")
            if facts.backend == "cpu"
            else _("it computes on {backend}").format(backend=facts.backend)
        )
    for gpu in facts.gpus:
        parts = [f"GPU {gpu.index}: {gpu.name}"]
        parts += [_("compute capability {number}").format(number=gpu.capability)] if gpu.capability else []
        parts += [f"{gpu.total_bytes / 2**30:.1f} GiB"] if gpu.total_bytes else []
        if gpu.bf16 is not None:
            parts.append(_("bf16") if gpu.bf16 else _("no bf16"))
        if gpu.usable is False:
            parts.append(_("not usable: {reason}").format(reason=gpu.problem))
        yield ", ".join(parts)


def _list(options: argparse.Namespace) -> int:
    listed = TrainerList(trainers=tuple(map(_entry, known_trainers(home(options)))))
    if options.json:
        print(listed.model_dump_json(by_alias=True, indent=2))
        return 0
    for trainer in listed.trainers:
        mark = "*" if trainer.default else " "
        version = f" ({trainer.version})" if trainer.version and not trainer.practice else ""
        python = trainer.python or _("no Python found for it; name one with “trainer use DIR --python EXE”")
        print(f"{mark} {trainer.label}{version}\n    {python}")
    return 0


def _entry(known: KnownTrainer) -> ListedTrainer:
    checkout, install, default = known
    commit = commit_of(checkout.root)
    return ListedTrainer(
        root=str(checkout.root),
        python=str(install.python) if install else None,
        origin=checkout.origin,
        label=checkout.label,
        version=version_of(checkout.root, commit),
        commit=commit,
        practice=checkout.origin == PRACTICE,
        default=default,
    )


def _use(options: argparse.Namespace) -> int:
    """Remember an install, once it has shown that it can train."""
    options.trainer = options.dir
    trainer = trainer_of(options)
    require_torch(trainer.install, trainer.facts)
    python = options.python and str(trainer.install.python)
    chosen = PRACTICE if trainer.install.practice else str(trainer.install.root)
    change_preferences(home(options).preferences, trainer=chosen, trainer_python=python)
    count = len(trainer.catalogue.scripts)
    words = ngettext("{label}: {count} training script", "{label}: {count} training scripts", count)
    print(words.format(label=trainer.install.label, count=count))
    for problem in trainer.facts.problems:
        print(f"kohya-preflight: {problem}", file=sys.stderr)
    return 0
