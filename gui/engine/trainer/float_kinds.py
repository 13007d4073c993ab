"""Looks at raw numbers of every float kind that a model file can hold: NaN, Inf, and how large.

Whether a number is finite is read from its bits, never from arithmetic, so that kinds which numpy
does not know (BF16, the 8-bit floats) are judged as exactly as those it knows. This and the largest
magnitude regard every number.

Kinds of 8 and 16 bits are widened in place of the arithmetic that numpy lacks: their bits, moved to
where a 32-bit float keeps its own, are the same number times a power of two, subnormals included.
To keep up with reading the file, the sum of squares of a large chunk of these is taken from a sample
spread over all of it, which tells a norm to about one percent; of 32 and 64 bits all numbers count.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[Any]
"""Raw bits of numbers, as unsigned integers of the kind's width."""

_SQUARABLE = (1e-15, 1e15)
"""Largest magnitudes between which sums of 32-bit squares neither vanish nor overflow."""


_ROW = 1024

SAMPLED_FROM_BYTES = 1 << 19
"""Chunks of narrow kinds below this size count in full, and with them whole LoRA files."""


@dataclass(frozen=True)
class FloatKind:
    """How a kind keeps a number in its bits: sign, exponent, mantissa.

    Attributes:
        bits: Width of one number.
        mantissa_bits: How many of them are mantissa.
        bias: What is added to the exponent.
        special: Which patterns are no finite numbers: ``ieee`` (exponent all ones: Inf, else NaN),
            ``all-ones`` (NaN is sign and all ones, no Inf), ``minus-zero`` (NaN takes the place of
            -0, no Inf), ``unsigned-all-ones`` (no sign, no mantissa, NaN is all ones).
    """

    bits: int
    mantissa_bits: int
    bias: int
    special: Literal["ieee", "all-ones", "minus-zero", "unsigned-all-ones"] = "ieee"

    @property
    def magnitude_mask(self) -> int:
        """The bits without the sign."""
        return (1 << (self.bits if self.special == "unsigned-all-ones" else self.bits - 1)) - 1

    @property
    def infinity(self) -> int:
        """The magnitude from which on a pattern is no finite number; out of reach for minus-zero."""
        if self.special == "ieee":
            return self.magnitude_mask & ~((1 << self.mantissa_bits) - 1)
        return self.magnitude_mask + (self.special == "minus-zero")


FLOAT_KINDS: Mapping[str, FloatKind] = {
    "F64": FloatKind(64, 52, 1023),
    "F32": FloatKind(32, 23, 127),
    "C64": FloatKind(32, 23, 127),  # two F32 a number
    "F16": FloatKind(16, 10, 15),
    "BF16": FloatKind(16, 7, 127),
    "F8_E4M3": FloatKind(8, 3, 7, "all-ones"),
    "F8_E4M3FNUZ": FloatKind(8, 3, 8, "minus-zero"),
    "F8_E5M2": FloatKind(8, 2, 15),
    "F8_E5M2FNUZ": FloatKind(8, 2, 16, "minus-zero"),
    "F8_E8M0": FloatKind(8, 0, 127, "unsigned-all-ones"),  # its least, 2**-127, is taken for zero
}
"""By the format's name. Sources: IEEE 754; OCP 8-bit floats and MX scales; the FNUZ kinds of ONNX."""


class Measure(NamedTuple):
    """What one chunk holds.

    Attributes:
        nan: How many numbers are NaN.
        inf: How many are infinite.
        squares: Sum of the squares of the finite ones.
        peak: The largest magnitude of the finite ones.
    """

    nan: int
    inf: int
    squares: float
    peak: float


