"""The process that looks at images, and its line protocol.

One line in is one file to look at, one line out what it holds, in the same order. A process that dies
on a file has answered all files before it, so that the file is known. It ends when nobody talks to it
any more, and so with whoever started it, however that one ends.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO, NamedTuple

from gui.engine.dataset.image_facts import ImageFacts

READY = b"ready\n"
"""The first line of such a process, before any answer."""

COMMAND = "look-at-images"
"""How this program is told to be such a process; nobody calls it by hand."""


class Job(NamedTuple):
    """One file to look at.

    Attributes:
        path: The file.
        known: Contents whose facts need not be found out again.
        tag: The asker's own number for it; it is not sent.
    """

    path: Path
    known: tuple[str, ...] = ()
    tag: int = 0

    def line(self) -> bytes:
        """Return the job as it is sent; names that are no text survive as escapes."""
        return json.dumps([os.fspath(self.path), self.known]).encode("ascii") + b"\n"

    @classmethod
    def read(cls, line: bytes) -> Job:
        """Return the job of a line."""
        path, known = json.loads(line)
        return cls(Path(path), tuple(known))


def answer_line(answer: ImageFacts | str) -> bytes:
    """Return an answer as it is sent: facts, or a content that was among the known ones."""
    if isinstance(answer, str):
        return f'"{answer}"\n'.encode("ascii")
    return answer.to_json().encode("ascii") + b"\n"


def read_answer(line: bytes) -> ImageFacts | str:
    """Return the answer of a line."""
    if line.startswith(b'"'):
        return str(json.loads(line))
    return ImageFacts.from_json(line)


def work(jobs: Iterable[bytes], answers: BinaryIO) -> None:
    """Answer jobs until there are none."""
    from gui.engine.dataset.image_look import look_at  # heavy, and whoever asks does not need it

    for line in jobs:
        job = Job.read(line)
        answers.write(answer_line(look_at(job.path, job.known)))
        answers.flush()


def serve(prepare: Callable[[], None], work: Callable[[Iterable[bytes], BinaryIO], None]) -> int:
    """Be a process that answers lines until there are none; ``HelperProcess`` is its other end.

    Args:
        prepare: Called before it says that it is ready.
        work: Answers jobs.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the one who asks; it then hangs up
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a decoder prints is no answer
    prepare()
    try:
        answers.write(READY)
        answers.flush()
        work(iter(sys.stdin.buffer.readline, b""), answers)
    except OSError:  # nobody listens any more
        os._exit(0)
    return 0


def main() -> int:
    """Be a process that looks at images."""
    from gui.engine.dataset.image_look import prepare

    return serve(prepare, work)
