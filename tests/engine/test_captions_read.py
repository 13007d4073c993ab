"""Captions are read as the trainer reads them, and what is in another encoding is told and understood."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.dataset.caption_encoding import decoded
from gui.engine.dataset.caption_files import caption_names, longest_forms, read_caption

KOREAN = "미라, 빨간 코트, 비 오는 거리에 서 있는 소녀"
JAPANESE = "ミラ、赤いコート、雨の中に立つ少女"
CHINESE = "米拉，红色外套，站在雨中的女孩"


def written(folder: Path, data: bytes, name: str = "a.txt") -> Path:
    (folder / name).write_bytes(data)
    return folder


@pytest.mark.parametrize(
    ("text", "encoding", "told"),
    [
        (KOREAN, "utf-8", "utf-8"),
        (KOREAN, "cp949", "cp949"),
        (JAPANESE, "cp932", "cp932"),
        (CHINESE, "gbk", "gbk"),
        ("café déjà vu", "cp1252", "cp1252"),
        (KOREAN, "utf-16", "utf-16"),
        (JAPANESE, "utf-8-sig", "utf-8-sig"),
        ("mira in the rain", "utf-16-le", "utf-16-le"),
        ("mira in the rain", "utf-16-be", "utf-16-be"),
    ],
)
def test_that_the_encoding_of_a_caption_is_told(text: str, encoding: str, told: str) -> None:
    assert decoded(text.encode(encoding)) == (text, told)


def test_that_bytes_that_are_no_text_have_no_encoding() -> None:
    assert decoded(bytes(range(128, 256))) is None
    assert decoded(b"\xff\xfe\x00") is None


@given(st.binary())
def test_that_any_bytes_can_be_looked_at(data: bytes) -> None:
    found = decoded(data)
    assert found is None or isinstance(found[0], str)


@given(st.text())
def test_that_utf8_is_never_taken_for_anything_else(text: str) -> None:
    if "\0" not in text and not text.startswith("\ufeff"):
        assert decoded(text.encode("utf-8")) == (text, "utf-8")


@pytest.mark.parametrize(
    ("data", "text", "fault"),
    [
        (b"mira, rain\nmore\n", "mira, rain", None),
        (b"  mira \r\nmore", "mira", None),
        (b"", "", "empty"),
        (b"\n\nmira", "", "blank"),
        (b"\xef\xbb\xbfmira", "mira", "mark"),
        ("비".encode("cp949"), "비", "encoding"),
        (b"\x81\x8d\x90", "", "encoding"),
    ],
)
def test_that_the_first_line_is_the_caption(
    tmp_path: Path, data: bytes, text: str, fault: str | None
) -> None:
    caption = read_caption(written(tmp_path, data), "a.png", ".txt")
    assert (caption.name, caption.text, caption.fault) == ("a.txt", text, fault)


def test_that_all_lines_count_with_wildcards(tmp_path: Path) -> None:
    caption = read_caption(
        written(tmp_path, b"\nmira {red|bright yellow} coat\n\n{{x}}\n"), "a.png", ".txt", wildcard=True
    )
    assert caption.fault is None
    assert list(longest_forms(caption.text)) == ["mira bright yellow coat", "x"]


def test_that_a_caption_may_be_called_without_where_the_face_is(tmp_path: Path) -> None:
    assert caption_names(tmp_path, "mira_10_20_30_40.png", ".txt") == ("mira_10_20_30_40.txt", "mira.txt")
    written(tmp_path, b"mira", "mira.txt")
    assert read_caption(tmp_path, "mira_10_20_30_40.png", ".txt").text == "mira"
    assert caption_names(Path("/a_b_c"), "x_y.png", ".txt") == ("x_y.txt",)


def test_that_a_missing_caption_and_one_that_must_not_be_read_differ(tmp_path: Path, monkeypatch) -> None:
    assert read_caption(tmp_path, "a.png", ".txt").fault == "missing"
    (tmp_path / "a.txt").mkdir()
    assert read_caption(tmp_path, "a.png", ".txt").fault == "missing"
    written(tmp_path, b"x", "b.txt")

    def refuse(*_words, **_more):
        raise PermissionError(13, os.strerror(13))

    monkeypatch.setattr(Path, "open", refuse)
    assert read_caption(tmp_path, "b.png", ".txt").fault == "denied"
