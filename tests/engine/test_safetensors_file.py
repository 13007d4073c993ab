"""The header of a safetensors file is read as the format's own reader reads it."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gui.engine.errors import CannotRead, NotSafetensors
from gui.engine.trainer.safetensors_file import MAX_HEADER_BYTES, read_header

SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)


def write(path: Path, header: Any, data: bytes = b"") -> Path:
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(raw)) + raw + data)
    return path


def tensor(
    start: int = 0, end: int = 4, dtype: str = "F32", shape: list[int] | None = None
) -> dict[str, Any]:
    return {"dtype": dtype, "shape": [1] if shape is None else shape, "data_offsets": [start, end]}


names = st.text(st.characters(exclude_categories=["Cs"]), max_size=20).filter(lambda n: n != "__metadata__")
arrays = st.builds(
    np.zeros,
    st.lists(st.integers(0, 4), max_size=3),
    st.sampled_from(["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u1", "u8", "?"]),
)


@SHARED
@given(
    st.dictionaries(names, arrays, max_size=6),
    st.none() | st.dictionaries(names, names, min_size=1, max_size=4),
)
def test_that_what_the_library_writes_is_read_back(
    tmp_path: Path, tensors: dict[str, Any], metadata: dict[str, str] | None
) -> None:
    path = tmp_path / "model.safetensors"
    safetensors.numpy.save_file(tensors, path, metadata)
    header = read_header(path)
    assert header.complete
    assert header.expected_bytes == header.actual_bytes == path.stat().st_size
    assert dict(header.metadata) == (metadata or {})
    assert {n: (i.shape, i.size_bytes) for n, i in header.tensors.items()} == {
        n: (a.shape, a.nbytes) for n, a in tensors.items()
    }


@SHARED
@given(st.dictionaries(names, arrays, min_size=1, max_size=4), st.data())
def test_that_a_file_cut_anywhere_is_never_taken_for_whole(
    tmp_path: Path, tensors: dict[str, Any], data: st.DataObject
) -> None:
    raw = safetensors.numpy.save(tensors)
    path = tmp_path / "model.safetensors"
    path.write_bytes(raw[: data.draw(st.integers(0, len(raw) - 1))])
    try:
        header = read_header(path)
    except NotSafetensors as error:
        assert error.truncated
    else:
        assert not header.complete


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
dtypes = st.sampled_from(["F32", "BF16", "F8_E4M3", "F4", "F6_E2M3", "C64", "BOOL", "F3", "f32"])
offsets = st.tuples(st.integers(0, 12), st.integers(0, 12)).map(list)
tensor_like = st.fixed_dictionaries(
    {"dtype": dtypes, "shape": st.lists(st.integers(0, 3), max_size=2), "data_offsets": offsets}
)
headers = st.dictionaries(
    st.sampled_from(["a", "b", "c", "__metadata__"]), tensor_like | json_values, max_size=3
)


@SHARED
@given(headers, st.binary(max_size=12))
@example({"a": tensor(), "b": tensor(4, 8)}, bytes(8))
@example({"a": tensor(), "b": tensor(0, 4)}, bytes(4))
@example({"a": tensor(4, 8)}, bytes(8))
@example({"a": tensor(0, 3, "F6_E2M3", [4])}, bytes(3))
@example({"__metadata__": {"a": "b"}}, b"")
@example({"__metadata__": None}, b"")
def test_that_nothing_is_accepted_that_the_library_refuses(
    tmp_path: Path, header: dict[str, Any], data: bytes
) -> None:
    path = write(tmp_path / "model.safetensors", header, data)
    try:
        found = read_header(path)
    except NotSafetensors:
        return
    if found.complete:
        with safetensors.safe_open(path, "numpy") as model:
            assert set(model.keys()) == set(found.tensors)
            assert (model.metadata() or {}) == found.metadata


@SHARED
@given(headers, st.binary(max_size=12))
def test_that_nothing_is_refused_that_the_library_accepts(
    tmp_path: Path, header: dict[str, Any], data: bytes
) -> None:
    path = write(tmp_path / "model.safetensors", header, data)
    try:
        with safetensors.safe_open(path, "numpy") as model:
            known = set(model.keys())
    except (safetensors.SafetensorError, ValueError):
        return
    found = read_header(path)
    assert found.complete
    assert set(found.tensors) == known


def test_that_the_tensors_come_in_the_order_of_their_bytes(tmp_path: Path) -> None:
    path = write(tmp_path / "m.safetensors", {"b": tensor(4, 8), "a": tensor(0, 4)}, bytes(8))
    assert list(read_header(path).tensors) == ["a", "b"]


HOSTILE = {
    "a length beyond the format's bound": struct.pack("<Q", MAX_HEADER_BYTES + 1) + b"{}",
    "the largest length": b"\xff" * 8 + b"{}",
    "text": b"version https://git-lfs.github.com/spec/v1",
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(40),
    "zeros": bytes(64),
    "a header of one byte": struct.pack("<Q", 1) + b"{",
    "no JSON": struct.pack("<Q", 4) + b"{{{{",
    "a list": struct.pack("<Q", 4) + b"[{}]",
    "not UTF-8": struct.pack("<Q", 8) + b'{"\xff":1} ',
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_that_what_is_no_safetensors_file_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(NotSafetensors) as caught:
        read_header(path)
    assert not caught.value.truncated
    assert "model.safetensors" in str(caught.value)


CONTRADICTIONS = {
    "overlap": {"a": tensor(0, 4), "b": tensor(0, 4)},
    "gap": {"a": tensor(0, 4), "b": tensor(5, 9)},
    "gap at the start": {"a": tensor(4, 8)},
    "backwards": {"a": tensor(4, 0)},
    "size": {"a": tensor(0, 4, shape=[2])},
    "huge shape": {"a": tensor(0, 4, shape=[2**62] * 400)},
    "negative": {"a": tensor(-4, 0)},
    "true is no number": {"a": tensor(0, 4, shape=[True])},
    "float": {"a": {"dtype": "F32", "shape": [1.0], "data_offsets": [0, 4]}},
    "three offsets": {"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4, 8]}},
    "kind": {"a": tensor(dtype="F31")},
    "kind is a list": {"a": {"dtype": ["F32"], "shape": [1], "data_offsets": [0, 4]}},
    "missing field": {"a": {"dtype": "F32", "shape": [1]}},
    "extra field": {"a": tensor() | {"x": 1}},
    "no table": {"a": 5},
    "metadata is a number": {"__metadata__": {"a": 1}},
    "metadata is a list": {"__metadata__": ["a"]},
    "surrogate": b'{"__metadata__":{"a":"\\ud800"}}',
    "surrogate in a name": b'{"\\ud800":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}',
    "twice": b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],'
    b'"data_offsets":[0,4]}}',
    "NaN": b'{"a":{"dtype":"F32","shape":[NaN],"data_offsets":[0,4]}}',
    "deep": b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "endless number": b'{"a":{"dtype":"F32","shape":[' + b"9" * 10_000 + b'],"data_offsets":[0,4]}}',
}


@pytest.mark.parametrize("header", CONTRADICTIONS.values(), ids=CONTRADICTIONS.keys())
def test_that_a_header_that_contradicts_itself_is_a_sentence(tmp_path: Path, header: Any) -> None:
    path = write(tmp_path / "m.safetensors", header, bytes(4))
    with pytest.raises(NotSafetensors) as caught:
        read_header(path)
    assert not caught.value.truncated


@pytest.mark.parametrize("content", [b"", b"\x10", struct.pack("<Q", 40), struct.pack("<Q", 40) + b'{"a"'])
def test_that_a_file_cut_in_its_header_may_still_become_one(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(NotSafetensors) as caught:
        read_header(path)
    assert caught.value.truncated


def test_that_bytes_after_the_last_tensor_are_noticed(tmp_path: Path) -> None:
    header = read_header(write(tmp_path / "m.safetensors", {"a": tensor()}, bytes(5)))
    assert not header.complete
    assert header.actual_bytes == header.expected_bytes + 1


def test_that_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotRead, match=r"gone\.safetensors"):
        read_header(tmp_path / "gone.safetensors")
    with pytest.raises(CannotRead):
        read_header(tmp_path)
