"""Reads whatever a sub-command was given as PLAN: a plan file, or a list of arguments."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gui.engine.documents import read_text
from gui.engine.errors import WrongUsage
from gui.engine.findings import Finding
from gui.engine.importers.arguments_text import looks_like_arguments, read_arguments
from gui.engine.plan.plan_file import PlanFile, load_plan
from gui.engine.texts import _
from gui.engine.trainer.catalogue import Catalogue


@dataclass(frozen=True)
class PlanInput:
    """A plan as a command got it.

    Attributes:
        file: The plan; not yet a file of its own when it was imported.
        findings: What the imported file itself had wrong.
        base: The folder against which relative paths are meant.
    """

    file: PlanFile
    base: Path
    findings: tuple[Finding, ...] = ()


def read_plan(name: str, script: str | None, catalogue: Catalogue) -> PlanInput:
    """Read a plan.

    Args:
        name: The path given.
        script: ``--script``: the training script of a list of arguments.
        catalogue: The trainer's arguments.

    Raises:
        CannotRead: It is missing, or nothing that can be read.
        WrongUsage: It is a list of arguments and no script was named.
    """
    path = Path(name)
    if path.suffix.lower() != ".toml":
        text = read_text(path)
        if looks_like_arguments(text):
            if not script:
                raise WrongUsage(
                    _("{path} is a list of arguments: name its script with --script.").format(path=path)
                )
            imported = read_arguments(text, script, catalogue, path)
            base = path.absolute().parent
            return PlanInput(PlanFile(imported.plan, notes=imported.notes), base, imported.findings)
    file = load_plan(path)
    if script:
        file = PlanFile(
            file.plan.model_copy(update={"script": script}),
            file.path,
            file.text,
            file.line_end,
            file.read_only,
            file.notes,
        )
    return PlanInput(file, file.base)
