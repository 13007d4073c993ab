"""What is asked of a supervisor: small numbered files that anybody can write, answered in the events."""

from __future__ import annotations

import contextlib
import errno
from dataclasses import dataclass
from pathlib import Path

from gui.engine.documents import reason_of
from gui.engine.errors import CannotRead, CannotWrite, NewerDocument
from gui.engine.runs.events import RequestKind
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.records import Versioned

_NO_ROOM = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


class Request(Versioned):
    """One thing asked.

    Attributes:
        request: What.
        by: Who asks, for the record: ``terminal``, ``window``, …
    """

    request: RequestKind
    by: str = ""


@dataclass(frozen=True)
class Numbered:
    """A request file as the supervisor found it.

    Attributes:
        number: From its name; answered in the order of numbers.
        request: Its content, None when it cannot be read.
        problem: Why it cannot be read.
    """

    number: int
    request: Request | None = None
    problem: str = ""


def ask(run: RunFolder, request: RequestKind, by: str) -> int:
    """Leave a request for the run's supervisor.

    Returns:
        Its number, under which it will be answered.

    Raises:
        CannotWrite: The folder cannot be written.
    """
    content = Request(request=request, by=by).model_dump_json(by_alias=True).encode("utf-8")
    try:
        try:
            return _put(run, content)
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            # Room was kept for the end of the run, and to be ended is what it needs on a full disk.
            run.reserve.unlink(missing_ok=True)
            return _put(run, content)
    except OSError as error:
        raise CannotWrite(run.requests, reason_of(error)) from error


def _put(run: RunFolder, content: bytes) -> int:
    """Write a request under the next number; made only where nobody else was quicker, in one piece."""
    run.requests.mkdir(exist_ok=True)
    number = max(_numbers(run.requests), default=0)
    while True:
        number += 1
        path = run.requests / f"{number}.json"
        try:
            file = path.open("xb", buffering=0)
        except FileExistsError:
            continue
        try:
            with file:
                file.write(content)
        except OSError:
            path.unlink(missing_ok=True)
            raise
        return number


def read_requests(run: RunFolder, answered: set[int]) -> list[Numbered]:
    """Return the requests that are not answered yet, in their order."""
    found = []
    for number in sorted(_numbers(run.requests) - answered):
        path = run.requests / f"{number}.json"
        if _is_being_written(path):
            continue
        try:
            request = Request.read(path)
        except (CannotRead, NewerDocument) as error:
            found.append(Numbered(number=number, problem=str(error)))
        else:
            found.append(Numbered(number=number, request=request))
    return found


def _is_being_written(path: Path) -> bool:
    """Whether the file has been made and its one piece not written yet: answering now would lose it."""
    with contextlib.suppress(OSError):
        return path.stat().st_size == 0
    return False


def _numbers(folder: Path) -> set[int]:
    try:
        names = [entry.name for entry in folder.iterdir()]
    except FileNotFoundError:
        return set()
    return {int(name[:-5]) for name in names if name.endswith(".json") and name[:-5].isdecimal()}
