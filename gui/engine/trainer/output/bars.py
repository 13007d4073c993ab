"""The grammar of tqdm's bars (trainer-output 3.1)."""

from __future__ import annotations

import re
from typing import NamedTuple

_TAIL = rb" \[[^\]<,]*(?:<[^\],]*)?,\s*([^\],]*)(?:, ([^\]]*))?\]"

TRAINING_BAR = re.compile(
    rb" {0,8}steps: {1,8}\d{1,3}%\|[^|]*\| (\d{1,12})/(\d{1,12})"
    rb" \[[\d:]+<[\d:?]+, *([^\],]*)(?:, ([^\]]*))?\]"
)
"""The bar of training steps in the form that nearly every redraw has: done, total, rate, postfix.

``validation steps:`` counts other steps (trainer-output 3.5)."""

_ANY_BAR = re.compile(
    rb"([^%|]{0,400}?)\s{0,8}(?:\d{1,3}%\|[^|\]\[]*\|\s{0,8}([\d.]{1,16}[kKMGTP]?)/([\d.]{1,16}[kKMGTP]?)"
    rb"|([\d.]{1,16}[kKMGTP]?)it)" + _TAIL
)
"""Any bar: description, done and total, or done alone where the total is unknown; rate, postfix."""

LONGEST_BAR = 4096
"""Bytes from the start of a bar within which its closing bracket must come."""

_PREFIX = re.compile(r"^(?:\[[^\]]*\]\s*)+")
_LOSS = re.compile(rb"(?:^|, )(?:avr_loss|loss)=([^,\s]+)")
_RATE = re.compile(rb"([\d.]+)(s/it|it/s)")
_UNITS = {"k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}


class Bar(NamedTuple):
    """One redraw of a bar.

    Attributes:
        name: Its description, without the colon; empty where it has none.
        done: Units done.
        total: Units expected, None where the bar does not know.
        rate: Its rate as printed.
        postfix: What follows the rate, as printed; None where nothing does.
    """

    name: str
    done: int
    total: int | None
    rate: bytes
    postfix: bytes | None


def match_bar(text: bytes, start: int = 0) -> tuple[Bar, int] | None:
    """Find the bar, of any kind, at the start of a piece of output; a description may come first.

    Args:
        text: The output.
        start: Where the last line, redraw or bar ended.

    Returns:
        The bar and the offset after its closing bracket; None where there is none (yet).
    """
    stop = start + LONGEST_BAR
    if text.find(b"]", start, stop) < 0 or (
        text.find(b"%|", start, stop) < 0 and text.find(b"it [", start, stop) < 0
    ):
        return None
    match = _ANY_BAR.match(text, start, stop)
    if match is None:
        return None
    name, done, total, alone, rate, postfix = match.groups()
    count = _amount(done or alone)
    if count is None:
        return None
    whole = _amount(total) if total else None
    return Bar(_name(name), count, whole, rate, postfix), match.end()


def loss_of(postfix: bytes | None) -> float | None:
    """Return the loss of a postfix such as ``Keys Scaled=0, avr_loss=1.24``; None without one."""
    if not postfix:
        return None
    match = _LOSS.search(postfix)
    try:
        return float(match[1]) if match else None
    except ValueError:
        return None


def steps_per_second(rate: bytes) -> float | None:
    """Turn a printed rate (``1.51s/it``, `` 3.55it/s``, ``?it/s``) into steps a second."""
    match = _RATE.search(rate)
    if match is None:
        return None
    try:
        figure = float(match[1])
    except ValueError:
        return None
    if match[2] == b"it/s":
        return figure
    return 1 / figure if figure > 0 else None


def _name(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace").strip()
    return _PREFIX.sub("", text).rstrip(": ")


def _amount(raw: bytes) -> int | None:
    text = raw.decode("ascii")
    factor = _UNITS.get(text[-1], 1)
    try:
        return int(float(text[:-1]) * factor) if factor > 1 else int(float(text))
    except (ValueError, OverflowError):
        return None
