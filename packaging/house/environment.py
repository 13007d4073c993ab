"""The project's own Python environment: ``.venv``, made, repaired and kept up to date."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from gui.engine.texts import _
from gui.engine.trainer.torch_sizes import UNPACKED
from house.children import child_variables
from house.parts import announcement, parts_to_fetch, requirements, sizes_here
from house.system import install, may_install
from house.trouble import Trouble, pip_trouble

Say = Callable[[str], None]

MAKING = "making"
INSTALLING = "Installing collected packages"
"""What pip logs when it has fetched everything and begins to change the environment."""

_VERSIONS = """
import importlib.metadata, json
print(json.dumps({each.name: each.version for each in importlib.metadata.distributions()}))
"""


@dataclass(frozen=True)
class Environment:
    """The environment of one checkout.

    Attributes:
        project: The checkout's root, absolute.
    """

    project: Path

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return self.project / ".venv"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def log(self) -> Path:
        """What pip did last."""
        return self.folder / "bootstrap-pip.log"

    @property
    def stamp(self) -> Path:
        """What is installed; written last, so that it is only there when all went well."""
        return self.folder / "bootstrap-stamp.json"

    @property
    def unfinished(self) -> Path:
        """There while work is going on; says which."""
        return self.folder / "bootstrap-unfinished"

    def was_cut_off(self) -> bool:
        """Whether a set-up ended in the middle of writing: what that leaves can look whole and is not.

        While pip only fetches it changes nothing, so that an environment which lacks nothing but
        its newest part stays of use without a network.
        """
        try:
            work = self.unfinished.read_text("utf-8")
        except OSError:
            return False
        with contextlib.suppress(OSError):
            return work == MAKING or INSTALLING.encode() in self.log.read_bytes()
        return work == MAKING

    @property
    def constraints(self) -> Path:
        """The versions that were tested together."""
        return self.project / "packaging" / "constraints.txt"

    def digest(self) -> str:
        """Return a mark of all that the installed packages depend on."""
        version = f"{sys.implementation.name}-{sys.version_info.major}.{sys.version_info.minor}"
        inputs = [
            version.encode(),
            os.fsencode(self.project),
            (self.project / "pyproject.toml").read_bytes(),
            self.constraints.read_bytes(),
        ]
        return hashlib.sha256(b"\0".join(inputs)).hexdigest()

    def installed(self) -> frozenset[str]:
        """Return the parts that are there and up to date; empty when anything is in doubt."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            stamp = json.loads(self.stamp.read_text("utf-8"))
            if stamp["digest"] == self.digest() and self.python.exists() and not self.was_cut_off():
                return frozenset(stamp["parts"])
        return frozenset()


def ensure(environment: Environment, parts: Collection[str], say: Say) -> None:
    """Install what is missing; do nothing, at once, when nothing is.

    Args:
        environment: The environment of this checkout.
        parts: What must be in it.
        say: Tells the person one line or more.

    Raises:
        Trouble: It could not be done; the text says why and what helps.
    """
    if environment.installed() >= set(parts):
        return
    with _alone(environment.project, say):
        there = environment.installed()
        if there >= set(parts):
            return
        wanted = sorted(there | set(parts))
        try:
            _make(environment, say)
            _install(environment, wanted, say)
            stamp = {"digest": environment.digest(), "parts": wanted}
            environment.stamp.write_text(json.dumps(stamp), "utf-8")
        except OSError as error:
            raise Trouble(
                _("{folder} could not be written: {reason}").format(folder=environment.folder, reason=error)
            ) from error


def _make(environment: Environment, say: Say) -> None:
    """Make ``.venv``, or keep one that works with this Python's version."""
    if environment.was_cut_off():
        say(_("The last set-up was interrupted; it starts afresh."))
    elif _works(environment):
        return
    elif environment.folder.exists():
        say(_("{folder} is broken or of another Python; it is made anew.").format(folder=environment.folder))
    _need_venv_module(say)
    if environment.folder.exists():
        _remove(environment.folder)
    say(
        _("Making {folder} with Python {version}.").format(
            folder=environment.folder, version=".".join(map(str, sys.version_info[:3]))
        )
    )
    environment.folder.mkdir()
    environment.unfinished.write_text(MAKING, "utf-8")
    base = getattr(sys, "_base_executable", "") or sys.executable
    made = subprocess.run(
        [base, "-m", "venv", str(environment.folder)],
        capture_output=True, text=True, errors="replace", env=child_variables(), check=False,
    )  # fmt: skip
    if made.returncode:
        words = "\n".join("  " + line for line in (made.stdout + made.stderr).strip().splitlines()[-8:])
        raise Trouble(_("The Python environment could not be made:") + "\n" + words)


