"""Tells whether a file or folder that the trainer writes is all there.

The trainer says that it saves before it does, and nothing when it has (trainer-output 3.3); what a
full disk or a kill leaves bears the final name. So each kind is judged by its own end: a model by
the length that its header declares, a PyTorch file by its table of contents, a picture by its last
block, a state by the file that is written last.
"""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

from gui.engine.documents import read_json
from gui.engine.errors import CannotRead
from gui.engine.runs.save_names import SaveKind
from gui.engine.trainer.tensors import file_is_whole, model_files, zip_is_whole

PNG_END = b"IEND\xaeB`\x82"
STATE_LAST_FILES = "random_states_*.pkl"
"""Written last of a state (accelerate/checkpointing.py, save_accelerator_state)."""
DIFFUSERS_LAST_FILE = "model_index.json"
"""Written last of a Diffusers model (diffusers DiffusionPipeline.save_pretrained)."""


def is_whole(path: Path, kind: SaveKind) -> bool:
    """Whether a file or folder has the end that it should have.

    Args:
        path: A model file or folder, a state, or a sample.
        kind: Which of them.
    """
    try:
        if kind == "sample":
            return _ends_with(path, PNG_END)
        if path.is_dir():
            return _folder_is_whole(path, kind)
        return file_is_whole(path)
    except (OSError, CannotRead):
        return False


def _folder_is_whole(folder: Path, kind: SaveKind) -> bool:
    if kind == "state":
        last = [path for path in folder.glob(STATE_LAST_FILES) if zip_is_whole(path)]
        if not last:
            return False
    else:
        read_json(folder / DIFFUSERS_LAST_FILE)
    return all(file_is_whole(path) for path in model_files(folder))


def _ends_with(path: Path, end: bytes) -> bool:
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) < len(end):
            return False
        file.seek(-len(end), os.SEEK_END)
        return file.read() == end


def has_writer(path: Path) -> bool | None:
    """Whether a process has the file open for writing; None where the system cannot tell cheaply.

    Linux grants a read lease on a file only while nobody writes it. The lease is given back at once;
    a process that opens the file in between waits for that, and notices nothing. Windows could tell
    by an exclusive open, but that would make the trainer's own open fail: there it is None.
    """
    if sys.platform != "linux":
        return None
    import fcntl
    import signal

    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        # The signal that tells of a writer who comes meanwhile would end this process by default.
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return True if error.errno == errno.EAGAIN else None
    else:
        return False
    finally:
        os.close(handle)
