"""The index of a log says the same as splitting its bytes, however they come."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from gui.engine.runs.log_index import LogIndex
from gui.engine.runs.log_levels import ERROR, HEAD_BYTES, PLAIN, WARNING, judge_line
from gui.engine.runs.log_tail import LogTail
from gui.engine.runs.log_text import SHOWN_CHARACTERS, LogText

PIECES = st.sampled_from(
    [
        *(
            b"\n",
            b"\r",
            b"\r\n",
            b"\n\n",
            b"\r\r",
            b"x",
            b" ",
            b"steps:  1%|#| 1/9 [00:01<00:08, 1.0it/s, loss=1]",
        ),
        *(
            b"2025-01-01 00:00:00 WARNING  odd",
            b" " * 29 + b"goes on",
            b"ERROR",
            b"INFO     fine",
            b"a" * 600,
        ),
        *(b"Traceback (most recent call last):\n", b'  File "a.py", line 1\n', b"ValueError: no\n"),
        *(b"\x1b[31m", b"\x1b", b"\xff", "é".encode(), b"WAR", b"NING ", b"a.py:3: UserWarning: hm\n"),
    ]
)


def split_log(data: bytes) -> list[tuple[int, int, int]]:
    """What the index must say, by plain splitting: begin, end and level of every complete line."""
    lines, at, block = [], 0, None
    for raw in data.split(b"\n")[:-1]:
        body = raw.rstrip(b"\r")
        cut = body.rfind(b"\r") + 1
        level, block = judge_line(body[cut : cut + HEAD_BYTES], block)
        lines.append((at + cut, at + len(raw), level))
        at += len(raw) + 1
    return lines


def indexed(index: LogIndex) -> list[tuple[int, int, int]]:
    return [(*index.span(line), index.level(line)) for line in range(index.lines)]


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=60), st.lists(st.integers(0, 400), max_size=12))
def test_that_the_index_equals_splitting_whatever_the_chunking(pieces: list[bytes], cuts: list[int]) -> None:
    data = b"".join(pieces)
    index = LogIndex()
    at = 0
    for cut in sorted(cut for cut in cuts if cut < len(data)):
        index.feed(data[at:cut])
        at = cut
    index.feed(data[at:])
    assert indexed(index) == split_log(data)
    assert index.size == len(data)
    loud = [line for line, (_start, _end, level) in enumerate(split_log(data)) if level]
    assert list(index.loud) == loud
    rest = data.split(b"\n")[-1]
    open_line = index.open_line()
    assert (open_line is None) == (not rest)
    if open_line is not None:
        body = rest.rstrip(b"\r")
        assert open_line[0] == len(data) - len(rest) + body.rfind(b"\r") + 1


@settings(max_examples=50, deadline=None)
@given(st.lists(PIECES, max_size=40))
def test_that_every_byte_is_in_the_line_that_is_named_for_it(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    index = LogIndex()
    index.feed(data)
    for offset in range(len(data)):
        assert index.line_at(offset) == data[:offset].count(b"\n")


def levels_of(text: str) -> list[int]:
    index = LogIndex()
    index.feed(text.encode() + b"\n")
    return [index.level(line) for line in range(index.lines)]


def test_that_levels_follow_the_trainers_own_format() -> None:
    text = "\n".join(
        [
            "2025-11-30 06:40:00 INFO     epoch 1/10                       train_util.py:1",
            "                    WARNING  no regularization images are        train_util.py:2",
            "                             found",
            "                    INFO     all fine                         train_util.py:3",
            "                    ERROR    it broke                         train_util.py:4",
            "steps:  10%|#   | 1/9 [00:01<00:08, 1.0it/s]2025-11-30 06:40:00 WARNING  glued   a.py:2",
            "/x/y.py:3: FutureWarning: soon gone",
            "train_network.py: error: unrecognized arguments: --x",
            "[2025-11-30 06:40:00] [INFO] [rank0]: RuntimeError: bad",
            "error-free words: WARNINGS are no level",
        ]
    )
    assert levels_of(text) == [0, 1, 1, 0, 2, 1, 1, 2, 0, 0]


def test_that_a_traceback_is_an_error_to_its_last_line() -> None:
    text = (
        'before\nTraceback (most recent call last):\n  File "a.py", line 1, in <module>\n    x()\n'
        'ValueError: no\nafter\n[rank0]: Traceback (most recent call last):\n[rank0]:   File "a", line 1\n'
        "[rank0]: KeyError: 'x'\nafter\n╭──── Traceback (most recent call last) ────╮\n│ x │\n╰───╯\n"
        "OSError: x\nafter"
    )
    assert levels_of(text) == [0, 2, 2, 2, 2, 0, 2, 2, 2, 0, 2, 2, 2, 2, 0]


def test_that_colours_do_not_hide_a_level() -> None:
    assert levels_of("\x1b[1m2025-11-30 06:40:00\x1b[0m \x1b[31mERROR   \x1b[0m broken") == [ERROR]
    assert levels_of("plain") == [PLAIN] and levels_of("WARNING") == [WARNING]


def read_all(tail: LogTail) -> None:
    while tail.poll():
        pass


def texts(path: Path, tail: LogTail, secrets: tuple[str, ...] = ()) -> list[str]:
    text = LogText(path, secrets)
    index = tail.state().index
    shown = [text.line(*index.span(line)) for line in range(index.lines)]
    text.close()
    return shown


def test_that_shown_lines_are_clean(tmp_path: Path) -> None:
    path = tmp_path / "output.log"
    secret = "hf_" + "a" * 20
    path.write_bytes(
        b"bar 1\rbar 2\r\n\x1b[32mgreen\x1b[0m\tx\n\xff\x00bad\n--huggingface_token=abc "
        + secret.encode()
        + b"\n"
        b"my-own-secret\n" + b"w" * 3_000_000 + b"\n"
    )
    tail = LogTail(path)
    read_all(tail)
    shown = texts(path, tail, ("my-own-secret",))
    tail.close()
    assert shown[:3] == ["bar 2", "green   x", "\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}bad"]
    assert secret not in shown[3] and "=abc" not in shown[3] and "•••" in shown[3]
    assert shown[4] == "•••"
    assert shown[5].startswith("w" * SHOWN_CHARACTERS) and "3,000,000" in shown[5]
    assert len(shown[5]) < SHOWN_CHARACTERS + 100


def test_that_a_log_may_come_late_be_cut_replaced_and_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "output.log"
    tail = LogTail(path)
    read_all(tail)
    assert not tail.state().there and tail.state().lines == 0
    path.write_bytes(b"a\nb\nc")
    read_all(tail)
    state = tail.state()
    assert (state.there, state.lines, state.generation) == (True, 2, 0)
    assert state.open_line is not None and state.open_line[:2] == (4, 5)
    path.write_bytes(b"z\n")
    read_all(tail)
    assert (tail.state().lines, tail.state().generation) == (1, 1)
    other = tmp_path / "other"
    other.write_bytes(b"1\n2\n3\n")
    other.replace(path)
    read_all(tail)
    assert (tail.state().lines, tail.state().generation) == (3, 2)
    path.unlink()
    read_all(tail)
    assert not tail.state().there and tail.state().lines == 3
    tail.close()


def test_that_search_finds_lines_as_they_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "output.log"
    lines = [f"line {n} Größe" if n % 3 else f"LINE {n} --wandb_api_key=needle{n}" for n in range(3000)]
    path.write_text("\n".join(lines) + "\n" + "q" * 400_000 + "end\n" + "x needle y\n", "utf-8")
    tail = LogTail(path)
    for needle in ("line 299", "GRÖSSE", "größe", "needle", "qqqend"):
        tail.search(needle)
        read_all(tail)
        state = tail.state()
        shown = texts(path, tail)
        expected = [n for n, text in enumerate(shown) if needle.casefold() in text.casefold()]
        if needle != "GRÖSSE":
            assert list(state.matches[: state.found]) == expected
        assert state.searched
    with path.open("ab") as file:
        file.write(b"another needle\n")
    tail.search("needle")
    read_all(tail)
    assert tail.state().found == 2
    tail.search("")
    assert tail.state().found == 0 and tail.state().needle == ""
    tail.close()


def test_that_no_level_word_is_missed_by_the_quick_look() -> None:
    words = re.findall(r"\w+", "WARNING ERROR CRITICAL")
    for word in words:
        assert levels_of(f"{word}    x")[0] > PLAIN


def test_that_a_poll_ends_with_its_budget_and_goes_on_later(tmp_path: Path) -> None:
    path = tmp_path / "output.log"
    path.write_bytes(b"some words\n" * 40_000)
    tail = LogTail(path)
    assert tail.poll(0)
    assert 0 < tail.state().lines < 40_000 and tail.state().left_bytes > 0
    read_all(tail)
    tail.search("words")
    assert tail.poll(0)
    assert not tail.state().searched and 0 < tail.state().found < 40_000
    read_all(tail)
    assert tail.state().searched and tail.state().found == 40_000
    tail.close()


def test_that_the_shown_part_of_a_very_long_line_is_searched(tmp_path: Path) -> None:
    path = tmp_path / "output.log"
    path.write_bytes(b"needle " + b"q" * 1_000_000 + b" hidden\n")
    tail = LogTail(path)
    tail.search("needle")
    read_all(tail)
    assert list(tail.state().matches) == [0]
    tail.search("hidden")
    read_all(tail)
    assert tail.state().found == 0
    tail.close()


def test_that_what_cannot_be_read_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    folder = tmp_path / "output.log"
    folder.mkdir()
    tail = LogTail(folder)
    read_all(tail)
    assert not tail.state().there
    tail.close()
    path = tmp_path / "other.log"
    path.write_bytes(b"text\n")
    text = LogText(path)
    text.close()
    assert text.line(0, 4) == ""
