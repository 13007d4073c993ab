"""Whatever comes, in whatever pieces: nothing is raised, events stay the same, memory stays flat."""

from __future__ import annotations

import itertools
import tracemalloc

from hypothesis import example, given, settings
from hypothesis import strategies as st

from gui.engine.trainer.events import TRAINER_EVENT, Saved
from gui.engine.trainer.output import OutputParser
from gui.engine.trainer.output.escapes import EscapeStripper
from gui.engine.trainer.output.segments import LONGEST_LINE

FRAGMENTS = [
    b"\n",
    b"\r",
    b"\r\n",
    b" ",
    b"]",
    b"[",
    b"|",
    b"%|",
    b"\x1b",
    b"\x1b[A",
    b"\x1b[2;36m",
    b"\x1b]8;;x\x1b\\",
    b"\xe2\x96",
    b"\x8f",
    b"\xff",
    b"\x00",
    b"------------------------------",
    b"                    ",
    b"                             ",
    b"\rsteps:   0%|          | 0/9 [00:00<?, ?it/s]",
    b"\rsteps:  11%|#         | 1/9 [00:02<00:09,  2.27s/it]",
    b"\rsteps:  11%|#         | 1/9 [00:02<00:09,  2.27s/it, avr_loss=1.14]",
    b"\rsteps:  22%|\xe2\x96\x88\xe2\x96\x88\xe2\x96\x8f       | 2/9 [00:02<00:09,  2.27s/it, avr_loss=1.14]",
    b"\rsteps:  22%|\xe2\x96\x88\xe2\x96\x88\xe2\x96\x8f       | 2/9 [00:02<00:09,  2.27s/it, avr_loss=nan] ",
    b"steps: 17it [03:20,  8.50it/s, avr_loss=0.1]",
    b"0it [00:00, ?it/s]",
    b"\r 50%|#####     | 2/4 [00:06<00:06,  3.06s/it]",
    b"\rvalidation steps:  50%|#| 1/2 [00:01<00:01, 1.00it/s]",
    b"INFO     model saved.                  train_network.py:1729\n",
    b"2026-11-30 00:19:50 ERROR    Error loading file:     train_util.py:2960\n",
    b"                             /data/a.png\n",
    b"Traceback (most recent call last):\n",
    b'  File "/t/a.py", line 1, in f\n',
    b"    f()\n",
    b"OSError: bad\n",
    b"\nDuring handling of the above exception, another exception occurred:\n\n",
    b"[rank0]: ",
    b"[rank1]: ",
    b"Original Traceback (most recent call last):\n",
    b"subprocess.CalledProcessError: Command 'x' died\n",
    b"\nepoch 1/2\n",
    b"\nsaving checkpoint: out/a.safetensors\n",
    b"NaN found in latents\n",
    b"  num epochs / x: 3\n",
    b"train.py: error: no\n",
    b"/v/x.py:1: FutureWarning: y\n",
    b"[2025-07-20 10:11:02] [INFO] ",
    b"generating sample images at step / x: 3\n",
    b"saving last state.\n",
]

streams = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.binary(max_size=12)), max_size=40).map(b"".join)


def read(chunks) -> list[str]:
    parser, events = OutputParser(), []
    for chunk in chunks:
        events += parser.feed(chunk)
    return [event.model_dump_json() for event in events + parser.finish()]


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges)]


@settings(max_examples=400)
@given(streams, st.lists(st.integers(0, 10_000), max_size=20))
@example(b"a\r\n\r\nb", [2, 4])
@example(b"\x1b]8;;" + b"x" * 5000 + b"\x1b\\ok", [3, 4101])
def test_that_events_do_not_depend_on_the_cuts(data, places):
    events = read([data])
    assert read(cut(data, places)) == events
    assert read(data[at : at + 1] for at in range(len(data))) == events


@settings(max_examples=200)
@given(st.lists(st.binary(max_size=200), max_size=20))
def test_that_no_bytes_raise(chunks):
    for line in read(chunks):
        assert TRAINER_EVENT.validate_json(line).model_dump_json() == line


@given(
    st.lists(st.sampled_from([f for f in FRAGMENTS if b"\x1b" in f or b"\r" in f] + [b"]", b"m", b"a\x07"]))
)
def test_that_escapes_do_not_depend_on_the_cuts(fragments):
    data = b"".join(fragments)
    whole, pieces = EscapeStripper(), EscapeStripper()
    expected = whole.feed(data) + whole.finish()
    single = b"".join(pieces.feed(data[at : at + 1]) for at in range(len(data))) + pieces.finish()
    assert single == expected
    assert b"\x1b" not in expected


@settings(max_examples=25)
@given(
    st.integers(LONGEST_LINE - 5, LONGEST_LINE + 5),
    st.integers(4090, 4100),
    st.lists(st.integers(0, 140_000), max_size=6),
)
def test_that_the_limits_of_lines_and_bars_do_not_depend_on_the_cuts(longest, before, places):
    bar = b"\r" + b"x" * (before - 60) + b":  50%|#####     | 2/4 [00:06<00:06,  3.06s/it]"
    data = bar + b"y" * longest + b"]\nsaving checkpoint: " + b"z" * longest + b"\nTraceback" + bar
    assert read(cut(data, places)) == read([data])


def growth(chunks) -> int:
    parser = OutputParser()
    for chunk in chunks[:2]:
        parser.feed(chunk)
    tracemalloc.start()
    try:
        for chunk in chunks:
            parser.feed(chunk)
        held, _peak = tracemalloc.get_traced_memory()
        parser.finish()
    finally:
        tracemalloc.stop()
    return held


def test_that_a_line_of_100_megabytes_is_not_kept():
    assert growth([b"x" * 65536] * 1600) < 200_000
    assert growth([b"]" * 65536] * 1600) < 200_000
    assert growth([b"\x1b]" + b"x" * 65534] * 400) < 200_000


def test_that_what_never_ends_is_not_kept():
    assert growth([b'  File "/t/a.py", line 1, in f\n' * 500] * 100) < 400_000
    assert growth([b"[rank%d]: Traceback (most recent call last):\n" % n for n in range(9000)]) < 400_000
    assert growth([b"INFO     x\n" + (b" " * 29 + b"y" * 900 + b"\n") * 60] * 100) < 1_500_000


def test_that_a_line_after_an_endless_one_reads():
    parser = OutputParser()
    for _turn in range(100):
        assert parser.feed(b"x" * 65536) == []
    events = parser.feed(b"\nsaving checkpoint: a.safetensors\n")
    assert [event.path for event in events if isinstance(event, Saved)] == ["a.safetensors"]
    assert parser.line == 3
