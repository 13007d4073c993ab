"""Finds the Python that belongs to a trainer.

An interpreter is never resolved through its symlinks: ``venv/bin/python`` *is* the
environment, what it points at (the system's or uv's Python) is not. On Windows the same
holds for uv's and venv's trampolines.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gui.engine.errors import InterpreterNotFound

ENVIRONMENT_FOLDERS = ("venv", ".venv", "env", ".env", "python", "python_embeded", "python_embedded")
"""Where an environment lies in or around a checkout: venv and uv, FluxGym's ``env`` (which is
also a usual ``conda create -p``), the embedded Python of portable packages."""

TRAINER_WORDS = ("kohya", "sd-scripts", "sd_scripts", "sdscripts", "lora")
"""How people name a conda environment for this."""


def executable_in(prefix: Path, windows: bool = os.name == "nt") -> Path | None:
    """Return the interpreter of a venv or conda environment; None when there is none.

    Args:
        prefix: The environment's folder.
        windows: Whether it has the layout of Windows.
    """
    places = ("Scripts/python.exe", "python.exe") if windows else ("bin/python", "bin/python3")
    return next((prefix / place for place in places if (prefix / place).is_file()), None)


def given_interpreter(value: str | Path, root: Path) -> Path:
    """Return the interpreter that the user named: a file, an environment's folder or a command.

    Raises:
        InterpreterNotFound: There is nothing there that could be started.
    """
    path = Path(value).expanduser()
    if path.is_dir():
        inside = (executable_in(folder) for folder in (path, *(path / n for n in ENVIRONMENT_FOLDERS)))
        found = next(filter(None, inside), None)
        if found:
            return found.absolute()
    elif path.is_file() and (os.name == "nt" or os.access(path, os.X_OK)):
        return path.absolute()
    elif len(path.parts) == 1 and (command := shutil.which(str(path))):
        return Path(command).absolute()
    raise InterpreterNotFound(root, (str(value),))


def find_interpreter(
    root: Path, enclosing: Sequence[Path], environment: Mapping[str, str] | None = None
) -> Path:
    """Return the Python of a trainer.

    Environments in the checkout and in the GUI around it come first; one that has torch is
    preferred. Only when there is none at all are environments elsewhere considered (active,
    conda by name, the system's Python), and only those with torch in them.

    Args:
        root: The folder with the training scripts.
        enclosing: The folders of the GUI around it, innermost first.
        environment: Variables to look at; None takes this process's own.

    Raises:
        InterpreterNotFound: Nothing was found; the user has to name one.
    """
    variables = os.environ if environment is None else environment
    near = [
        executable
        for folder in (root, *enclosing)
        for name in ENVIRONMENT_FOLDERS
        if (executable := executable_in(folder / name))
    ]
    best = next((executable for executable in near if has_torch(executable)), near[0] if near else None)
    if best is None:
        best = next((executable for executable in _elsewhere(variables) if has_torch(executable)), None)
    if best is None:
        raise InterpreterNotFound(root)
    return best.absolute()


def prefix_of(executable: Path) -> Path:
    """Return the environment's folder of an interpreter."""
    folder = executable.parent
    return folder.parent if folder.name.lower() in ("bin", "scripts") else folder


def package_folders(executable: Path) -> list[Path]:
    """Return the folders where an interpreter's packages lie, by the layout of its environment."""
    prefix = prefix_of(executable)
    patterns = (
        "lib/python3*/site-packages",
        "lib/python3*/dist-packages",
        "local/lib/python3*/dist-packages",
    )
    folders = [found for pattern in patterns for found in sorted(prefix.glob(pattern))]
    debian = prefix / "lib" / "python3" / "dist-packages"
    windows = prefix / "Lib" / "site-packages"
    return [folder for folder in dict.fromkeys([*folders, debian, windows]) if folder.is_dir()]


def has_torch(executable: Path) -> bool:
    """Tell, without running it, whether an interpreter's environment holds torch."""
    return any((folder / "torch").is_dir() for folder in package_folders(executable))


def _elsewhere(environment: Mapping[str, str]) -> Iterator[Path]:
    own = Path(sys.prefix)
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        value = environment.get(variable)
        executable = executable_in(Path(value)) if value and Path(value) != own else None
        if executable:
            yield executable
    yield from _conda_environments(environment)
    for name in ("python3", "python"):
        command = shutil.which(name, path=environment.get("PATH"))
        if command and prefix_of(Path(command)) != own:
            yield Path(command)


def _conda_environments(environment: Mapping[str, str]) -> Iterator[Path]:
    """Conda keeps the list of its environments in the user's home, wherever conda itself lies."""
    home = environment.get("USERPROFILE") or environment.get("HOME")
    if not home:
        return
    try:
        lines = (Path(home) / ".conda" / "environments.txt").read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return
    for line in lines:
        prefix = Path(line.strip())
        if any(word in prefix.name.lower() for word in TRAINER_WORDS):
            executable = executable_in(prefix)
            if executable:
                yield executable
