"""Small documents: written whole or not at all, read with a clear word when that fails."""

from __future__ import annotations

import json
import math
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gui.engine import documents
from gui.engine.documents import (
    Document,
    iterate_json_lines,
    read_json,
    read_text,
    reason_of,
    write_atomically,
)
from gui.engine.errors import CannotRead, CannotWrite


class Point(Document):
    x: float


def test_that_a_document_refuses_unknown_fields_and_change():
    with pytest.raises(ValidationError):
        Point(x=1.0, y=2.0)  # type: ignore[call-arg]
    with pytest.raises(ValidationError):
        Point(x=1.0).x = 2.0  # type: ignore[misc]


def test_that_numbers_json_has_not_are_written_as_words():
    assert json.loads(Point(x=float("nan")).model_dump_json()) == {"x": "NaN"}


def test_that_writing_makes_folders_and_replaces_the_old_content(tmp_path: Path):
    file = tmp_path / "a b" / "한글" / "x.json"
    write_atomically(file, "old")
    write_atomically(file, b"new\r\n", durable=False)
    assert file.read_bytes() == b"new\r\n"
    assert [each.name for each in file.parent.iterdir()] == ["x.json"]


def test_that_a_name_of_255_bytes_can_be_written(tmp_path: Path):
    file = tmp_path / ("가" * 85)
    write_atomically(file, "x")
    assert file.read_text("utf-8") == "x"


def test_that_readers_never_see_a_part(tmp_path: Path):
    file = tmp_path / "status.json"
    contents = {b"a" * 100_000, b"b" * 200_000}
    write_atomically(file, b"a" * 100_000)
    done = threading.Event()

    def write() -> None:
        for _round in range(20):
            for content in contents:
                write_atomically(file, content, durable=False)
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = set()
    while not done.is_set():
        seen.add(file.read_bytes())
    writer.join()
    assert seen <= contents


@pytest.mark.skipif(os.name == "nt", reason="modes and links are POSIX's")
def test_that_a_private_file_stays_private_and_a_link_stays_a_link(tmp_path: Path):
    file, link = tmp_path / "plan.toml", tmp_path / "link.toml"
    file.write_text("old", "utf-8")
    file.chmod(0o600)
    link.symlink_to(file)
    write_atomically(link, "new")
    assert link.is_symlink()
    assert file.read_text("utf-8") == "new"
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_that_a_pipe_is_written_into_and_not_replaced(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_atomically(pipe, "through")
    reader.join()
    assert read == ["through"] and pipe.is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_that_a_failed_write_leaves_the_old_content_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "x"
    write_atomically(file, "old")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(documents.os, "fsync", full)
    with pytest.raises(CannotWrite, match="No space left") as caught:
        write_atomically(file, "new")
    assert caught.value.path == file
    assert file.read_text("utf-8") == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["x"]


def test_that_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(CannotWrite, match="file"):
        write_atomically(tmp_path / "file" / "x", "y")


def test_that_a_file_somebody_reads_is_tried_again_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    refusals = iter([PermissionError(13, "in use"), PermissionError(13, "in use")])
    replace = Path.replace

    def busy(self: Path, target: Path) -> Any:
        for error in refusals:
            raise error
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", busy)
    monkeypatch.setattr(documents, "_patience_seconds", lambda: 10.0)
    write_atomically(tmp_path / "x", "y")
    assert (tmp_path / "x").read_text("utf-8") == "y"


def test_that_a_file_never_let_go_is_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def busy(self: Path, target: Path) -> Any:
        raise PermissionError(13, "in use")

    monkeypatch.setattr(Path, "replace", busy)
    monkeypatch.setattr(documents, "_patience_seconds", lambda: 0.02)
    with pytest.raises(CannotWrite, match="in use"):
        write_atomically(tmp_path / "x", "y")
    assert list(tmp_path.iterdir()) == []


def test_that_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path):
    (tmp_path / "x").write_bytes(b"\xef\xbb\xbfname = 1")
    assert read_text(tmp_path / "x") == "name = 1"


