"""Reads numbers out of a file that torch saved, without torch and without unpickling it.

A scheduler's state is a small table of numbers, texts and lists. Its pickle is read word by word, and
only the words that make such a table are known here; one that would call or import anything ends the
reading. So a file from a stranger can do nothing.
"""

from __future__ import annotations

import pickletools
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

MOST_BYTES = 1 << 20
"""A scheduler's state has some hundred bytes, one a parameter group more."""

_MARK = object()


class _NotPlain(ValueError):
    """The pickle holds more than plain values."""


def read_plain_table(path: Path) -> dict[str, Any] | None:
    """Return the table of plain values that a torch file holds; None where it holds anything else.

    Args:
        path: Such as ``scheduler.bin`` in a saved state.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entry = next(info for info in archive.infolist() if info.filename.endswith("/data.pkl"))
            if entry.file_size > MOST_BYTES:
                return None
            value = _Reader().read(archive.read(entry))
    except Exception:  # noqa: BLE001 - each way to pack has an error of its own for damaged bytes
        return None
    return value if isinstance(value, dict) else None


class _Reader:
    """A stack on which plain values are put together."""

    def __init__(self) -> None:
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def read(self, data: bytes) -> Any:
        """Return the value; raises ValueError where it is no plain one, or the pickle is broken."""
        for opcode, argument, _place in pickletools.genops(data):
            if opcode.name == "STOP":
                return self._stack.pop()
            self._do(opcode.name, argument)
        raise _NotPlain

    def _do(self, name: str, argument: Any) -> None:
        if name in _IGNORED:
            return
        if name in _CONSTANTS:
            self._stack.append(_CONSTANTS[name]())
        elif name in _GIVEN:
            self._stack.append(argument)
        elif name in ("BINPUT", "LONG_BINPUT"):
            self._memo[argument] = self._stack[-1]
        elif name == "MEMOIZE":
            self._memo[len(self._memo)] = self._stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            self._stack.append(self._memo[argument])
        else:
            self._put_together(name)

    def _put_together(self, name: str) -> None:
        if name in _TUPLES:
            count = _TUPLES[name]
            self._stack[len(self._stack) - count :] = [tuple(self._stack[-count:])]
        elif name == "TUPLE":
            self._stack.append(tuple(self._since_mark()))
        elif name in ("APPEND", "APPENDS"):
            items = [self._stack.pop()] if name == "APPEND" else self._since_mark()
            self._of(list).extend(items)
        elif name in ("SETITEM", "SETITEMS"):
            items = self._since_mark() if name == "SETITEMS" else [self._stack.pop(), self._stack.pop()][::-1]
            self._of(dict).update(zip(items[::2], items[1::2], strict=True))
        else:
            raise _NotPlain

    def _of(self, kind: type) -> Any:
        if not isinstance(self._stack[-1], kind):
            raise _NotPlain
        return self._stack[-1]

    def _since_mark(self) -> list[Any]:
        place = len(self._stack) - 1 - self._stack[::-1].index(_MARK)
        items = self._stack[place + 1 :]
        del self._stack[place:]
        return items


_IGNORED = frozenset({"PROTO", "FRAME"})
_CONSTANTS: dict[str, Callable[[], Any]] = {
    "MARK": lambda: _MARK,
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_DICT": dict,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
}
_GIVEN = frozenset(
    {"BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"}
)
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
