"""Looks at a model file or folder and tells what it is; nothing is loaded and nothing unpickled.

Of a safetensors file the header is read, of a PyTorch file its first bytes. Source: MODEL-07,
MODEL-08, knowledge S7.
"""

from __future__ import annotations

from pathlib import Path

from gui.engine.documents import reason_of
from gui.engine.errors import CannotRead, NotSafetensors
from gui.engine.texts import _
from gui.engine.trainer.diffusers_folder import folder_kind
from gui.engine.trainer.model_kind import Container, ModelKind, kind_of_header
from gui.engine.trainer.model_signatures import Signatures, model_signatures
from gui.engine.trainer.safetensors_file import (
    LENGTH_BYTES,
    MAX_HEADER_BYTES,
    SafetensorsHeader,
    read_header,
)

LARGEST_HEADER_BYTES = 32 << 20
"""No model's header is as large (the largest known have 2 MB); reading one would take seconds."""

HEAD_BYTES = 512


def model_kind(path: Path, signatures: Signatures | None = None) -> ModelKind:
    """Return what a model file or Diffusers folder is.

    Args:
        path: The file or folder.
        signatures: The table; None takes the program's own.

    Raises:
        CannotRead: It is not there, or the system does not let it be read.
    """
    table = signatures or model_signatures()
    try:
        if path.is_dir():
            return folder_kind(path, table)
        if path.exists() and not path.is_file():  # a pipe would be waited for without end
            return ModelKind(container="other", loads=False, problem=_("It is neither a file nor a folder."))
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except (OSError, ValueError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else _("no disk can hold such a name")
        raise CannotRead(path, reason) from error
    container = _container(head)
    if container != "safetensors":
        problem = _problem(container, path)
        return ModelKind(container=container, loads=False if problem else None, problem=problem)
    return _of_safetensors(path, int.from_bytes(head[:LENGTH_BYTES], "little"), table)


def _is_named_safe(path: Path) -> bool:
    return path.suffix.lower() == ".safetensors"


def _container(head: bytes) -> Container:
    """Tell by its first bytes how a file is packed."""
    if not head:
        return "empty"
    if head[LENGTH_BYTES : LENGTH_BYTES + 1] == b"{" and not head.startswith(b"PK"):
        return "safetensors"
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:16].lower()
    marks: tuple[tuple[Container, bool], ...] = (
        ("gguf", head.startswith(b"GGUF")),
        ("pickle", head.startswith(b"PK\x03\x04") or (head[:1] == b"\x80" and head[1:2] in b"\1\2\3\4\5")),
        ("web-page", text.startswith((b"<!doctype", b"<html", b"<?xml", b"<head"))),
    )
    return next((name for name, fits in marks if fits), "other")


def _problem(container: Container, path: Path) -> str | None:
    """Say what is wrong with a file that is no safetensors file."""
    named = _is_named_safe(path)
    if container == "pickle":
        return _("It is a PyTorch file with the wrong ending: rename it to .ckpt.") if named else None
    if container == "other":
        return _("It does not begin like a safetensors file.") if named else None
    return {
        "empty": _("It is empty."),
        "web-page": _("It is a web page, not a model: the download was refused or needs an account."),
        "gguf": _("It is a GGUF file, compressed for making images; the trainer cannot read it."),
    }[container]


def _of_safetensors(path: Path, header_bytes: int, table: Signatures) -> ModelKind:
    if LARGEST_HEADER_BYTES < header_bytes <= MAX_HEADER_BYTES:
        return ModelKind(
            container="safetensors",
            problem=_("Its header would be {size} MB long: no model’s is.").format(
                size=header_bytes // 10**6
            ),
        )
    try:
        header = read_header(path)
    except NotSafetensors as error:
        said = error.reason[:1].upper() + error.reason[1:] + "."
        return ModelKind(container="safetensors", complete=False, loads=False, problem=said)
    kind = kind_of_header(header, table)
    if header.complete:
        return kind
    return kind.model_copy(update={"loads": False, "problem": _length(header)})


def _length(header: SafetensorsHeader) -> str:
    missing = header.expected_bytes - header.actual_bytes
    if missing > 0:
        return _("It is cut: {missing} of {all} bytes are missing. Download or copy it again.").format(
            missing=missing, all=header.expected_bytes
        )
    return _("It is {more} bytes longer than its header says. Download or copy it again.").format(
        more=-missing
    )