class Meter:
    """Measures chunks of one size or smaller; keeps its work space, so one a thread.

    Args:
        chunk_bytes: The largest chunk that will be given; a multiple of eight.
    """

    def __init__(self, chunk_bytes: int) -> None:
        self._wide = np.empty(chunk_bytes // 4, np.uint32)

    def measure(self, kind: FloatKind, chunk: Bits) -> Measure:
        """Measure one chunk.

        Args:
            kind: Of its numbers.
            chunk: Its bytes, shape ``(n,)`` of ``uint8``, a whole number of numbers.
        """
        if not chunk.size:
            return Measure(0, 0, 0.0, 0.0)
        raw = chunk.view(f"u{kind.bits // 8}")
        top = _largest_magnitude(kind, raw)
        if top >= kind.infinity or (kind.special == "minus-zero" and _has_minus_zero(raw)):
            return _measure_with_specials(kind, raw)
        peak = float(_decode(kind, np.array([top], raw.dtype))[0])
        return Measure(0, 0, self._squares(kind, raw, peak), peak)

    def _squares(self, kind: FloatKind, raw: Bits, peak: float) -> float:
        if peak == 0.0:
            return 0.0
        if kind.bits >= 32:
            values = raw.view(f"f{kind.bits // 8}")
        elif raw.nbytes < SAMPLED_FROM_BYTES:
            values = _decode(kind, raw & raw.dtype.type(kind.magnitude_mask))
        else:
            values = self._sample(kind, raw)
        in_reach = _SQUARABLE[0] <= peak <= _SQUARABLE[1]
        squares = _squares(values) if in_reach else _squares_scaled(values, peak)
        return min(squares * (raw.size / values.size), sys.float_info.max)

    def _sample(self, kind: FloatKind, raw: Bits) -> Bits:
        """Return the magnitude of the last number of each machine word, in every other row of words."""
        lanes = 32 // kind.bits
        rows = raw[: raw.size - raw.size % (lanes * _ROW)].view(np.uint32).reshape(-1, _ROW)[::2]
        wide = self._wide[: rows.size].reshape(rows.shape)
        down = 32 - kind.bits - (23 - kind.mantissa_bits)
        moved = np.right_shift(rows, np.uint32(down), out=wide) if down else rows
        mask = np.uint32(kind.magnitude_mask << (23 - kind.mantissa_bits))
        return _rescaled(kind, np.bitwise_and(moved, mask, out=wide).view(np.float32).reshape(-1))


def _largest_magnitude(kind: FloatKind, raw: Bits) -> int:
    """Return the largest pattern without its sign: magnitudes are ordered as their bits are."""
    top = int(raw.max())
    if kind.special == "unsigned-all-ones" or top <= kind.magnitude_mask:
        return top
    positive = int(raw.view(f"i{kind.bits // 8}").max())
    return max(top & kind.magnitude_mask, positive)


def _has_minus_zero(raw: Bits) -> bool:
    return bool(raw.view(np.int8).min() == -128)


def _measure_with_specials(kind: FloatKind, raw: Bits) -> Measure:
    magnitudes = raw & raw.dtype.type(kind.magnitude_mask)
    if kind.special == "minus-zero":
        finite = raw != kind.magnitude_mask + 1
    else:
        finite = magnitudes < raw.dtype.type(kind.infinity)
    inf = int(np.count_nonzero(magnitudes == kind.infinity)) if kind.special == "ieee" else 0
    values = _decode(kind, magnitudes[finite])
    peak = float(values.max(initial=0.0))
    squares = _squares_scaled(values, peak) if peak else 0.0
    return Measure(raw.size - values.size - inf, inf, squares, peak)


def _squares(values: Bits) -> float:
    """Return the sum of squares.

    Doubles are taken in short rows: the linear algebra library would start threads of its own for a
    long one, which fight with the caller's.
    """
    if values.dtype == np.float32:
        return float(np.dot(values, values))
    whole = values.size - values.size % _ROW
    rows = values[:whole].reshape(-1, _ROW)
    rest = values[whole:]
    return float(np.einsum("ij,ij->i", rows, rows).sum()) + float(np.dot(rest, rest))


def _squares_scaled(values: Bits, peak: float) -> float:
    """Return the sum of squares of numbers whose squares would overflow or vanish.

    It is bounded by the largest double, so that a file of finite numbers has a finite norm.
    """
    return min(_squares(values.astype(np.float64) / peak) * peak * peak, sys.float_info.max)


def _decode(kind: FloatKind, magnitudes: Bits) -> Bits:
    """Return finite magnitudes, given as bits without sign, as floats of at least 32 bits."""
    if kind.bits >= 32:
        return magnitudes.view(f"f{kind.bits // 8}")
    return _rescaled(kind, (magnitudes.astype(np.uint32) << (23 - kind.mantissa_bits)).view(np.float32))


def _rescaled(kind: FloatKind, values: Bits) -> Bits:
    if kind.bias == 127:
        return values
    return np.multiply(values, np.float32(2.0 ** (127 - kind.bias)), out=values)
