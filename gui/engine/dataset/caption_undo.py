"""Takes back one step of changes to captions, and no more than that step.

Where a step was the first one to change a caption, the kept original comes back to the byte, and a caption
that there was not is gone again. Where it was not, the text from before is written.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gui.engine.dataset.caption_edits import EditPreview, hash_of
from gui.engine.dataset.caption_originals import Written, kept_originals, restore_originals, write_edits
from gui.engine.dataset.presence import is_file
from gui.engine.documents import read_bytes


def take_back(step: EditPreview) -> Written:
    """Take back what ``write_edits`` wrote of a preview.

    Args:
        step: As it was written.

    Raises:
        CannotWrite: A caption cannot be written; those before it are taken back.
        CannotRead: The journal or an original is damaged.
    """
    folder = Path(step.folder)
    standing = [edit for edit in step.edits if _stands(folder / edit.name, edit.after)]
    originals = {kept.name: kept.content for kept in kept_originals(folder)}
    first = {edit.name for edit in standing if originals.get(edit.name) == edit.content}
    restored = restore_originals(folder, first)
    later = [
        replace(
            edit,
            before=edit.after,
            after=edit.before or "",
            content=hash_of(edit.after.encode("utf-8")),
        )
        for edit in standing
        if edit.name not in first
    ]
    written = write_edits(replace(step, edits=tuple(later)))
    done = {*restored.done, *written.done}
    names = [edit.name for edit in step.edits]
    return Written(
        tuple(name for name in names if name in done), tuple(name for name in names if name not in done)
    )


def _stands(path: Path, text: str) -> bool:
    """Return whether a caption still is what was written."""
    return is_file(path) and read_bytes(path) == text.encode("utf-8")
