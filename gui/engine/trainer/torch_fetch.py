"""Fetches torch for the practice trainer with pip: with progress, to be called off, and in plain words."""

from __future__ import annotations

import contextlib
import importlib
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from gui.engine.documents import reason_of
from gui.engine.errors import Cancelled, TorchNotFetched
from gui.engine.paths import Home
from gui.engine.texts import _
from gui.engine.trainer.pip_failures import error_lines, failure_of
from gui.engine.trainer.practice import MB, requirement_of_torch, tested_versions, torch_needed
from gui.engine.trainer.stage_run import Progress, kill_tree
from gui.engine.trainer.torch_sizes import UNPACKED

_POLL_SECONDS = 0.2
_MOST_LINES = 400
_MISLEADING = ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_QUIET", "PIP_LOG", "PIP_REPORT", "PIP_DRY_RUN")
_QUIET = ("--progress-bar", "off", "--no-input", "--disable-pip-version-check")
_FETCHES = re.compile(r"Downloading (?P<url>\S+)(?: \((?P<size>[\d.]+) (?P<unit>bytes|kB|MB|GB)\))?$")
_UNITS_KB = {"bytes": 0.001, "kB": 1.0, "MB": 1e3, "GB": 1e6}
_INSTALLS = "Installing collected packages"


def fetch_torch(
    home: Home,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    *,
    python: Path | None = None,
    constraints: Path | None = None,
) -> None:
    """Install torch with pip into this program's own Python.

    Args:
        home: Gets pip's log.
        progress: Told what is being done, and of the file that is being fetched how much is there
            and how much there is, in kB; 0 and 0 where that is not known.
        cancelled: Asked several times a second; True ends pip.
        python: Another Python to install into.
        constraints: See ``torch_needed``.

    Raises:
        TorchNotFetched: It could not be done; the sentence says why and what helps.
        Cancelled: The caller asked for it.
    """
    if python is None and getattr(sys, "frozen", False):
        raise TorchNotFetched("no-pip")
    known = constraints or tested_versions()
    _require_room()
    words = [str(python or sys.executable), "-m", "pip", "install", *_QUIET]
    words += ["--constraint", str(known)] if known else []
    log = _log_in(home)
    words += ["--log", str(log)] if log else []
    tell = progress or (lambda text, done, total: None)
    tell(_("looking for torch"), 0, 0)
    _run_pip([*words, requirement_of_torch(known)], tell, cancelled or (lambda: False), log)
    importlib.invalidate_caches()


def _require_room() -> None:
    """Refuse when not even the smallest build has room; a larger one may still turn out to fill the disk."""
    needed = torch_needed()
    if needed and needed.free_bytes is not None and needed.least_megabytes is not None:
        least = UNPACKED * MB * needed.least_megabytes
        if needed.free_bytes < least:
            raise TorchNotFetched("no-disk", need_bytes=int(least))


def _log_in(home: Home) -> Path | None:
    """Return the place of pip's log, emptied; a home that cannot be written gets none."""
    place = home.cache / "fetch-torch.log"
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"")
    except OSError:
        return None
    return place


def _run_pip(words: Sequence[str], tell: Progress, cancelled: Callable[[], bool], log: Path | None) -> None:
    """Run pip to its end.

    Raises:
        TorchNotFetched: pip failed.
        Cancelled: It was called off; nothing of pip runs any more.
    """
    said: list[str] = []
    with tempfile.TemporaryDirectory(prefix="kohya-preflight-", ignore_cleanup_errors=True) as folder:
        teller = _Teller(tell, Path(folder))
        process = _start(words, folder)
        reader = _Reader(process)
        try:
            for line in reader.lines(cancelled):
                teller.look(line)
                if line:
                    said.append(line)
                    del said[:-_MOST_LINES]
        finally:
            kill_tree(process)
            reader.close()
    if process.returncode:
        raise TorchNotFetched(failure_of(said), said=tuple(error_lines(said, 3)), log=log)


def _start(words: Sequence[str], folder: str) -> subprocess.Popen[str]:
    """Start pip with a temporary folder of its own, where the growing files can be seen."""
    kept = {name: value for name, value in os.environ.items() if name not in _MISLEADING}
    own = {"PYTHONUTF8": "1", "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}
    own |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder)
    try:
        return subprocess.Popen(
            words, cwd=folder, env=kept | own,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            encoding="utf-8", errors="replace", start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )  # fmt: skip
    except OSError as error:
        raise TorchNotFetched("no-pip", said=(reason_of(error),)) from error


class _Teller:
    """Makes progress of what pip prints, and of the file that grows meanwhile.

    Args:
        tell: Takes the progress.
        folder: pip's temporary folder.
    """

    def __init__(self, tell: Progress, folder: Path) -> None:
        self._tell = tell
        self._folder = folder
        self._file = self._what = ""
        self._total_kb = 0

    def look(self, line: str) -> None:
        """Take a line; an empty one says that time has passed."""
        fetched = _FETCHES.search(line.strip())
        if line.startswith(_INSTALLS):
            self._file = ""
            self._tell(_("unpacking; this takes minutes"), 0, 0)
        elif fetched and not fetched["url"].endswith(".metadata"):
            self._file = unquote(fetched["url"].rsplit("/", 1)[-1])
            self._what = _("fetching {name}").format(name=self._file.split("-")[0])
            self._total_kb = round(float(fetched["size"] or 0) * _UNITS_KB.get(fetched["unit"], 0))
        if self._file:
            self._tell(self._what, min(self._fetched_kb(), self._total_kb), self._total_kb)

    def _fetched_kb(self) -> int:
        sizes = [0]
        for place in self._folder.glob("pip-unpack-*/*"):
            if place.name == self._file:
                with contextlib.suppress(OSError):
                    sizes.append(place.stat().st_size)
        return max(sizes) // 1000


class _Reader:
    """Reads a process in a thread, so that reading can be left."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._read, name="pip", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def lines(self, cancelled: Callable[[], bool]) -> Iterator[str]:
        """Yield what the process prints until it ends, and an empty line now and then meanwhile.

        Raises:
            Cancelled: The caller asked for it.
        """
        while True:
            if cancelled():
                raise Cancelled
            try:
                line = self._lines.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                yield ""
                continue
            if line is None:
                self._process.wait()
                return
            yield line

    def close(self) -> None:
        """Let go of the process, which has ended."""
        self._thread.join(timeout=5)
        if self._process.stdout and not self._thread.is_alive():
            self._process.stdout.close()
