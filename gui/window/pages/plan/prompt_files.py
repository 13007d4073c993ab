"""Files of sample prompts that the wizard writes; it never writes over one that it did not."""

from __future__ import annotations

import re
from pathlib import Path

from gui.engine.documents import read_text, write_atomically
from gui.engine.errors import CannotRead, CannotWrite
from gui.engine.paths import Home
from gui.engine.plan.paths import absolute
from gui.engine.texts import _

MARK = "# written by Kohya Preflight"
"""The first line of a file that may be written again; the trainer passes over lines that begin so."""

LARGEST_BYTES = 64 * 1024
_UNFIT = re.compile(r"[^\w.-]+")


class PromptFile:
    """A file of prompts as it was read.

    Attributes:
        path: Where it is.
        text: The prompts, without the mark.
        own: Whether the wizard wrote it and may write it again.
    """

    def __init__(self, path: Path, text: str, *, own: bool) -> None:
        self.path = path
        self.text = text
        self.own = own


def read_prompts(path: Path) -> PromptFile:
    """Read a file of prompts.

    Raises:
        CannotRead: It is missing, too large, or no text.
    """
    if path.suffix.lower() in (".json", ".toml"):
        return PromptFile(path, read_text(path), own=False)
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise CannotRead(path, _("it is too large for a list of prompts"))
    except OSError:
        pass  # reading says it in words
    text = read_text(path)
    own = text.startswith(MARK)
    return PromptFile(path, text.partition("\n")[2] if own else text, own=own)


def write_prompts(path: Path, text: str) -> None:
    """Write prompts to a file of the wizard's own.

    Raises:
        CannotWrite: Somebody else's file is there, or the folder cannot be written.
    """
    if path.exists():
        try:
            foreign = not read_prompts(path).own
        except CannotRead:
            foreign = True
        if foreign:
            raise CannotWrite(path, _("a file that Kohya Preflight did not write is there"))
    write_atomically(path, f"{MARK}\n{text.rstrip()}\n")


def place_for_prompts(plan_path: Path | None, name: str, home: Home) -> Path:
    """Return where prompts of a plan go: beside its file, in the home for a plan that has none.

    Args:
        plan_path: The plan's file.
        name: The plan's name.
        home: Where files of unsaved plans go.
    """
    stem = _UNFIT.sub("_", plan_path.stem if plan_path else name).strip("._") or "plan"
    folder = plan_path.absolute().parent if plan_path else home.root / "prompts"
    for number in range(1, 1000):
        path = folder / (f"{stem}-prompts.txt" if number == 1 else f"{stem}-prompts-{number}.txt")
        if not path.exists():
            return path
    return folder / f"{stem}-prompts.txt"


def file_of(value: object, base: Path) -> Path | None:
    """Return the file that a plan names for its prompts; None where it names none."""
    return Path(absolute(value, base)) if isinstance(value, str) and value.strip() else None
