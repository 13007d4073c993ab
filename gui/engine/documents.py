"""Reads and writes small documents so that a crash or a full disk never leaves half a file."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from gui.engine.errors import CannotRead, CannotWrite
from gui.engine.texts import _


class Document(BaseModel):
    """The base of every document and message: nothing extra, nothing mutable by accident."""

    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_inf_nan="strings")


def write_atomically(path: Path, data: bytes | str, *, durable: bool = True) -> None:
    """Replace a file in one step: readers see the old content or the new, never a part.

    Args:
        path: The file; its folder is made when it is missing.
        data: The content; text is written as UTF-8 with the line ends that it has.
        durable: Whether it must survive a power cut; False for what is replaced several times a second.

    Raises:
        CannotWrite: The folder or file cannot be written. The old content is still there.
    """
    content = data.encode("utf-8") if isinstance(data, str) else data
    try:
        place = path.resolve() if path.is_symlink() else path
        place.parent.mkdir(parents=True, exist_ok=True)
        temporary = place.with_name(f".{place.name[:40]}.{secrets.token_hex(6)}.tmp")
        try:
            with temporary.open("xb") as file:
                file.write(content)
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            if place.exists():
                shutil.copymode(place, temporary)
            _replace(temporary, place)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        raise CannotWrite(path, reason_of(error)) from error


def _replace(source: Path, target: Path) -> None:
    """Move a file over another; Windows refuses while somebody reads the old one, so wait a little."""
    deadline = time.monotonic() + _patience_seconds()
    while True:
        try:
            source.replace(target)
        except PermissionError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _patience_seconds() -> float:
    return 2.0 if os.name == "nt" else 0.0


def reason_of(error: OSError) -> str:
    """Return the system's reason in plain words, without the path that the caller names anyway."""
    return error.strerror or str(error) or type(error).__name__


def read_text(path: Path) -> str:
    """Read a small UTF-8 file, with or without a byte order mark.

    Raises:
        CannotRead: It is missing, not readable, or not UTF-8.
    """
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CannotRead(path, _("it is not UTF-8 text (byte {at})").format(at=error.start)) from error
    except OSError as error:
        raise CannotRead(path, reason_of(error)) from error


def read_json(path: Path) -> Any:
    """Read a JSON document.

    Raises:
        CannotRead: It is missing, not readable, or not JSON.
    """
    try:
        return json.loads(read_text(path))
    except ValueError as error:
        raise CannotRead(path, _("it is not JSON: {error}").format(error=error)) from error


def iterate_json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Read a file of one JSON object a line; a last line that is still being written is left out.

    A line that is no JSON object is passed over: an interrupted write must not hide the rest.
    """
    with path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                return
            with contextlib.suppress(ValueError):
                value = json.loads(line)
                if isinstance(value, dict):
                    yield value
