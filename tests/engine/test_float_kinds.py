"""Every pattern of every kind of float is told apart as its definition says."""

from __future__ import annotations

import math
import sys

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gui.engine.trainer.float_kinds import FLOAT_KINDS, SAMPLED_FROM_BYTES, Measure, Meter

CHUNK = 1 << 20
METER = Meter(CHUNK)

EIGHT_BITS = [name for name, kind in FLOAT_KINDS.items() if kind.bits == 8]


def value_8bit(name: str, bits: int) -> float:
    """Decode one 8-bit pattern by the definitions of OCP and ONNX, in exact arithmetic."""
    if name == "F8_E8M0":
        return math.nan if bits == 0xFF else 2.0 ** (bits - 127) if bits else 0.0  # taken for zero
    mantissa_bits = 3 if "E4M3" in name else 2
    bias = {"F8_E4M3": 7, "F8_E4M3FNUZ": 8, "F8_E5M2": 15, "F8_E5M2FNUZ": 16}[name]
    if name.endswith("FNUZ") and bits == 0x80:
        return math.nan
    if name == "F8_E4M3" and bits & 0x7F == 0x7F:
        return math.nan
    if name == "F8_E5M2" and bits & 0x7F >= 0x7C:
        return math.nan if bits & 3 else math.copysign(math.inf, -(bits & 0x80) or 1)
    exponent = (bits & 0x7F) >> mantissa_bits
    fraction = (bits & ((1 << mantissa_bits) - 1)) / (1 << mantissa_bits)
    scaled = fraction * 2.0 ** (1 - bias) if exponent == 0 else (1 + fraction) * 2.0 ** (exponent - bias)
    return -scaled if bits & 0x80 else scaled


