"""Rules about paths: what must be there, as what, and blanks around names.

Source: trainer-facts 1.2 (train_util.py:5527, flux_utils.py:55, sd3_train.py:209-226); MODEL-10, STEP-14.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from gui.engine.findings import Finding, Fix
from gui.engine.plan.families import ModelFile
from gui.engine.plan.paths import DATASET_PATHS, PATH_ARGUMENTS, PATH_OR_HUB_ARGUMENTS
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import leave_out, write
from gui.engine.preflight.view import View
from gui.engine.texts import _

FILES = frozenset(
    {
        *("ae", "clip_l", "clip_g", "t5xxl", "gemma2", "text_encoder", "byt5", "network_weights"),
        *("base_weights", "weights", "dataset_config", "in_json", "log_tracker_config"),
    }
)
"""Arguments that name a file which must be there."""

FOLDERS = frozenset(
    {"resume", "train_data_dir", "reg_data_dir", "conditioning_data_dir", "t5_tokenizer_path"}
)
"""Arguments that name a folder which must be there."""

EITHER = frozenset({"pretrained_model_name_or_path", "vae", "qwen3", "controlnet_model_name_or_path"})
"""Arguments that name a file or a folder; a family's data may say which."""

MADE = frozenset({"output_dir", "logging_dir", "tokenizer_cache_dir"})
"""Arguments that name a folder which is made where it is missing."""

METADATA = "metadata_file"
"""The dataset option that names a file which must be there."""

UNREADABLE = frozenset({".gguf"})
"""Model files that the trainer cannot read at all."""


def _files(view: View) -> tuple[ModelFile, ...]:
    return view.kin.files if view.kin else ()


def _forms(view: View, name: str) -> set[str]:
    """Return as what a path may be given: ``file``, ``folder``."""
    if name in FILES or name.endswith(f".{METADATA}"):
        return {"file"}
    if name in FOLDERS or name in MADE:
        return {"folder"}
    for file in _files(view):
        if file.argument == name:
            return {form for form in file.forms if form != "hub"}
    return {"file", "folder"}


def _required(view: View, name: str) -> bool:
    return any(file.argument == name and file.required for file in _files(view)) or name == "resume"


def _texts(view: View, names: frozenset[str]) -> Iterator[tuple[str, str]]:
    if view.flag("resume_from_huggingface"):
        names -= {"resume"}
    for name in sorted(names & view.plan.arguments.keys()):
        value = view.plan.arguments[name]
        for text in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(text, str) and text:
                yield name, text


