"""Processes that look at images, each led by a thread: jobs in, answers out, in any order."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from gui.engine.dataset.helper_process import HelperProcess
from gui.engine.dataset.image_facts import ImageFacts
from gui.engine.dataset.worker import COMMAND, Job, read_answer
from gui.engine.own_program import own_words

MOST_PROCESSES = 8
"""More only wait for the disk."""

AT_ONCE = 4
"""Jobs that a process has in hand, so that it never waits for the next one."""

STUCK_SECONDS = 120.0
"""A file that takes longer is given up: no picture does, but a network drive may hang for good."""

POLL_SECONDS = 0.2

Answer = tuple[Job, ImageFacts | str]


def usual_processes() -> int:
    """Return how many processes to use: one a core, not too many."""
    return max(1, min(MOST_PROCESSES, os.cpu_count() or 1))


@dataclass
class _Shared:
    """What all hands of a crew share."""

    jobs: Iterator[Job]
    take: threading.Lock = field(default_factory=threading.Lock)
    running: threading.Event = field(default_factory=threading.Event)
    called_off: threading.Event = field(default_factory=threading.Event)
    answers: queue.Queue[Answer | Exception | None] = field(default_factory=lambda: queue.Queue(256))

    def next_jobs(self) -> list[Job]:
        """Take the next few; none when there are no more, or all is called off."""
        while not self.running.wait(POLL_SECONDS):
            if self.called_off.is_set():
                return []
        with self.take:
            if self.called_off.is_set():
                return []
            return [job for _place, job in zip(range(AT_ONCE), self.jobs, strict=False)]

    def put(self, answer: Answer | Exception | None) -> None:
        """Hand an answer over; wait while nobody takes them, unless all is called off."""
        while not self.called_off.is_set():
            with contextlib.suppress(queue.Full):
                self.answers.put(answer, timeout=POLL_SECONDS)
                return


class Crew:
    """Looks at files in processes of its own.

    ``pause``, ``resume`` and ``call_off`` may come from any thread.
    """

    def __init__(
        self,
        jobs: Iterator[Job],
        processes: int | None = None,
        *,
        words: list[str] | None = None,
        stuck_seconds: float = STUCK_SECONDS,
    ) -> None:
        """Take the jobs; nothing is started before answers are asked for.

        Args:
            jobs: Taken one by one as there is room, in the threads of the crew.
            processes: How many; None takes one a core.
            words: The command line of a process; None takes this program.
            stuck_seconds: After so long a file is given up.
        """
        self._shared = _Shared(jobs)
        self._shared.running.set()
        words = words or [*own_words(), COMMAND]
        self._hands = [_Hand(self._shared, words) for _place in range(processes or usual_processes())]
        self._stuck_seconds = stuck_seconds

    def pause(self) -> None:
        """Begin no more files; those in hand are finished."""
        self._shared.running.clear()

    def resume(self) -> None:
        """Go on."""
        self._shared.running.set()

    def call_off(self) -> None:
        """End all processes now."""
        self._shared.called_off.set()

    def answers(self) -> Iterator[Answer | None]:
        """Yield answers as they come, and None now and then while there is none.

        Ends when all jobs are answered or all is called off. Nothing lives on when it ends, or is closed.
        """
        for hand in self._hands:
            hand.start()
        working = len(self._hands)
        try:
            while working and not self._shared.called_off.is_set():
                try:
                    answer = self._shared.answers.get(timeout=POLL_SECONDS)
                except queue.Empty:
                    self._free_the_stuck()
                    yield None
                    continue
                if isinstance(answer, Exception):
                    raise answer
                if answer is None:
                    working -= 1
                else:
                    yield answer
        finally:
            self._shared.called_off.set()
            for hand in self._hands:
                hand.end()

    def _free_the_stuck(self) -> None:
        for hand in self._hands:
            if hand.waiting_seconds() > self._stuck_seconds:
                hand.give_up()


class _Hand:
    """One process and the thread that leads it."""

    def __init__(self, shared: _Shared, words: list[str]) -> None:
        self._shared = shared
        self._process = HelperProcess(words)
        self._since: float | None = None
        self._gave_up = False
        self._thread = threading.Thread(target=self._run, name="image scan", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Kill the process and wait for the thread."""
        self._process.kill()
        self._thread.join()
        self._process.kill()  # one that was started meanwhile

    def waiting_seconds(self) -> float:
        """Return for how long the process has said nothing about a file."""
        since = self._since
        return 0.0 if since is None else time.monotonic() - since

    def give_up(self) -> None:
        """Give the file up that the process hangs on."""
        self._gave_up = True
        self._process.kill()

    def _run(self) -> None:
        try:
            while jobs := self._shared.next_jobs():
                self._do(jobs)
        except Exception as error:  # noqa: BLE001 - whoever waits for answers must hear of it
            self._shared.put(error)
        finally:
            if not self._shared.called_off.is_set():
                self._process.dismiss()
            self._process.kill()
            self._shared.put(None)

    def _do(self, jobs: list[Job]) -> None:
        """Have jobs answered; the first one without an answer is what the process died of."""
        while jobs and not self._shared.called_off.is_set():
            done = 0
            self._gave_up = False
            for line in self._lines(jobs):
                self._shared.put((jobs[done], read_answer(line)))
                done += 1
            if done < len(jobs) and not self._shared.called_off.is_set():
                facts = ImageFacts(fault="slow" if self._gave_up else "died", reason=self._process.bury())
                self._shared.put((jobs[done], facts))
                done += 1
            jobs = jobs[done:]

    def _lines(self, jobs: list[Job]) -> Iterator[bytes]:
        """Yield the answers of the process, fewer than jobs when it dies.

        Raises:
            ScanFailed: It does not come up.
        """
        asks, answers = self._process.pipes()
        with contextlib.suppress(OSError):
            asks.write(b"".join(job.line() for job in jobs))
            asks.flush()
        for _job in jobs:
            self._since = time.monotonic()
            line = answers.readline()
            self._since = None
            if not line.endswith(b"\n"):
                return
            yield line
