"""The tracker's event file is followed while it is written.

``tests/data/tracker`` holds a file that TensorBoard's own writer made: five steps with
``loss/current`` 0.12, 0.25, 1e-7, nan, inf, two learning rates, an epoch's mean, a validation
loss as a tensor, and a text.
"""

from __future__ import annotations

import math
import shutil
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gui.engine.trainer.tracker as tracker_module
from gui.engine.trainer.tracker import TrackerReader, masked_crc32c

FIXTURE = Path(__file__).parents[1] / "data" / "tracker" / "events.out.tfevents.1900000000.host.1.0"
CONTENT = FIXTURE.read_bytes()
NAME = "events.out.tfevents.{}.host.1.0"


@pytest.fixture(autouse=True)
def _look_each_time(monkeypatch):
    monkeypatch.setattr(tracker_module, "_LOOK_SECONDS", 0.0)
    monkeypatch.setattr(tracker_module, "_FIRST_LOOK_SECONDS", 0.0)


def record(data: bytes) -> bytes:
    head = struct.pack("<Q", len(data))
    return head + struct.pack("<I", masked_crc32c(head)) + data + struct.pack("<I", masked_crc32c(data))


def scalar(step: int, tag: str, value: float) -> bytes:
    name = tag.encode()
    inner = b"\x0a" + bytes([len(name)]) + name + b"\x15" + struct.pack("<f", value)
    summary = b"\x0a" + bytes([len(inner)]) + inner
    number, rest = b"", step & (1 << 64) - 1
    while rest > 127:
        number, rest = number + bytes([rest & 127 | 128]), rest >> 7
    event = b"\x09" + struct.pack("<d", 5.0) + b"\x10" + number + bytes([rest])
    return record(event + b"\x2a" + bytes([len(summary)]) + summary)


def put(folder: Path, content: bytes, began: int = 1900000000) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / NAME.format(began)
    file.write_bytes(content)
    return file


def losses(points) -> list[tuple[int, float]]:
    return [(point.step, point.value) for point in points if point.tag == "loss/current"]


def test_that_losses_and_learning_rates_read():
    points = TrackerReader(FIXTURE.parent).read()
    values = [value for _step, value in losses(points)]
    assert values[:3] == [0.12, 0.25, 1e-7]
    assert math.isnan(values[3]) and values[4] == math.inf
    assert {(p.tag, p.value) for p in points if p.tag.startswith("lr/")} == {
        ("lr/unet", 1e-4),
        ("lr/textencoder 1 ", 5e-6),
    }
    assert points[0].wall_time == 1_900_000_001.0
    assert [(p.step, p.value) for p in points if p.tag == "loss/epoch_average"] == [(1, 0.5)]


def test_that_a_figure_written_as_a_tensor_reads_and_a_text_does_not():
    tags = {point.tag: point.value for point in TrackerReader(FIXTURE.parent).read()}
    assert tags["loss/validation/step_average"] == 0.75
    assert "a text" not in tags


def test_that_nothing_is_read_twice_and_nothing_lost_byte_by_byte(tmp_path):
    reader = TrackerReader(tmp_path)
    assert reader.read() == []
    points = []
    for end in [*range(0, len(CONTENT), 5), len(CONTENT)]:
        put(tmp_path, CONTENT[:end])
        points += reader.read()
    points += reader.read()
    assert repr(points) == repr(TrackerReader(FIXTURE.parent).read())


def test_that_the_newest_run_below_a_shared_folder_is_read_with_all_its_files(tmp_path):
    put(tmp_path / "20261130010000" / "network_train", scalar(1, "loss/current", 9.0), 1900000000)
    run = tmp_path / "20261130020000" / "network_train"
    put(run, scalar(1, "loss/current", 0.5), 1900003600)
    put(run / "1900003601.5", scalar(0, "hp", 1.0), 1900003601)
    assert losses(TrackerReader(tmp_path).read()) == [(1, 0.5)]


def test_that_a_run_that_begins_later_is_found(tmp_path):
    reader = TrackerReader(tmp_path / "not yet there", since=1900000010.7)
    assert reader.read() == []
    put(tmp_path / "not yet there" / "old", scalar(1, "loss/current", 9.0), 1900000009)
    assert reader.read() == []
    file = put(tmp_path / "not yet there" / "new", scalar(1, "loss/current", 0.5), 1900000010)
    assert losses(reader.read()) == [(1, 0.5)]
    file.write_bytes(file.read_bytes() + scalar(2, "loss/current", 0.25))
    assert losses(reader.read()) == [(2, 0.25)]


def test_that_a_damaged_record_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(tracker_module, "_MOST_TRIES", 3)
    bad = bytearray(scalar(2, "loss/current", 0.5))
    bad[20] ^= 1
    put(tmp_path, scalar(1, "loss/current", 0.5) + bytes(bad) + scalar(3, "loss/current", 0.25))
    reader = TrackerReader(tmp_path)
    points = [point for _turn in range(5) for point in reader.read()]
    assert losses(points) == [(1, 0.5), (3, 0.25)]


def test_that_bytes_on_their_way_are_waited_for(tmp_path):
    whole = scalar(1, "loss/current", 0.5) + scalar(2, "loss/current", 0.25)
    half = len(whole) // 2
    put(tmp_path, whole[:half] + bytes(half))
    reader = TrackerReader(tmp_path)
    assert losses(reader.read()) == [(1, 0.5)]
    put(tmp_path, whole)
    assert losses(reader.read()) == [(2, 0.25)]


def test_that_a_file_of_something_else_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(tracker_module, "_MOST_TRIES", 3)
    put(tmp_path, b"this is no event file at all, but long enough")
    reader = TrackerReader(tmp_path)
    assert [reader.read() for _turn in range(10)] == [[]] * 10
    assert next(iter(reader._files.values())).broken


def test_that_a_great_record_is_passed_over_unread(tmp_path):
    put(tmp_path, record(b"\x00" * 100_000) + scalar(1, "loss/current", 0.5))
    assert losses(TrackerReader(tmp_path).read()) == [(1, 0.5)]


def test_that_a_long_file_comes_in_portions(tmp_path, monkeypatch):
    monkeypatch.setattr(tracker_module, "_MOST_BYTES", 200)
    put(tmp_path, b"".join(scalar(step, "loss/current", 0.5) for step in range(20)))
    reader = TrackerReader(tmp_path)
    first = reader.read()
    assert 0 < len(first) < 20
    points = first + [point for _turn in range(20) for point in reader.read()]
    assert [point.step for point in points] == list(range(20))


def test_that_a_file_that_vanished_or_cannot_be_read_harms_nothing(tmp_path):
    file = put(tmp_path, scalar(1, "loss/current", 0.5))
    reader = TrackerReader(tmp_path)
    assert len(reader.read()) == 1
    file.unlink()
    file.mkdir()
    assert reader.read() == []
    shutil.rmtree(tmp_path)
    assert reader.read() == []


@pytest.mark.parametrize("step", [0, 1, 127, 128, 300, 2**31, -1])
def test_that_any_step_reads(tmp_path, step):
    put(tmp_path, scalar(step, "loss/current", 1.5))
    assert losses(TrackerReader(tmp_path).read()) == [(step, 1.5)]


@given(st.floats(width=32, allow_nan=False))
def test_that_a_figure_keeps_its_value_and_gets_its_shortest_form(value):
    (read,) = tracker_module._scalars(scalar(1, "x", value)[12:-4])
    assert struct.pack("<f", read.value) == struct.pack("<f", value)


@given(st.binary(max_size=200))
def test_that_no_record_raises(data):
    list(tracker_module._scalars(data))
