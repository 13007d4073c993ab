"""Reads and writes small documents so that a crash or a full disk never leaves half a file."""

from __future__ import annotations

import codecs
import contextlib
import json
import math
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticSerializationError

from gui.engine.file_errors import CannotRead, CannotWrite
from gui.engine.texts import _

LARGEST_TEXT_BYTES = 64 * 1024 * 1024
"""No document of this program is as large; a file that is, is the wrong one, or has no end."""

LOOKED_AT = 1000
"""So many letters of a text tell whether it is one: of UTF-16 every other byte is zero."""


class Document(BaseModel):
    """The base of every document and message: nothing extra, nothing mutable by accident."""

    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_inf_nan="strings")

    def model_dump_json(self, *, indent: int | None = None, **how: Any) -> str:
        """Return the document as JSON, also when it names a file whose name is no text."""
        try:
            return super().model_dump_json(indent=indent, **how)
        except PydanticSerializationError:
            data = _writable(self.model_dump(mode="json", **how))
            return json.dumps(data, indent=indent, ensure_ascii=False)


def _writable(value: Any) -> Any:
    """Return JSON data with what UTF-8 cannot write shown as an escape, and every number as JSON has it."""
    if isinstance(value, dict):
        return {_writable(key): _writable(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_writable(child) for child in value]
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, float) and not math.isfinite(value):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    return value


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
        if path.exists() and not (path.is_file() or path.is_dir()):
            path.write_bytes(content)  # a pipe or a device: root could put a file in the place of /dev/null
            return
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
    if isinstance(error, IsADirectoryError):
        return _("it is a folder")
    return error.strerror or str(error) or type(error).__name__


def read_bytes(path: Path, most_bytes: int = LARGEST_TEXT_BYTES) -> bytes:
    """Read a small file once, which may as well be a pipe.

    Raises:
        CannotRead: It is missing, not readable, or has more bytes.
    """
    try:
        with path.open("rb") as file:
            content = file.read(most_bytes + 1)
    except OSError as error:
        raise CannotRead(path, reason_of(error)) from error
    if len(content) > most_bytes:
        raise CannotRead(path, _("it is too large for what it should be"))
    return content


def decode_text(content: bytes, path: Path) -> str:
    r"""Return a text without its byte order mark, lines ended by ``\n``.

    UTF-8, or UTF-16 with its mark, as ``>`` of Windows PowerShell writes it.

    Raises:
        CannotRead: It is neither; the sentence names the path.
    """
    is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = content.decode("utf-16" if is_utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise CannotRead(path, _("it is not UTF-8 text (byte {at})").format(at=error.start)) from error
    if "\0" in text[:LOOKED_AT]:
        raise CannotRead(path, _("it is not UTF-8 text but UTF-16 without its mark, or no text at all"))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_text(path: Path) -> str:
    r"""Read a small UTF-8 file, with or without a byte order mark; lines end with ``\n``.

    Raises:
        CannotRead: It is missing, not readable, too large, or not UTF-8.
    """
    return decode_text(read_bytes(path), path)


def read_json(path: Path) -> Any:
    """Read a JSON document.

    Raises:
        CannotRead: It is missing, not readable, or not JSON.
    """
    try:
        return json.loads(read_text(path))
    except RecursionError as error:
        raise CannotRead(path, _("it is nested too deeply")) from error
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
            with contextlib.suppress(ValueError, RecursionError):
                value = json.loads(line)
                if isinstance(value, dict):
                    yield value