def _need_venv_module(say: Say) -> None:
    """Debian ships Python without its venv module; install that where it is allowed, else say how."""
    package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
    if not _has_venv_module() and may_install():
        say(_("Installing {packages}, which this Python lacks.").format(packages=package))
        with tempfile.TemporaryDirectory() as folder:
            install([package], Path(folder) / "apt.log")
    if not _has_venv_module():
        raise Trouble(
            _("This Python ({python}) has no venv module. On Debian and Ubuntu: {command}").format(
                python=sys.executable, command=f"sudo apt-get install {package}"
            )
        )


def _has_venv_module() -> bool:
    importlib.invalidate_caches()
    return all(importlib.util.find_spec(name) is not None for name in ("venv", "ensurepip"))


def _remove(folder: Path) -> None:
    """Remove a broken environment; a link is taken away, never what it points to."""
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    else:
        shutil.rmtree(folder)


def _works(environment: Environment) -> bool:
    """Whether the environment's Python starts, is of this version, and has pip."""
    question = "import sys, pip; print('%d.%d' % sys.version_info[:2])"
    try:
        answer = subprocess.run(
            [environment.python, "-c", question],
            capture_output=True, text=True, timeout=60, env=child_variables(), check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.stdout.strip() == f"{sys.version_info.major}.{sys.version_info.minor}"


def _install(environment: Environment, parts: list[str], say: Say) -> None:
    new = parts_to_fetch(
        environment.project, environment.constraints, parts, _installed_versions(environment)
    )
    sizes = sizes_here()
    if new:
        say(announcement(new, sizes))
    free = shutil.disk_usage(environment.project).free / 1e6
    if sizes is not None and free < UNPACKED * sizes.total(new):
        say(
            _("The disk has only {free} MB left; {needed} MB may be needed.").format(
                free=int(free), needed=int(UNPACKED * sizes.total(new))
            )
        )
    environment.log.unlink(missing_ok=True)
    environment.unfinished.write_text("installing", "utf-8")
    _pip(
        environment, ["--constraint", str(environment.constraints), *requirements(environment.project, parts)]
    )
    # The program itself, in place: what is edited is what runs. hatchling is there already, so
    # nothing is fetched for it.
    _pip(environment, ["--no-deps", "--no-build-isolation", "--editable", str(environment.project)])
    make_path_file_readable(environment)
    environment.unfinished.unlink()
    say(_("The packages are installed."))


def _installed_versions(environment: Environment) -> dict[str, str]:
    """Ask the environment which versions are in it; nothing where it does not answer."""
    answer = subprocess.run(
        [environment.python, "-c", _VERSIONS],
        stdout=subprocess.PIPE, text=True, env=child_variables(), check=False,
    )  # fmt: skip
    with contextlib.suppress(ValueError):
        versions = json.loads(answer.stdout)
        return versions if isinstance(versions, dict) else {}
    return {}


def _pip(environment: Environment, words: list[str]) -> None:
    """Run pip; its progress is seen where there is a terminal, else it is quiet."""
    quiet = [] if sys.stdout.isatty() else ["--quiet", "--progress-bar", "off"]
    command = [str(environment.python), "-m", "pip", "install", *quiet, "--log", str(environment.log), *words]
    sys.stdout.flush()
    done = subprocess.run(command, env=child_variables(), cwd=environment.project, check=False)
    if done.returncode:
        raise pip_trouble(environment.log, done.returncode)


def make_path_file_readable(environment: Environment) -> None:
    """Write the path of the checkout so that every Python reads it alike.

    The ``.pth`` file of the editable install is UTF-8, but Python before 3.13 reads it in the
    system's encoding: with letters beyond ASCII in the path, a Windows Python would not even start.
    A line that begins with ``import`` is run instead, and can be plain ASCII.
    """
    if str(environment.project).isascii():
        return
    for file in environment.folder.rglob("site-packages/*kohya_preflight*.pth"):
        line = f"import sys; sys.path.append({str(environment.project)!a})\n"
        file.write_text(line, "ascii")


@contextlib.contextmanager
def _alone(project: Path, say: Say) -> Iterator[None]:
    """Let only one set-up of a checkout work at a time; the lock ends with its process."""
    name = hashlib.sha256(os.fsencode(project)).hexdigest()[:16]
    owner = str(os.getuid()) if hasattr(os, "getuid") else "user"
    place = Path(tempfile.gettempdir()) / f"kohya-preflight-setup-{owner}-{name}.lock"
    with place.open("a+b") as file:
        if not _lock(file.fileno(), wait=False):
            say(_("Another set-up of this folder is at work; waiting for it."))
            _lock(file.fileno(), wait=True)
        yield


def _lock(descriptor: int, *, wait: bool) -> bool:
    """Take the lock; without ``wait`` say whether that was possible at once."""
    while True:
        try:
            _lock_once(descriptor, wait=wait)
        except OSError:
            if not wait:
                return False
        else:
            return True


if sys.platform == "win32":
    import msvcrt

    def _lock_once(descriptor: int, *, wait: bool) -> None:
        # LK_LOCK gives up after ten seconds with an error.
        msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock_once(descriptor: int, *, wait: bool) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