def _named(view: View, names: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the paths of some arguments, and of the files that list a subset's images."""
    yield from _texts(view, names)
    for subset in view.subsets:
        text = subset.own.get(METADATA)
        if isinstance(text, str) and text:
            yield subset.target_of(METADATA), text


def _ways_out(view: View, name: str) -> tuple[Fix, ...]:
    return () if _required(view, name) or name in ("train_data_dir", "dataset_config") else (leave_out(name),)


def _unread(view: View, name: str) -> bool:
    """Return whether the family's scripts take a file's argument and never open the file."""
    entries = view.kin.cannot if view.kin else ()
    return any(name in entry.arguments and entry.effect == "ignored" for entry in entries)


def check_path_missing(view: View) -> Iterator[Finding]:
    """What the trainer reads must be there (trainer-facts 1.2)."""
    for name, text in _named(view, FILES | FOLDERS | EITHER):
        fact = view.path(text)
        if fact is None or fact.kind != "missing" or _unread(view, name):
            continue
        yield Finding(
            id="path-missing",
            severity="stop",
            title=_("{name}: {path} does not exist.").format(name=name, path=text),
            detail=_("The trainer would begin, and fail when it first needs it."),
            arguments=(name,),
            where=f"{name}:{text}",
            fixes=_ways_out(view, name),
            sources=("trainer: train_util.py:5527, 2263, flux_utils.py:55",),
        )


def check_path_kind(view: View) -> Iterator[Finding]:
    """A folder is no file, and a file no folder."""
    for name, text in _named(view, FILES | FOLDERS | EITHER | MADE):
        fact = view.path(text)
        if fact is None or fact.kind == "missing" or fact.kind in _forms(view, name):
            continue
        yield Finding(
            id="path-kind",
            severity="stop",
            title=(
                _("{name} must be a file; {path} is a folder.")
                if fact.kind == "folder"
                else _("{name} must be a folder; {path} is a file.")
            ).format(name=name, path=text),
            detail=_("The trainer would begin, and fail when it first needs it."),
            arguments=(name,),
            where=f"{name}:{text}",
            fixes=() if name == "output_dir" else _ways_out(view, name),
            sources=("trainer: train_util.py:5527, 2263, flux_utils.py:55",),
        )


def check_model_format(view: View) -> Iterator[Finding]:
    """Quantised files for making images cannot be trained."""
    for name, text in _texts(view, FILES | EITHER):
        if PurePath(text).suffix.lower() not in UNREADABLE:
            continue
        yield Finding(
            id="model-format",
            severity="stop",
            title=_("{name}: the trainer cannot read .gguf files.").format(name=name),
            detail=_("They are compressed for making images. Take the original .safetensors file."),
            arguments=(name,),
            where=name,
            fixes=_ways_out(view, name),
            sources=("MODEL-11", "trainer: flux_utils.py:55"),
        )


def check_files_together(view: View) -> Iterator[Finding]:
    """SD 3 takes all its text encoders from files, or all from the checkpoint (sd3_train.py:209-226)."""
    said: set[frozenset[str]] = set()
    for file in _files(view):
        group = frozenset({file.argument, *file.together_with})
        given = {name for name in group if view.given(name)}
        if not file.together_with or not given or given == group or group in said:
            continue
        said.add(group)
        missing = ", ".join(sorted(group - given))
        yield Finding(
            id="files-together",
            severity="danger",
            title=_("{missing} is missing beside {given}.").format(
                missing=missing, given=", ".join(sorted(given))
            ),
            detail=_(
                "These files belong together: the trainer looks for all of them in the checkpoint, or takes "
                "all of them from files. With some of each it usually stops when it loads them."
            ),
            arguments=tuple(sorted(group)),
            fixes=(leave_out(*sorted(given)),),
            sources=("trainer: sd3_train.py:209-226",),
        )


def check_trim(view: View) -> Iterator[Finding]:
    """A blank at an end becomes a part of the name (STEP-14)."""
    own = view.own or view.plan
    names = PATH_ARGUMENTS | PATH_OR_HUB_ARGUMENTS | {"output_name"}
    texts = [(name, value) for name, value in own.arguments.items() if name in names]
    for place, value in _with_blanks((*texts, *dataset_paths("dataset", own.dataset))):
        yield Finding(
            id="trim",
            severity="warning",
            title=_("{name} begins or ends with a blank.").format(name=place),
            detail=_("It becomes a part of the name, and the file or folder is not found again."),
            arguments=(place,),
            where=place,
            fixes=(write({place: value.strip()}, _("take the blanks off"), identity="trim", safe=True),),
            sources=("STEP-14",),
        )


def _with_blanks(pairs: tuple[tuple[str, Any], ...]) -> Iterator[tuple[str, str]]:
    for place, value in pairs:
        if isinstance(value, str) and value.strip() and value != value.strip():
            yield place, value


def dataset_paths(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the paths of a dataset section with their targets, at whatever level they stand.

    Args:
        place: The target of the section.
        value: The section, as a plan has it.
    """
    if isinstance(value, Mapping):
        for key, child in value.items():
            if key in DATASET_PATHS:
                yield f"{place}.{key}", child
            elif isinstance(child, (list, tuple, Mapping)):
                yield from dataset_paths(f"{place}.{key}", child)
    elif isinstance(value, (list, tuple)):
        for index, child in enumerate(value):
            yield from dataset_paths(f"{place}.{index}", child)


RULES: tuple[Rule, ...] = (
    Rule(
        "path-missing",
        check_path_missing,
        ("trainer: train_util.py:5527",),
        lambda: _("Files and folders exist"),
    ),
    Rule("path-kind", check_path_kind, ("trainer: train_util.py:5527",), lambda: _("Files are files")),
    Rule("model-format", check_model_format, ("MODEL-11",), lambda: _("Model files that can be trained")),
    Rule(
        "files-together",
        check_files_together,
        ("trainer: sd3_train.py:209",),
        lambda: _("Files that belong together"),
    ),
    Rule("trim", check_trim, ("STEP-14",), lambda: _("Blanks around names")),
)
