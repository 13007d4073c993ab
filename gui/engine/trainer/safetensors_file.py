"""Reads what a safetensors file says about itself, without loading a tensor.

The format: eight bytes little-endian with the length of the header, the header (a JSON object in
UTF-8, padded with spaces), then the tensors' bytes without a gap. Everything is judged as the
format's own reader judges it, so that what passes here loads, and a hostile or cut file gives a
sentence instead of a crash (knowledge N2, S7; trainer-output 4, m_disk_full: a full disk leaves a
cut file under the final name).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from gui.engine.documents import reason_of
from gui.engine.errors import CannotRead, NotSafetensors
from gui.engine.texts import _

MAX_HEADER_BYTES = 100_000_000
"""The format's own bound on the header."""

LENGTH_BYTES = 8
METADATA_KEY = "__metadata__"

DTYPE_BITS: Mapping[str, int] = {
    "BOOL": 8,
    "F4": 4,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
    "U8": 8,
    "I8": 8,
    "F8_E5M2": 8,
    "F8_E4M3": 8,
    "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8,
    "F8_E5M2FNUZ": 8,
    "I16": 16,
    "U16": 16,
    "F16": 16,
    "BF16": 16,
    "I32": 32,
    "U32": 32,
    "F32": 32,
    "C64": 64,
    "F64": 64,
    "I64": 64,
    "U64": 64,
}
"""Bits of one element, by the format's name of the kind (safetensors 0.8)."""


class TensorInfo(NamedTuple):
    """One tensor as the header describes it.

    Attributes:
        dtype: The format's name of the kind, such as ``BF16``.
        shape: Its dimensions; empty for a scalar.
        start: First byte, counted from the end of the header.
        end: Byte after the last one, counted likewise.
    """

    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int

    @property
    def size_bytes(self) -> int:
        """How many bytes it takes in the file."""
        return self.end - self.start


@dataclass(frozen=True)
class SafetensorsHeader:
    """What a safetensors file says about itself.

    Attributes:
        tensors: Tensor name to its description, in the order of their bytes.
        metadata: The free text fields (``ss_…``, ``modelspec.…``).
        header_bytes: Length of the header, without the eight bytes before it.
        expected_bytes: Length that the whole file must have.
        actual_bytes: Length that it has.
    """

    tensors: Mapping[str, TensorInfo]
    metadata: Mapping[str, str]
    header_bytes: int
    expected_bytes: int
    actual_bytes: int

    @property
    def data_start(self) -> int:
        """Where in the file the tensors' bytes begin."""
        return LENGTH_BYTES + self.header_bytes

    @property
    def complete(self) -> bool:
        """Whether the file is as long as its header says, to the byte."""
        return self.actual_bytes == self.expected_bytes


def read_header(path: Path) -> SafetensorsHeader:
    """Read the header of a safetensors file; the tensors are not read.

    A file that ends within its tensors is no error: ``complete`` is False then.

    Args:
        path: The file.

    Raises:
        NotSafetensors: The header is cut (``truncated``), too long, no JSON, or contradicts itself.
        CannotRead: The system does not let the file be read.
    """
    try:
        with path.open("rb") as file:
            actual = os.fstat(file.fileno()).st_size
            length = _header_length(path, file.read(LENGTH_BYTES), actual)
            raw = file.read(length)
    except OSError as error:
        raise CannotRead(path, reason_of(error)) from error
    if raw[:1] not in (b"{", b""):
        raise NotSafetensors(path, _("it does not begin like a safetensors file"))
    if len(raw) < length:
        raise NotSafetensors(path, _("it ends within its header"), truncated=True)
    return _judge(path, raw, actual)


def _header_length(path: Path, first: bytes, actual_bytes: int) -> int:
    if len(first) < LENGTH_BYTES:
        reason = _("it is empty") if not actual_bytes else _("it ends within its first eight bytes")
        raise NotSafetensors(path, reason, truncated=True)
    length = int.from_bytes(first, "little")
    if length > MAX_HEADER_BYTES:
        raise NotSafetensors(path, _("it does not begin like a safetensors file (header too long)"))
    if length < len("{}"):
        raise NotSafetensors(path, _("it does not begin like a safetensors file (header too short)"))
    return length


def _judge(path: Path, raw: bytes, actual_bytes: int) -> SafetensorsHeader:
    try:
        fields = _parse(raw)
        metadata = _metadata(fields.pop(METADATA_KEY, {}))
        tensors = _in_order({name: _tensor(name, value) for name, value in fields.items()})
    except _Contradiction as error:
        raise NotSafetensors(path, error.reason) from error
    data_bytes = max((tensor.end for tensor in tensors.values()), default=0)
    return SafetensorsHeader(
        tensors=tensors,
        metadata=metadata,
        header_bytes=len(raw),
        expected_bytes=LENGTH_BYTES + len(raw) + data_bytes,
        actual_bytes=actual_bytes,
    )


class _Contradiction(Exception):
    """The header is not what the format allows; ``reason`` is translated."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def _parse(raw: bytes) -> dict[str, Any]:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _Contradiction(_("its header is not UTF-8 text")) from error
    try:
        fields: dict[str, Any] = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise _Contradiction(_("its header is not JSON")) from error
    return fields  # what begins with a brace is an object


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise _Contradiction(_("its header names something twice"))
    return fields


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _metadata(value: Any) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise _Contradiction(_("its metadata is not made of texts"))
    _printable(value.keys())
    _printable(value.values())
    return value


def _printable(texts: Iterable[str]) -> None:
    """Refuse halves of surrogate pairs: JSON can write them, no UTF-8 output can."""
    try:
        for text in texts:
            text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise _Contradiction(_("its header is not UTF-8 text")) from error


def _tensor(name: str, value: Any) -> TensorInfo:
    _printable([name])
    if not isinstance(value, dict) or value.keys() != {"dtype", "shape", "data_offsets"}:
        raise _Contradiction(_("tensor “{name}” is not described as the format asks").format(name=name))
    dtype, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPE_BITS:
        raise _Contradiction(_("tensor “{name}” is of an unknown kind").format(name=name))
    if not (_counts(shape) and _counts(offsets)) or len(offsets) != 2:
        raise _Contradiction(_("tensor “{name}” is not described as the format asks").format(name=name))
    start, end = offsets
    if _bits(shape, DTYPE_BITS[dtype], most=(end - start) * 8) != (end - start) * 8:
        raise _Contradiction(_("tensor “{name}” has another size than its shape").format(name=name))
    return TensorInfo(dtype, tuple(shape), start, end)


def _bits(shape: list[int], bits: int, most: int) -> int:
    """Return the size of a tensor, or something above ``most``: a hostile shape can be endless."""
    if 0 in shape:
        return 0
    for length in shape:
        bits *= length
        if bits > most:
            break
    return bits


def _counts(value: Any) -> bool:
    """Whether it is a list of whole numbers from 0; JSON's true is no number."""
    return isinstance(value, list) and all(type(number) is int and number >= 0 for number in value)


def _in_order(tensors: dict[str, TensorInfo]) -> dict[str, TensorInfo]:
    ordered = sorted(tensors.items(), key=lambda item: (item[1].start, item[1].end))
    at = 0
    for name, tensor in ordered:
        if tensor.start != at:
            reason = _("tensor “{name}” overlaps another one") if tensor.start < at else None
            reason = reason or _("there is a gap before tensor “{name}”")
            raise _Contradiction(reason.format(name=name))
        at = tensor.end
    return dict(ordered)
