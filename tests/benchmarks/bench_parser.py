"""Measures the parser beside a bare split-and-regex loop, and its memory over a long log.

Run it as ``python tests/benchmarks/bench_parser.py [--megabytes N]``; it prints one JSON document.
Nothing is stored: the log of the memory test is made while it is read.
"""

from __future__ import annotations

import argparse
import codecs
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parents[2]))

from gui.engine.trainer.output import OutputParser, Tally

BARE = re.compile(
    r"^steps:\s+(\d+)%\|[^|]*\| (\d+)/(\d+) \[([\d:]+)<([\d:?]+), +([\d.?]+)(s/it|it/s)(?:, (.*?))?\]\s*(.*)$"
)
CHUNK = 1 << 16
CELLS = " ▏▎▍▌▋▊▉█"


def bar(number: int, total: int, loss: float) -> str:
    """Draw the training bar as tqdm does on a pipe."""
    eighths = 80 * number // total
    cells = (CELLS[8] * (eighths // 8) + CELLS[eighths % 8]).ljust(10)[:10]
    figures = f"{number}/{total} [10:00<20:00,  1.86s/it, avr_loss={loss:.3g}]"
    return f"\rsteps: {100 * number // total:3d}%|{cells}| {figures}"


def bars(count: int) -> bytes:
    """Make redraws: two a step, the first with the loss before."""
    text, loss = [], 0.2
    for number in range(1, count // 2 + 1):
        text.append(bar(number, count, loss))
        loss = 0.1 + (number * 7919 % 1000) / 10000
        text.append(bar(number, count, loss))
    return "".join(text).encode()


def plain_lines(count: int) -> bytes:
    """Make lines that mean nothing to the parser, as a chatty library would."""
    return "".join(
        f"module {number}: lora_unet_down_blocks_{number % 12}_attentions, {number % 64} of 64 tensors\n"
        for number in range(count)
    ).encode()


def chunks(data: bytes) -> Iterator[bytes]:
    """Cut as a reader of a file would."""
    for at in range(0, len(data), CHUNK):
        yield data[at : at + CHUNK]


def bare_loop(data: bytes) -> int:
    """Decode, split at both line ends, match each piece: the least that any reader must do."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    rest, found = "", 0
    for chunk in chunks(data):
        *pieces, rest = re.split(r"[\r\n]", rest + decoder.decode(chunk))
        for piece in pieces:
            if BARE.match(piece.replace("\x1b[A", "")):
                found += 1
    return found


def parse(data: bytes) -> int:
    """Read with the parser and add up, as the supervisor does."""
    parser, tally, count = OutputParser(), Tally(), 0
    for chunk in chunks(data):
        for event in parser.feed(chunk, 1.0):
            tally.add(event)
            count += 1
    return count + len(parser.finish())


def compare(data: bytes, lines: int) -> dict[str, float]:
    """Measure both in turn on the same bytes; the best of seven, in processor time."""
    bare = ours = float("inf")
    for _turn in range(7):
        bare = min(bare, seconds(bare_loop, data))
        ours = min(ours, seconds(parse, data))
    return {
        "bare_lines_per_second": round(lines / bare),
        "parser_lines_per_second": round(lines / ours),
        "share_of_bare": round(bare / ours, 2),
    }


def seconds(read: Callable[[bytes], int], data: bytes) -> float:
    """Return how long the processor worked on it."""
    began = time.process_time()
    read(data)
    return time.process_time() - began


def memory(megabytes: int) -> dict[str, float]:
    """Read a long log of lines, bars, records, tracebacks and a line of 100 MB; watch the memory."""
    block = [*chunks(plain_lines(2000) + bars(2000) + b"\n" + ERROR * 20)]
    endless = [b"x" * CHUNK] * 1600
    process, parser, tally, size, events = psutil.Process(), OutputParser(), Tally(), 0, 0
    for chunk in block:
        parser.feed(chunk)
    before = highest = process.memory_info().rss
    began, target = time.perf_counter(), megabytes << 20
    while size < target:
        for chunk in block if size < target - (100 << 20) else endless:
            for event in parser.feed(chunk):
                tally.add(event)
                events += 1
            size += len(chunk)
        highest = max(highest, process.memory_info().rss)
    return {
        "megabytes": size >> 20,
        "events": events,
        "seconds": round(time.perf_counter() - began, 1),
        "before_mib": round(before / 2**20, 1),
        "grown_mib": round((highest - before) / 2**20, 2),
    }


ERROR = (
    b"2026-11-30 00:19:50 ERROR    Error loading file:               train_util.py:2960\n"
    b"                             /data/train/img03.png                              \n"
    b"Traceback (most recent call last):\n"
    b'  File "/data/train_util.py", line 2961, in load_image\n    raise e\n'
    b"OSError: image file is truncated\n"
)


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--megabytes", type=int, default=1024)
    megabytes = options.parse_args().megabytes
    count = 200_000
    result = {
        "memory": memory(megabytes),
        "plain_lines": compare(plain_lines(count), count),
        "bars": compare(bars(count), count),
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
