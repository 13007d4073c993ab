"""Reads whatever somebody brings as a plan: a plan file, or a list of arguments."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from gui.engine.documents import decode_text, read_bytes
from gui.engine.errors import CannotRead, ScriptNeeded
from gui.engine.findings import Finding
from gui.engine.importers.arguments_text import looks_like_arguments, read_arguments
from gui.engine.plan.plan_file import LARGEST_PLAN_BYTES, PlanFile, moved_plan, plan_from_bytes
from gui.engine.texts import _
from gui.engine.trainer.catalogue import Catalogue


@dataclass(frozen=True)
class PlanInput:
    """A plan as it was brought.

    Attributes:
        file: The plan; not yet a file of its own when it was imported.
        findings: What the imported file itself had wrong.
    """

    file: PlanFile
    findings: tuple[Finding, ...] = ()


def read_setup(path: Path, script: str | None, catalogue: Catalogue) -> PlanInput:
    """Read a plan file or a list of arguments.

    Args:
        path: The file.
        script: The training script: needed for a list of arguments, and replaces a plan's own.
        catalogue: The trainer's arguments.

    Raises:
        CannotRead: It is missing, or nothing that can be read.
        ScriptNeeded: It is a list of arguments and no script was named.
        ScriptNotUsable: The trainer has no such script.
    """
    content = read_bytes(path, LARGEST_PLAN_BYTES)
    if path.suffix.lower() != ".toml":
        text = decode_text(content, path)
        if looks_like_arguments(text):
            if not script:
                raise ScriptNeeded(path)
            imported = read_arguments(text, script, catalogue, path)
            plan = moved_plan(imported.plan, path.absolute().parent, Path.cwd())
            return PlanInput(PlanFile(plan, notes=imported.notes), imported.findings)
        _require_toml(text, path)
    file = plan_from_bytes(content, path)
    if script:
        file = replace(file, plan=file.plan.model_copy(update={"script": script}))
    return PlanInput(file)


def _require_toml(text: str, path: Path) -> None:
    """Say what a file seems to be that is neither a plan nor a list of arguments."""
    try:
        tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        if path.suffix.lower() == ".json" or text.lstrip().startswith("{"):
            reason = _("it is JSON, like the settings of other programs; only plan files can be read yet")
        elif path.suffix.lower() in (".bat", ".cmd", ".sh", ".ps1") or "accelerate launch" in text:
            reason = _("it is a script; write its arguments into a text file, one a line, and name --script")
        else:
            reason = _("it is no list of arguments, one a line, and no plan file: {error}").format(
                error=error
            )
        raise CannotRead(path, reason) from error
