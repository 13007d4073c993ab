"""Reads whatever somebody brings as a plan, and knows by its content what it is."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NoReturn

from gui.engine.documents import decode_text, read_bytes, reason_of
from gui.engine.errors import CannotRead, ScriptNeeded
from gui.engine.findings import Finding
from gui.engine.importers.arguments_text import looks_like_arguments, read_arguments
from gui.engine.importers.assembling import Draft, Source, assemble
from gui.engine.importers.imported import Imported
from gui.engine.importers.kohya_gui import is_gui_settings, read_gui_settings
from gui.engine.importers.lora_easy import is_lora_easy, read_lora_easy
from gui.engine.importers.model_file import looks_like_model, read_model
from gui.engine.importers.scripts import names_training, read_script, read_words
from gui.engine.importers.sd_scripts_toml import (
    is_config,
    is_dataset,
    parse_toml,
    read_config,
    read_dataset,
    require_finite,
    take_config_file,
    take_dataset_file,
)
from gui.engine.importers.shell_words import shell_of
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.plan_file import LARGEST_PLAN_BYTES, PlanFile, moved_plan, plan_from_bytes
from gui.engine.redaction import Secret
from gui.engine.texts import _
from gui.engine.trainer.catalogue import Catalogue

SetupKind = Literal["plan", "arguments", "script", "kohya-gui", "config", "dataset", "lora-easy", "model"]

_PLAN_KEYS = frozenset(field.alias or name for name, field in TrainingPlan.model_fields.items())
_SCRIPT_SUFFIXES = frozenset({".bat", ".cmd", ".sh", ".ps1"})
_NAMED_SCRIPT = re.compile(
    r"^[ \t]*(?:#|rem|::)[ \t]*script[ \t]*[:=][ \t]*(\w{1,80}(?:\.py)?)[ \t]*$", re.MULTILINE | re.IGNORECASE
)
_SECOND_FLAG = re.compile(r"^[ \t]*--\S.*[ \t]--[A-Za-z]", re.MULTILINE)


@dataclass(frozen=True)
class PlanInput:
    """A plan as it was brought.

    Attributes:
        file: The plan; not yet a file of its own when it was imported.
        findings: What the imported file itself had wrong.
        kind: What the file is.
        secrets: Tokens that stood in an imported file, by the trainer's argument; they are not in the plan.
    """

    file: PlanFile
    findings: tuple[Finding, ...] = ()
    kind: SetupKind = "plan"
    secrets: Mapping[str, Secret] = field(default_factory=dict)


def read_setup(path: Path, script: str | None, catalogue: Catalogue) -> PlanInput:
    """Read a plan file, or make a plan of what other programs write.

    Plan files, lists of arguments, scripts of three shells, settings of the kohya_ss GUI and of
    LoRA_Easy_Training_Scripts, the trainer's own TOML files, and trained safetensors files.

    Args:
        path: The file.
        script: The training script: needed where the file does not tell it, and replaces a plan's own.
        catalogue: The trainer's arguments.

    Raises:
        CannotRead: It is missing, or nothing that can be read.
        ScriptNeeded: Nothing tells for which script it is, and none was named.
        ScriptNotUsable: The trainer has no such script.
    """
    source = Source.of(path)
    if looks_like_model(path, _first_bytes(path)):
        return _imported(assemble(read_model(path, script, catalogue), source), source, "model")
    content = read_bytes(path, LARGEST_PLAN_BYTES)
    return _read(content, decode_text(content, path), source, script, catalogue)


def read_setup_text(
    text: str, script: str | None, catalogue: Catalogue, *, name: str = "", base: Path | None = None
) -> PlanInput:
    """Read what was pasted; see ``read_setup``.

    Args:
        text: Any text that ``read_setup`` reads from a file.
        script: The training script.
        catalogue: The trainer's arguments.
        name: Becomes the plan's name; empty takes one.
        base: The folder against which relative paths are meant; None takes the current one.
    """
    named = name or _("the pasted text")
    source = Source(name or "imported", Path(named), base or Path.cwd())
    content = text.encode("utf-8", "replace")
    if len(content) > LARGEST_PLAN_BYTES:
        raise CannotRead(source.path, _("it is too large for what it should be"))
    return _read(content, decode_text(content, source.path), source, script, catalogue)


def _first_bytes(path: Path) -> bytes:
    """Return the first bytes of a regular file; others, such as pipes, can be read only once."""
    try:
        if path.is_dir():  # which Windows calls a lack of permission
            raise CannotRead(path, _("it is a folder"))
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(9)
    except OSError as error:
        raise CannotRead(path, reason_of(error)) from error


def _read(content: bytes, text: str, source: Source, script: str | None, catalogue: Catalogue) -> PlanInput:
    suffix = source.path.suffix.lower()
    named = script or _named_script(text, catalogue)
    if suffix in _SCRIPT_SUFFIXES:
        return _script(text, source, catalogue)
    if suffix == ".json" or text.lstrip().startswith("{"):
        settings = _json(text, source.path)
        if not is_gui_settings(settings):
            reason = _("it is JSON, but no settings of the kohya_ss GUI")
            raise CannotRead(source.path, reason)
        return _drafted(read_gui_settings(settings, script, catalogue), source, catalogue, "kohya-gui")
    if suffix != ".toml" and looks_like_arguments(text):
        return _arguments(text, source, named, catalogue)
    if suffix != ".toml" and not _is_toml(text):
        if names_training(text, catalogue):
            return _script(text, source, catalogue)
        _say_what_it_is_not(text, source.path)
    return _toml(content, text, source, script, named, catalogue)


def _named_script(text: str, catalogue: Catalogue) -> str | None:
    """Return the script that a comment names (``# script: train_network.py``)."""
    found = _NAMED_SCRIPT.search(text)
    name = found[1] if found else ""
    file_name = name if name.endswith(".py") else f"{name}.py"
    return file_name if file_name in catalogue.scripts else None


def _json(text: str, path: Path) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in pairs:
            if key in made:
                raise CannotRead(path, _("{key} is said twice").format(key=key))
            made[key] = value
        return made

    def no_number(name: str) -> NoReturn:
        raise CannotRead(path, _("{key} is no finite number").format(key=name))

    try:
        data = json.loads(text, object_pairs_hook=once, parse_constant=no_number)
        require_finite(data, path)
    except RecursionError as error:
        raise CannotRead(path, _("it is nested too deeply")) from error
    except ValueError as error:
        raise CannotRead(path, _("it is not JSON: {error}").format(error=error)) from error
    return data


def _script(text: str, source: Source, catalogue: Catalogue) -> PlanInput:
    shell = shell_of(text, source.path.suffix)
    return _drafted(read_script(text, shell, source, catalogue), source, catalogue, "script")


def _arguments(text: str, source: Source, script: str | None, catalogue: Catalogue) -> PlanInput:
    """Read a list of arguments: one a line, or several as they were pasted from a command line."""
    if not script:
        raise ScriptNeeded(source.path)
    if not _SECOND_FLAG.search(text):
        return _imported(read_arguments(text, script, catalogue, source.path), source, "arguments")
    return _drafted(read_words(text, script, source, catalogue), source, catalogue, "arguments")


def _is_toml(text: str) -> bool:
    try:
        return bool(tomllib.loads(text))
    except (ValueError, RecursionError):
        return False


def _say_what_it_is_not(text: str, path: Path) -> NoReturn:
    try:
        tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        reason = _("it is no list of arguments, one a line, and no plan file: {error}").format(error=error)
        raise CannotRead(path, reason) from error
    raise CannotRead(path, _("there is nothing in it"))


def _toml(  # noqa: PLR0917 – what is known about one text
    content: bytes, text: str, source: Source, script: str | None, named: str | None, catalogue: Catalogue
) -> PlanInput:
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError):
        data = {}
    if is_lora_easy(data):
        parse_toml(text, source.path)
        return _drafted(read_lora_easy(data, script, catalogue), source, catalogue, "lora-easy")
    if not _PLAN_KEYS & data.keys():
        if is_dataset(data):
            draft = read_dataset(parse_toml(text, source.path), named, source.path)
            return _drafted(draft, source, catalogue, "dataset")
        if is_config(data, catalogue):
            settings = parse_toml(text, source.path)
            if not named:
                raise ScriptNeeded(source.path)
            draft = read_config(settings, named, catalogue)
            return _drafted(draft, source, catalogue, "config")
    file = plan_from_bytes(content, source.path)
    if script:
        file = replace(file, plan=file.plan.model_copy(update={"script": script}))
    return PlanInput(file)


def _drafted(draft: Draft, source: Source, catalogue: Catalogue, kind: SetupKind) -> PlanInput:
    if draft.script:
        take_config_file(draft, source, catalogue)
        take_dataset_file(draft, source)
    return _imported(assemble(draft, source), source, kind)


def _imported(imported: Imported, source: Source, kind: SetupKind) -> PlanInput:
    plan = moved_plan(imported.plan, source.base, Path.cwd())
    return PlanInput(PlanFile(plan, notes=imported.notes), imported.findings, kind, imported.secrets)
