"""Collects tracebacks out of lines: chained ones, loader workers', ranks', boxes drawn by rich."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_RANK = re.compile(r"^\[(?:rank|default)(\d{1,4})\]:(?: |$)?")
_START = re.compile(r"\s*(?:\+ Exception Group )?Traceback \(most recent call last\)|╭─+ Traceback ")
_FRAME = re.compile(r'\s*(?:\|\s*)?File "[^"]+", line \d+(?:, in |\s*$)')
_LINK = re.compile(
    r"\s*(?:During handling of the above exception, another exception occurred:"
    r"|The above exception was the direct cause of the following exception:"
    r"|Original Traceback \(most recent call last\))"
)
_EXCEPTION = re.compile(r"((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?:: ?(.*))?$")
_ALONE = re.compile(
    r"((?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception|KeyboardInterrupt|MultipleInvalid|BadZipFile))(?:: (.*))?$"
)
_ACCELERATE = re.compile(
    r"accelerate_cli\.py\"?, line|[\\/]accelerate[\\/]commands[\\/]|[\\/]bin[\\/]accelerate"
)
_TRIED = re.compile(r"(?:ModuleNotFound|Import|Key|Attribute)Error: ")
_MOST_EARLIER = 8
_LONGEST = 2000
_HEAD = 60
_TAIL = 140
_FOREIGN = 40
_CODE_LINES = 12
_MESSAGE_LINES = 60
_MOST_OPEN = 64


@dataclass
class Traceback:
    """One traceback while its lines come in; the first and last lines of a long one are kept.

    Attributes:
        line: The number of the line at which it begins.
        rank: The process that a distributed run named, None without a prefix.
        type: The exception's name as printed; None until its last line has come.
        message: The exception's words.
        earlier: Type and words of the exceptions that led to it, the first first.
    """

    line: int
    rank: int | None = None
    type: str | None = None
    message: list[str] = field(default_factory=list)
    earlier: list[str] = field(default_factory=list)
    head: list[str] = field(default_factory=list)
    tail: list[str] = field(default_factory=list)
    left_out: int = 0
    blanks: int = 0
    code: int = 0
    foreign: int = 0

    def add(self, text: str) -> None:
        """Keep one more line."""
        text = text[:_LONGEST]
        if len(self.head) < _HEAD:
            self.head.append(text)
            return
        self.tail.append(text)
        if len(self.tail) > _TAIL:
            del self.tail[0]
            self.left_out += 1

    def text(self) -> str:
        """Return the lines, with a mark where some were left out."""
        gap = ["…"] if self.left_out else []
        return "\n".join([*self.head, *gap, *self.tail])

    def words(self) -> str:
        """Return the exception's message, or the last line where the exception never came."""
        if self.type is None:
            lines = [*self.head, *self.tail]
            return lines[-1].strip() if lines else ""
        return "\n".join(self.message).strip()

    def link(self, body: str) -> None:
        """Note that another exception follows, and that the one before may be its cause.

        What code tries and does without (a missing module, key or attribute) is none.
        """
        told = f"{self.type}: {self.words()}"
        tried = "During handling" in body and _TRIED.match(told)
        if "Original Traceback" not in body and not tried and len(self.earlier) < _MOST_EARLIER:
            self.earlier.append(told)
        self.type = None
        self.message = []

    def is_wrapper(self) -> bool:
        """Tell whether a launcher only reports that its child failed (trainer-output 4).

        accelerate's own complaints (``You can only use one of --cpu, --multi_gpu``) are causes.
        """
        name = (self.type or "").rsplit(".", 1)[-1]
        if name == "CalledProcessError":
            return "Command " in self.words()
        if name == "KeyboardInterrupt":
            return bool(_ACCELERATE.search(self.text()))
        return name == "ChildFailedError"


class TracebackCollector:
    """Takes lines and gives each traceback when its end is sure: at the next line that is not its own."""

    def __init__(self) -> None:
        self._open: dict[int | None, Traceback] = {}
        self.done: list[Traceback] = []

    @property
    def busy(self) -> bool:
        """Whether a traceback is open."""
        return bool(self._open)

    def settle(self) -> None:
        """Note that something came which is no line of text: exceptions that have ended are over."""
        for rank, current in list(self._open.items()):
            current.foreign += 1
            if current.type is not None or current.foreign > _FOREIGN:
                self.done.append(self._open.pop(rank))

    def finish(self) -> None:
        """Note that nothing will follow."""
        self.done.extend(self._open.values())
        self._open.clear()

    def take(self, text: str, line: int) -> str | None:
        """Take one line if it belongs to a traceback.

        Args:
            text: The line; lines of a log record must not come here.
            line: Its number.

        Returns:
            None when it was taken, else the line without the prefix of a rank.
        """
        prefix = _RANK.match(text)
        rank = int(prefix[1]) if prefix else None
        body = text[prefix.end() :] if prefix else text
        self._settle_others(rank, body)
        current = self._open.get(rank)
        if current is not None:
            if self._belongs(current, body):
                return None
            if current.type is not None or current.foreign > _FOREIGN:
                self.done.append(self._open.pop(rank))
        if rank in self._open:
            return body
        return None if self._begins(body, rank, line) else body

    def _settle_others(self, rank: int | None, body: str) -> None:
        for other in [r for r, open_ in self._open.items() if r != rank and open_.type is not None]:
            if body:
                self.done.append(self._open.pop(other))

    def _begins(self, body: str, rank: int | None, line: int) -> bool:
        alone = _ALONE.match(body)
        if alone:
            begun = Traceback(line, rank, type=alone[1], message=[(alone[2] or "")[:_LONGEST]])
        elif _START.match(body) or _FRAME.match(body):
            begun = Traceback(line, rank)
        else:
            return False
        begun.add(body)
        if len(self._open) >= _MOST_OPEN:
            self.done.append(self._open.pop(next(iter(self._open))))
        self._open[rank] = begun
        return True

    def _belongs(self, current: Traceback, body: str) -> bool:
        if current.type is None:
            return self._continues(current, body)
        if not body.strip():
            current.blanks += 1
            return True
        if _LINK.match(body):
            current.link(body)
            for _blank in range(min(current.blanks, 1)):
                current.add("")
            current.add(body)
            current.blanks = 0
            return True
        if body[0] in " \t" and not current.blanks and len(current.message) < _MESSAGE_LINES:
            current.message.append(body.strip()[:_LONGEST])
            current.add(body)
            return True
        return False

    def _continues(self, current: Traceback, body: str) -> bool:
        """Judge a line before the exception's own: frames, code, carets, boxes, blanks."""
        if not body or body[0] in "│╭╰❱|+" or _START.match(body) or _FRAME.match(body) or _LINK.match(body):
            current.code = 0
            current.add(body)
            return True
        if body[0] in " \t" and current.code < _CODE_LINES:
            current.code += 1
            current.add(body)
            return True
        match = _EXCEPTION.match(body)
        if match and _looks_like_exception(match[1]):
            current.type = match[1]
            current.message = [(match[2] or "")[:_LONGEST]]
            current.add(body)
            return True
        current.foreign += 1
        return False


def _looks_like_exception(name: str) -> bool:
    last = name.rsplit(".", 1)[-1]
    return last[:1].isupper() or ("." in name and last != "py")
