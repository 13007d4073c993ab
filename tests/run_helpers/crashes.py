"""Kills whatever works on a home's runs at random moments, looks again as a person would, and checks."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import psutil

from gui.engine.errors import CannotRead, PreflightError
from gui.engine.paths import Home
from gui.engine.runs.abandoned import clear_abandoned
from gui.engine.runs.events import Launching, read_events
from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.runs.listing import list_runs
from gui.engine.runs.lock import is_held
from gui.engine.runs.neighbours import living_runs
from gui.engine.runs.processes import read_launched
from gui.engine.runs.queue_session import ensure_scheduler
from gui.engine.runs.queue_store import QueueStore
from gui.engine.runs.records import CommandRecord, Manifest
from gui.engine.runs.run_entry import RunEntry
from gui.engine.runs.start import ensure_supervisor, read_status
from gui.engine.runs.status import RunStatus, Verdict
from gui.engine.trainer.safetensors_file import read_header

SHARES = {
    "window": 0.05,
    "terminal": 0.05,
    "scheduler": 0.1,
    "supervisor": 0.3,
    "launcher": 0.25,
    "trainer": 0.25,
}
"""How likely each is the next to die; the first three are there all the time, and would get all the kills."""

OWN = [sys.executable, "-m", "gui"]
LONGEST_SECONDS = 600.0
SEED_VARIABLE = "KOHYA_PREFLIGHT_CRASH_SEED"


def seeded(number: int = 0) -> Random:
    """Return what decides who dies, and when; the seed is printed, for the report of a failed test.

    Args:
        number: Of the test; each has a seed of its own.
    """
    first = os.environ.get(SEED_VARIABLE)
    seed = secrets.randbelow(1 << 30) if first is None else int(first) + number
    print(f"{SEED_VARIABLE}={seed - number}")
    return Random(seed)


class Storm:
    """Random kills among the processes of a home.

    Args:
        home: Whose.
        random: Decides who dies, and when.
    """

    def __init__(self, home: Home, random: Random) -> None:
        self.home = home
        self.store = QueueStore(home)
        self.random = random
        self.killed: list[tuple[str, str]] = []
        """What was killed, and of which run."""
        self._faces: dict[str, list[subprocess.Popen[bytes]]] = {"window": [], "terminal": []}

    def open(self, kind: str, *words: str) -> None:
        """Start a window or a terminal command, which may be killed."""
        log = (self.home.root.parent / f"{kind}.log").open("ab")
        environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
        self._faces[kind].append(
            subprocess.Popen(
                [*OWN, *words, "--home", str(self.home.root)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
            )
        )
        log.close()

    def blow(self, kills: int, longest_pause: float) -> None:
        """Kill so often, at random moments."""
        until = time.monotonic() + LONGEST_SECONDS
        while kills and time.monotonic() < until and not self.over():
            time.sleep(self.random.uniform(0.0, longest_pause))
            kills -= self.strike()
            if self.random.random() < 0.7:
                self.look()

    def strike(self) -> bool:
        """Kill one process, if any is there."""
        (kind,) = self.random.choices(list(SHARES), list(SHARES.values()))
        victims = [(run, pid) for each, run, pid in self._living() if each == kind and _is_there(pid)]
        if not victims:
            return False
        run, pid = self.random.choice(victims)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            self.killed.append((kind, run))
        return True

    def look(self) -> None:
        """Do what every window and command does: have somebody there who looks after queue and runs."""
        ensure_scheduler(self.store)
        for name in run_names(self.home):
            run = RunFolder(self.home.runs / name)
            if run.status.exists():
                with contextlib.suppress(PreflightError):
                    ensure_supervisor(run)

    def over(self) -> bool:
        """Whether nothing more will happen by itself."""
        items = self.store.read().items
        entries = list_runs(self.home).runs
        faces = any(face.poll() is None for face in self._faces["terminal"])
        return all(item.over for item in items) and all(map(_is_over, entries)) and not faces

    def calm_down(self) -> None:
        """Look until everything is over, and close what is open."""
        until = time.monotonic() + LONGEST_SECONDS
        while not self.over():
            assert time.monotonic() < until, "it never ends: " + self.tell()
            self.look()
            time.sleep(0.3)
        for faces in self._faces.values():
            for face in faces:
                face.kill()
                face.wait()
        while is_held(self.store.lock) or living_here(self.home):
            assert time.monotonic() < until, "something lives on: " + self.tell()
            time.sleep(0.1)

    def tell(self) -> str:
        """Return what was done and what is there, for a failed test."""
        runs = [
            (run.name, run.condition, run.state, run.verdict, run.reason) for run in list_runs(self.home).runs
        ]
        items = [(item.number, item.state, item.run, item.sentence) for item in self.store.read().items]
        return f"killed: {self.killed}\nruns: {runs}\nitems: {items}\nalive: {living_here(self.home)}"

    def _living(self) -> list[tuple[str, str, int]]:
        found = [
            (kind, "", face.pid)
            for kind, faces in self._faces.items()
            for face in faces
            if face.poll() is None
        ]
        if is_held(self.store.lock):
            found.append(("scheduler", "", _pid_in(self.store.lock)))
        for name in run_names(self.home):
            run = RunFolder(self.home.runs / name)
            if is_held(run.lock):
                found.append(("supervisor", name, _pid_in(run.lock)))
            with contextlib.suppress(CannotRead):
                launched = read_launched(run.path)
                if launched is not None:
                    both = (("launcher", launched.launcher), ("trainer", launched.trainer))
                    found += [(kind, name, process.pid) for kind, process in both if process.alive()]
        return found


def living_here(home: Home) -> list[str]:
    """Return the runs of a home of which a process lives."""
    return [fact.name for fact in living_runs() if Path(fact.folder).parent == home.runs]


def check_runs(storm: Storm) -> None:
    """Check that nothing was lost and nothing is told wrong, whoever died when."""
    told = storm.tell()
    clear_abandoned(storm.home, age_seconds=0.0)  # of terminals that died while they wrote
    entries = list_runs(storm.home).runs
    assert [(entry.name, entry.condition) for entry in entries if entry.condition != "fine"] == [], told
    for entry in entries:
        _check_run(RunFolder(entry.folder), {kind for kind, run in storm.killed if run == entry.name}, told)
    _check_items(storm, told)


def _check_items(storm: Storm, told: str) -> None:
    for item in storm.store.read().items:
        runs = [
            name
            for name in run_names(storm.home)
            if Manifest.read(RunFolder(storm.home.runs / name).manifest).queue_item == item.number
        ]
        assert runs == [item.run], (item.number, told)
        verdict = _verdict(RunFolder(storm.home.runs / runs[0]))
        assert (item.state == "done") == (verdict.verdict == "finished"), (item.number, told)


def _check_run(run: RunFolder, killed: set[str], told: str) -> None:
    events = list(read_events(run.events)) if run.events.exists() else []
    launches = sum(isinstance(event, Launching) for event in events)
    verdict, command = _verdict(run), CommandRecord.read(run.command)
    log = run.output_log.read_bytes() if run.output_log.exists() else b""
    trained = b"model saved." in log
    assert launches <= 1, (run.name, told)
    if verdict.verdict == "finished":
        assert trained and command.expected_final is not None and read_header(command.expected_final).complete
    elif launches and verdict.reason != "not-started":
        assert "trainer" in killed, (run.name, verdict, told)
    elif launches:
        assert killed & {"launcher", "supervisor"}, (run.name, verdict, told)
    assert verdict.verdict in ("finished", "failed"), (run.name, verdict, told)
    _check_files(run, command, verdict, told)


def _check_files(run: RunFolder, command: CommandRecord, verdict: Verdict, told: str) -> None:
    there = {path for path in _models(command) if _is_complete(path)}
    assert there == set(verdict.clean), (run.name, verdict, told)


def _models(command: CommandRecord) -> list[Path]:
    assert command.output_dir is not None and command.output_name
    name = command.output_name
    if not command.output_dir.is_dir():
        return []
    files = sorted(command.output_dir.glob(f"{name}*.safetensors"))
    return [path for path in files if path.stem == name or path.stem.startswith(f"{name}-")]


def _is_complete(path: Path) -> bool:
    with contextlib.suppress(CannotRead):
        return read_header(path).complete
    return False


def _verdict(run: RunFolder) -> Verdict:
    verdict = RunStatus.read(run.status).verdict
    assert verdict is not None
    return verdict


def _is_over(entry: RunEntry) -> bool:
    """Whether a run is judged, or was never written to the end by a terminal that died."""
    run, status = RunFolder(entry.folder), None
    with contextlib.suppress(PreflightError):
        status = read_status(run)
    return not run.status.exists() or (status is not None and status.state == "ended")


def _is_there(pid: int) -> bool:
    return pid > 0 and psutil.pid_exists(pid)


def _pid_in(lock: Path) -> int:
    with contextlib.suppress(OSError, ValueError):
        return int(lock.read_text("ascii"))
    return 0
