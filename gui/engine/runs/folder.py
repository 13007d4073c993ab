"""The folder of one run: the single source of truth about it, readable without the program."""

from __future__ import annotations

import os
import time
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from gui.engine.documents import reason_of
from gui.engine.errors import CannotWrite, UnknownRun
from gui.engine.paths import Home

_NAME_BYTES = 120
"""Longest plan name within a folder's name; file systems allow 255 bytes, and files go below it."""


@dataclass(frozen=True)
class RunFolder:
    """Where each part of a run lies.

    Attributes:
        path: The folder, absolute.
    """

    path: Path

    @property
    def name(self) -> str:
        """``YYYYMMDD-HHMMSS-<plan name>``; what a user calls the run by."""
        return self.path.name

    @property
    def plan(self) -> Path:
        """The plan as it was launched."""
        return self.path / "plan.toml"

    @property
    def dataset(self) -> Path:
        """The dataset file that the trainer was given; absent where it needs none."""
        return self.path / "dataset.toml"

    @property
    def command(self) -> Path:
        """The command line and environment, without tokens."""
        return self.path / "command.json"

    @property
    def manifest(self) -> Path:
        """What the run was made of: base model, trainer, driver, program."""
        return self.path / "manifest.json"

    @property
    def output_log(self) -> Path:
        """All that the trainer printed, raw: the only file here that is not cleaned of tokens."""
        return self.path / "output.log"

    @property
    def events(self) -> Path:
        """What happened, one event a line."""
        return self.path / "events.jsonl"

    @property
    def metrics(self) -> Path:
        """Figures over time, one row a line."""
        return self.path / "metrics.jsonl"

    @property
    def memory(self) -> Path:
        """What the trainer's torch needed of each GPU, one row a line, as the hook in it wrote."""
        return self.path / "memory.jsonl"

    @property
    def phase(self) -> Path:
        """What the trainer is doing, in one word: the supervisor tells its hook."""
        return self.path / "phase.txt"

    @property
    def status(self) -> Path:
        """What is true now; replaced as a whole."""
        return self.path / "status.json"

    @property
    def requests(self) -> Path:
        """What was asked of the supervisor, a numbered file each."""
        return self.path / "requests"

    @property
    def launcher(self) -> Path:
        """Which processes the launcher started."""
        return self.path / "launcher.json"

    @property
    def exit(self) -> Path:
        """How the trainer ended, as the launcher saw it."""
        return self.path / "exit.json"

    @property
    def retry(self) -> Path:
        """What became of trying it again by itself; absent where that was not to be done."""
        return self.path / "retry.json"

    @property
    def notes(self) -> Path:
        """What a person has written down about the run; absent where nobody has."""
        return self.path / "notes.json"

    @property
    def supervisor_log(self) -> Path:
        """What the supervisor itself has to say; empty when all is well."""
        return self.path / "supervisor.log"

    @property
    def lock(self) -> Path:
        """Held by the supervisor for as long as it lives."""
        return self.path / "supervisor.lock"

    @property
    def reserve(self) -> Path:
        """A little room kept for the verdict, given back when the disk is full."""
        return self.path / "reserve.bin"

    def age(self) -> float:
        """Return the seconds since something in it came or went; a clock that was set back makes it old.

        Raises:
            OSError: It is not there, or cannot be looked at.
        """
        return abs(time.time() - self.path.stat().st_mtime)

    def exists(self) -> bool:
        """Whether the folder is that of a run, however broken or new: many programs have a manifest."""
        return self.status.is_file() or self.command.is_file()


def safe_name(name: str) -> str:
    """Return the plan's name as part of a folder's name on every system.

    Letters and digits of every script stay; what a shell, Windows or a path could trip over
    becomes an underscore.
    """
    normal = unicodedata.normalize("NFC", name)
    kept = "".join(sign if sign.isalnum() or sign in "-_." else "_" for sign in normal)
    while "__" in kept:
        kept = kept.replace("__", "_")
    cut = kept.encode("utf-8")[:_NAME_BYTES].decode("utf-8", "ignore")
    return cut.strip("._- ") or "training"


def home_of(run: RunFolder) -> Home | None:
    """Return the home that a run or rehearsal was made in; None for a folder that lies elsewhere."""
    home = Home(run.path.parent.parent)
    return home if run.path.parent in (home.runs, home.rehearsals) else None


def reserve_run_folder(home: Home, plan_name: str, place: Path | None = None) -> RunFolder:
    """Make the empty folder of a new run; the time in its name is local.

    Args:
        home: Where runs are kept.
        plan_name: Becomes part of the name.
        place: Where it is made instead of among the runs.

    Raises:
        CannotWrite: The folder of runs cannot be written.
    """
    place = home.runs if place is None else place
    stem = f"{time.strftime('%Y%m%d-%H%M%S')}-{safe_name(plan_name)}"
    try:
        place.mkdir(parents=True, exist_ok=True)
        for number in range(1, 1000):
            path = place / (stem if number == 1 else f"{stem}-{number}")
            try:
                path.mkdir()
            except FileExistsError:
                continue
            return RunFolder(path)
    except OSError as error:
        raise CannotWrite(place, reason_of(error)) from error
    raise CannotWrite(place, f"{stem}: 1000")


def find_run(home: Home, text: str) -> RunFolder:
    """Return the run that a user means: a folder, a run's name, or a beginning that fits only one.

    Raises:
        UnknownRun: None or several fit.
    """
    as_path = Path(text).expanduser()
    if text and RunFolder(as_path).exists():
        return RunFolder(as_path.absolute())
    names = run_names(home)
    if text in names:
        return RunFolder(home.runs / text)
    matches = [name for name in names if text and (name.startswith(text) or _plan_part(name) == text)]
    if len(matches) == 1:
        return RunFolder(home.runs / matches[0])
    raise UnknownRun(text, home.runs, tuple(matches))


def run_names(home: Home) -> list[str]:
    """Return the names of all folders that could be runs, newest first; hidden ones are none."""
    try:
        with os.scandir(home.runs) as entries:  # a path of each would cost a second look at the disk
            names = [entry.name for entry in entries if _is_folder(entry)]
        return sorted((name for name in names if not name.startswith(".")), reverse=True)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself, or to a disk that fails: one such thing must not hide all runs
        return False


def _plan_part(name: str) -> str:
    return name.split("-", 2)[2] if name.count("-") >= 2 else name