def test_that_what_cannot_be_read_says_why(tmp_path: Path):
    with pytest.raises(CannotRead, match="No such file"):
        read_text(tmp_path / "none")
    (tmp_path / "x").write_bytes(b"abc\xff")
    with pytest.raises(CannotRead, match=r"UTF-8 text \(byte 3\)"):
        read_text(tmp_path / "x")
    (tmp_path / "x").write_text("{", "utf-8")
    with pytest.raises(CannotRead, match="not JSON"):
        read_json(tmp_path / "x")
    (tmp_path / "x").write_text("[" * 100_000, "utf-8")
    with pytest.raises(CannotRead, match="too deeply"):
        read_json(tmp_path / "x")


@pytest.mark.parametrize(("raw", "text"), [(b"a\r\nb\r", "a\nb\n"), (b"a\nb", "a\nb")])
def test_that_all_line_ends_are_read_as_one(tmp_path: Path, raw: bytes, text: str):
    (tmp_path / "x").write_bytes(raw)
    assert read_text(tmp_path / "x") == text


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no file without an end")
def test_that_a_file_without_an_end_is_given_up():
    with pytest.raises(CannotRead, match="too large"):
        read_text(Path("/dev/zero"))


def test_that_a_line_nested_too_deeply_does_not_hide_the_others(tmp_path: Path):
    (tmp_path / "x").write_bytes(b'{"a":1}\n' + b"[" * 100_000 + b'\n{"a":2}\n')
    assert [row["a"] for row in iterate_json_lines(tmp_path / "x")] == [1, 2]


def test_that_every_system_error_has_words():
    assert reason_of(OSError(28, "No space left on device")) == "No space left on device"
    assert reason_of(OSError("odd")) == "odd"
    assert reason_of(OSError()) == "OSError"


values = st.dictionaries(st.text(), st.integers() | st.text() | st.none(), max_size=3)


@given(rows=st.lists(values, max_size=5), cut=st.integers(0, 20))
def test_that_a_line_being_written_is_left_for_later(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], cut: int
):
    file = tmp_path_factory.mktemp("lines") / "events.jsonl"
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    file.write_bytes(data + b'{"event": "step", "half'[:cut])
    assert list(iterate_json_lines(file)) == rows


def test_that_a_broken_line_does_not_hide_the_rest(tmp_path: Path):
    file = tmp_path / "events.jsonl"
    file.write_bytes(b'{"a": 1}\n{"half\n[1]\n\xff\n{"b": 2}\n')
    assert list(iterate_json_lines(file)) == [{"a": 1}, {"b": 2}]


class _Named(Document):
    """Names a file."""

    path: Path
    sizes: dict[str, float]
    parts: tuple[str, ...] = ()


def test_that_a_file_whose_name_is_no_text_can_be_told_of():
    named = _Named(path=Path("a\udcff"), sizes={"x": math.inf, "y": 1.5}, parts=("b\udcfe",))
    assert json.loads(named.model_dump_json(indent=1)) == {
        "path": "a\\udcff",
        "sizes": {"x": "Infinity", "y": 1.5},
        "parts": ["b\\udcfe"],
    }


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-8-sig", "utf-8"])
def test_that_text_is_read_as_windows_writes_it(tmp_path: Path, encoding: str) -> None:
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    path = tmp_path / "args.txt"
    path.write_bytes((mark + "name = 미라\r\n").encode(encoding))
    assert read_text(path) == "name = 미라\n"


def test_that_half_a_character_of_utf_16_is_told(tmp_path: Path) -> None:
    path = tmp_path / "args.txt"
    path.write_bytes(b"\xff\xfea")
    with pytest.raises(CannotRead, match=r"args\.txt"):
        read_text(path)