def widened(name: str, raw: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """Return the numbers as numpy sees them, in double precision."""
    with np.errstate(invalid="ignore"):
        if name in EIGHT_BITS:
            return np.array([value_8bit(name, int(bits)) for bits in raw])
        if name == "BF16":
            return (raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        numpy_kind = {"F64": "f8", "F32": "f4", "C64": "f4", "F16": "f2"}[name]
        return raw.view(numpy_kind).astype(np.float64)


def expected(values: npt.NDArray[np.float64]) -> Measure:
    finite = np.abs(values[np.isfinite(values)])
    peak = float(finite.max(initial=0.0))
    squares = float(((finite / peak) ** 2).sum()) * peak * peak if peak else 0.0
    return Measure(
        int(np.isnan(values).sum()), int(np.isinf(values).sum()), min(squares, sys.float_info.max), peak
    )


def assert_measured(name: str, raw: npt.NDArray[np.uint8]) -> None:
    found, wanted = METER.measure(FLOAT_KINDS[name], raw), expected(widened(name, raw))
    assert (found.nan, found.inf) == (wanted.nan, wanted.inf)
    assert found.peak == wanted.peak
    assert found.squares == pytest.approx(wanted.squares, rel=1e-5, abs=0)


@pytest.mark.parametrize("name", EIGHT_BITS)
def test_that_all_patterns_of_8_bits_are_judged_alone_and_together(name: str) -> None:
    for bits in range(256):
        assert_measured(name, np.array([bits], np.uint8))
    assert_measured(name, np.arange(256, dtype=np.uint8))


@pytest.mark.parametrize("name", ["F16", "BF16"])
def test_that_all_patterns_of_16_bits_are_judged_alone_and_together(name: str) -> None:
    patterns = np.arange(1 << 16, dtype=np.uint16)
    values = widened(name, patterns.view(np.uint8))
    kind = FLOAT_KINDS[name]
    for bits, value in zip(patterns, values, strict=True):
        found = METER.measure(kind, np.array([bits]).view(np.uint8))
        assert (found.nan, found.inf) == (int(math.isnan(value)), int(math.isinf(value)))
        assert found.peak == (abs(value) if math.isfinite(value) else 0.0)
    assert_measured(name, patterns.view(np.uint8))
    finite = patterns[np.isfinite(values)]
    assert_measured(name, finite.view(np.uint8))


@pytest.mark.parametrize("name", FLOAT_KINDS)
@given(data=st.data())
def test_that_any_bytes_are_judged_as_numpy_judges_the_widened_numbers(
    name: str, data: st.DataObject
) -> None:
    size = FLOAT_KINDS[name].bits // 8
    count = data.draw(st.integers(0, 70))
    assert_measured(name, data.draw(hnp.arrays(np.uint8, count * size)))


@pytest.mark.parametrize("name", FLOAT_KINDS)
def test_that_one_bad_number_among_many_is_found_wherever_it_is(name: str) -> None:
    kind = FLOAT_KINDS[name]
    numbers = np.full(1001, 1, f"u{kind.bits // 8}")
    bad = kind.magnitude_mask + 1 if kind.special == "minus-zero" else kind.magnitude_mask
    for at in (0, 1, 2, 3, 500, 999, 1000):
        poisoned = numbers.copy()
        poisoned[at] = bad
        found = METER.measure(kind, poisoned.view(np.uint8))
        assert (found.nan, found.inf) == (1, 0)


def test_that_numbers_whose_squares_would_overflow_or_vanish_are_summed_all_the_same() -> None:
    for scale in (1e-30, 1e30):
        values = np.full(100, scale, np.float32)
        found = METER.measure(FLOAT_KINDS["F32"], values.view(np.uint8))
        assert math.sqrt(found.squares) == pytest.approx(10 * scale, rel=1e-6)
    huge = METER.measure(FLOAT_KINDS["F64"], np.full(4, 1e300).view(np.uint8))
    assert huge.squares == sys.float_info.max


@pytest.mark.parametrize("name", ["F16", "BF16", *EIGHT_BITS])
def test_that_large_chunks_of_narrow_kinds_are_measured_to_a_percent(name: str) -> None:
    kind = FLOAT_KINDS[name]
    rng = np.random.default_rng(2)
    low, high = (120, 130) if name == "F8_E8M0" else (0, min(kind.infinity, kind.magnitude_mask))
    numbers = rng.integers(low, high, SAMPLED_FROM_BYTES * 8 // kind.bits + 3).astype(f"u{kind.bits // 8}")
    if name in ("F16", "BF16"):  # ordinary weights; of the others all patterns
        weights = rng.standard_normal(numbers.size, np.float32)
        numbers = weights.astype(np.float16).view(np.uint16)
        if name == "BF16":
            numbers = (weights.view(np.uint32) >> 16).astype(np.uint16)
    raw = numbers.view(np.uint8)
    found, wanted = METER.measure(kind, raw), expected(widened(name, raw))
    assert found.peak == wanted.peak
    assert math.sqrt(found.squares) == pytest.approx(math.sqrt(wanted.squares), rel=0.01)
    assert not found.nan


def test_that_long_rows_of_doubles_and_their_rest_are_summed() -> None:
    values = np.random.default_rng(1).standard_normal(10_001)
    found = METER.measure(FLOAT_KINDS["F64"], values.view(np.uint8))
    assert found.squares == pytest.approx(float((values**2).sum()), rel=1e-12)


@pytest.mark.torch
def test_that_pytorch_agrees_on_all_patterns_of_its_8_bit_kinds() -> None:
    torch = pytest.importorskip("torch")
    kinds = {
        "F8_E4M3": torch.float8_e4m3fn,
        "F8_E4M3FNUZ": torch.float8_e4m3fnuz,
        "F8_E5M2": torch.float8_e5m2,
        "F8_E5M2FNUZ": torch.float8_e5m2fnuz,
    }
    for name, kind in kinds.items():
        theirs = torch.arange(256, dtype=torch.uint8).view(kind).to(torch.float64).numpy()
        np.testing.assert_array_equal(theirs, widened(name, np.arange(256, dtype=np.uint8)))
