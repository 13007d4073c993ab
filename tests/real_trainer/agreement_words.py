"""The words of a plan's command line: our own command, or by hand what we would not run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agreement_draft import Draft

from gui.engine.errors import PlanNotRunnable
from gui.engine.plan.dataset_toml import dataset_toml
from gui.engine.plan.model import TrainingPlan
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.command import build_command
from gui.engine.trainer.facts import TrainerFacts
from gui.engine.trainer.installs import TrainerInstall
from gui.engine.trainer.resolving import resolve
from gui.engine.trainer.values import Words, words_for


def by_hand(draft: Draft, catalogue: Catalogue, folder: Path) -> list[str]:
    """Write out a plan that has no command: what we refuse as a person would write it, ``--name value``."""
    resolved = resolve(draft.plan(), folder, catalogue)
    words: list[str] = []
    for name, value in resolved.effective.arguments.items():
        judged = words_for(draft.script.arguments[name], value)
        words += judged.words if isinstance(judged, Words) else ()
    for name, written in draft.arguments.items():
        value = resolved.effective.arguments.get(name, written)
        argument = draft.script.arguments.get(name)
        if value is None or (argument and isinstance(words_for(argument, value), Words)):
            continue
        plain = [str(part) for part in (value if isinstance(value, (list, tuple)) else [value])]
        if value is True:
            words.append(f"--{name}")
        elif argument is None and plain[0].startswith("-"):
            words.append(f"--{name}={plain[0]}")
        elif argument or value is not False:
            words += [f"--{name}", *plain]
    if resolved.effective.dataset:
        file = folder / "by hand.toml"
        file.write_text(dataset_toml(resolved.effective.dataset, folder), "utf-8")
        words += ["--dataset_config", str(file)]
    return words


def our_words(plan: TrainingPlan, trainer: Any, catalogue: Catalogue, folder: Path) -> list[str]:
    """Return the words of our own command, whose files are written into a folder.

    Raises:
        PlanNotRunnable: It has none.
    """
    install = TrainerInstall(root=trainer.root, python=trainer.python, origin="sd-scripts", label="real")
    facts = TrainerFacts(root=str(trainer.root), python=str(trainer.python))
    folder.mkdir(exist_ok=True)
    command = build_command(plan, folder, install, facts, catalogue, folder, environ={})
    for path, text in command.files(folder).items():
        path.write_text(text, "utf-8")
    start = next(place for place, word in enumerate(command.argv) if word.endswith(command.script))
    return list(command.argv[start + 1 :])


def words_of(draft: Draft, trainer: Any, catalogue: Catalogue, folder: Path) -> list[str]:
    """Return the words of our own command; of a plan that has none, what a person would write."""
    try:
        return our_words(draft.plan(), trainer, catalogue, folder)
    except PlanNotRunnable:
        return by_hand(draft, catalogue, folder)
