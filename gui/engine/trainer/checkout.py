"""Reads what a folder of training scripts says about itself, without running anything."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from gui.engine.documents import Document

CARD = "TRAINER.json"

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_VERSION_LINE = re.compile(r"^[\s#*_-]*version\s+v?(\d+\.\d+(?:\.\d+)?)", re.IGNORECASE | re.MULTILINE)
_VERSION_TAG = re.compile(r"refs/tags/v?(\d+\.\d+(?:\.\d+)?)")
_SETUP_PARSER = re.compile(r"^def setup_parser\(", re.MULTILINE)
_RETIRED = re.compile(r"(_old|_XTI)\.py$")
_README_BYTES = 64 * 1024


class TrainerCard(Document):
    """What a trainer calls itself.

    Attributes:
        name: ``sd-scripts`` unless its ``TRAINER.json`` says otherwise.
        label: For people; empty when there is nothing to add to the name.
        version: Its version, where it says one.
    """

    name: str = "sd-scripts"
    label: str = ""
    version: str | None = None


def is_checkout(folder: Path) -> bool:
    """Tell whether a folder holds training scripts and their library."""
    return (folder / "train_network.py").is_file() and (folder / "library").is_dir()


def card_of(root: Path) -> TrainerCard:
    """Return the trainer's own name, label and version; sd-scripts has no card and needs none."""
    try:
        content: Any = json.loads((root / CARD).read_text("utf-8-sig"))
        known = {key: content[key] for key in TrainerCard.model_fields if key in content}
        return TrainerCard.model_validate(known)
    except (OSError, ValueError, TypeError, RecursionError):
        return TrainerCard()


def training_scripts(root: Path) -> tuple[str, ...]:
    """Return the file names of the scripts that train and declare a parser.

    Retired variants (``*_old.py``, ``*_XTI.py``) and mere redirections to another script
    (``train_controlnet.py``) are left out.
    """
    scripts = []
    for path in sorted(root.glob("*.py")):
        named = "train" in path.stem or path.stem == "fine_tune"
        if named and not _RETIRED.search(path.name) and _SETUP_PARSER.search(_text(path)):
            scripts.append(path.name)
    return tuple(scripts)


def version_of(root: Path, commit: str | None = None) -> str | None:
    """Return the trainer's version.

    Its card comes first, then a git tag on exactly this commit, then the newest version
    that its README announces.
    """
    card = card_of(root)
    if card.version:
        return card.version
    tag = _tag_of(root, commit) if commit else None
    if tag:
        return tag
    announced = _VERSION_LINE.search(_text(root / "README.md", _README_BYTES))
    return announced[1] if announced else None


def commit_of(root: Path) -> str | None:
    """Return the commit that is checked out, read without git; None when it cannot be told.

    Knows plain clones, submodules and worktrees (``.git`` as a file), loose and packed refs.
    """
    git = git_folder(root)
    if git is None:
        return None
    head = _text(git / "HEAD", 4096).strip()
    if not head.startswith("ref:"):
        return head if _HASH.fullmatch(head) else None
    name = head[4:].strip()
    for folder in (git, _common_folder(git)):
        loose = _text(folder / name, 4096).strip()
        if _HASH.fullmatch(loose):
            return loose
        packed = re.search(rf"^([0-9a-f]{{40,64}}) {re.escape(name)}$", _text(folder / "packed-refs"), re.M)
        if packed:
            return packed[1]
    return None


def git_folder(root: Path) -> Path | None:
    """Return the folder that holds a checkout's ``HEAD``; None when it is no git checkout."""
    git = root / ".git"
    if git.is_dir():
        return git
    pointer = _text(git, 4096).strip()
    if not pointer.startswith("gitdir:"):
        return None
    folder = root / pointer[7:].strip()
    return folder if folder.is_dir() else None


def _common_folder(git: Path) -> Path:
    pointer = _text(git / "commondir", 4096).strip()
    return git / pointer if pointer else git


def _tag_of(root: Path, commit: str) -> str | None:
    git = git_folder(root)
    if git is None:
        return None
    common = _common_folder(git)
    for path in sorted((common / "refs" / "tags").glob("*")):
        found = _VERSION_TAG.fullmatch(f"refs/tags/{path.name}")
        if found and _text(path, 4096).strip() == commit:
            return found[1]
    name = ""
    for line in _text(common / "packed-refs").splitlines():
        value, _space, ref = line.partition(" ")
        name = ref or name  # a line "^commit" says what the annotated tag before it points at
        found = _VERSION_TAG.fullmatch(name)
        if found and value.lstrip("^") == commit:
            return found[1]
    return None


def _text(path: Path, limit: int = 8 * 1024 * 1024) -> str:
    try:
        with path.open("rb") as file:
            return file.read(limit).decode("utf-8", "replace")
    except OSError:
        return ""
