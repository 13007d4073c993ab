"""Finds sd-scripts installs: plain checkouts, and the ones inside other people's GUIs."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from gui.engine.documents import Document
from gui.engine.errors import InterpreterNotFound, TrainerNotFound
from gui.engine.resources import resource_path
from gui.engine.texts import _
from gui.engine.trainer.checkout import card_of, is_checkout
from gui.engine.trainer.interpreters import find_interpreter, given_interpreter

Origin = Literal[
    "sd-scripts",
    "kohya_ss",
    "LoRA_Easy_Training_Scripts",
    "Stability Matrix",
    "FluxGym",
    "lora-scripts",
    "practice",
]

INSIDE = (".", "sd-scripts", "sd_scripts", "backend/sd_scripts", "scripts/stable", "scripts/dev", "scripts")
"""Where a GUI keeps the scripts: kohya_ss and FluxGym in ``sd-scripts``, LoRA_Easy_Training_Scripts
in ``backend/sd_scripts`` (``sd_scripts`` before that), lora-scripts in ``scripts/…``."""

_NAMES = re.compile(r"sd.?scripts|kohya|lora.?easy|lora.?scripts|flux.?gym|stability.?matrix", re.IGNORECASE)
_BASES = (
    *("", "Documents", "Downloads", "Desktop", "AI", "ai", "apps", "src", "git", "github", "GitHub", "repos"),
    *("projects", "code", "dev", "pinokio/api", "StabilityMatrix"),
)
_LINUX_BASES = ("/workspace", "/content", "/opt", "/app", "/notebooks", "/data")


class TrainerInstall(Document):
    """One trainer and the Python that runs it.

    Attributes:
        root: The folder with the training scripts.
        python: The interpreter, not resolved through symlinks.
        origin: The program that the checkout belongs to.
        label: For people: what it is and where.
        practice: Whether it is the practice trainer: what it makes is not for use.
    """

    root: Path
    python: Path
    origin: Origin
    label: str
    practice: bool = False


class Checkout(Document):
    """A folder of training scripts, whether or not a Python was found for it.

    Attributes:
        root: The folder with the training scripts.
        origin: The program that it belongs to.
        enclosing: The folders of that program around it, innermost first.
    """

    root: Path
    origin: Origin
    enclosing: tuple[Path, ...] = ()

    @property
    def label(self) -> str:
        """What it is and where, for people."""
        card = card_of(self.root)
        if card.label:
            return card.label
        if self.origin == card.name:
            return _("{name} at {path}").format(name=card.name, path=self.root)
        return _("{name} of {program} at {path}").format(name=card.name, program=self.origin, path=self.root)


def checkout_at(path: str | Path) -> Checkout:
    """Return the training scripts at a path.

    Args:
        path: The checkout itself, a GUI that has one inside, Stability Matrix's folder when
            it holds just one, or a training script.

    Raises:
        TrainerNotFound: There are none, or several.
    """
    place = Path(path).expanduser().absolute()
    if place.is_file() and place.suffix == ".py":
        place = place.parent
    if not place.exists():
        raise TrainerNotFound(place, _("the folder does not exist"))
    if not place.is_dir():
        raise TrainerNotFound(place, _("it is a file, not a folder"))
    found = find_checkouts([place])
    if not found:
        raise TrainerNotFound(place, _("there is no train_network.py with a folder “library” in it"))
    if len(found) > 1 and found[0].root != place:
        names = ", ".join(str(checkout.root) for checkout in found)
        raise TrainerNotFound(place, _("it holds several; name one of {names}").format(names=names))
    return found[0]


def install_at(
    path: str | Path, python: str | Path | None = None, *, environment: Mapping[str, str] | None = None
) -> TrainerInstall:
    """Return the install at a path.

    Args:
        path: See ``checkout_at``.
        python: Its interpreter, its environment's folder, or a command; None looks for it.
        environment: Variables to look at; None takes this process's own.

    Raises:
        TrainerNotFound: There are no training scripts there.
        InterpreterNotFound: No Python was found for them, or the given one does not exist.
    """
    return _install(checkout_at(path), python, environment)


def missing_part(install: TrainerInstall) -> TrainerNotFound | InterpreterNotFound | None:
    """Return what is no longer there of an install that once was; None where all is in its place."""
    if not install.root.is_dir():
        return TrainerNotFound(install.root, _("the folder does not exist"))
    if not install.python.exists():
        return InterpreterNotFound(install.root, (str(install.python),))
    return None


def practice_install(python: str | Path | None = None) -> TrainerInstall:
    """Return the practice trainer, run by this program's own Python unless another is named.

    Raises:
        TrainerNotFound: The program's data are damaged.
        InterpreterNotFound: A packed program brings no Python that could run it.
    """
    root = resource_path("practice_trainer")
    if python is None and getattr(sys, "frozen", False):
        raise InterpreterNotFound(root)
    return install_at(root, python or sys.executable)


def find_checkouts(places: Iterable[Path] | None = None) -> list[Checkout]:
    """Return the training scripts in and just below the places, each once.

    Args:
        places: Folders to look in; None takes the usual ones of this machine.
    """
    found: dict[Path, Checkout] = {}
    for place in usual_places() if places is None else places:
        for checkout in _checkouts_in(place):
            found.setdefault(_identity(checkout.root), checkout)
    return list(found.values())


def find_installs(
    places: Iterable[Path] | None = None, *, environment: Mapping[str, str] | None = None
) -> list[TrainerInstall]:
    """Return the complete installs in and just below the places, each once.

    Args:
        places: Folders to look in; None takes the usual ones of this machine.
        environment: Variables to look at for interpreters; None takes this process's own.
    """
    installs = []
    for checkout in find_checkouts(places):
        try:
            installs.append(_install(checkout, None, environment))
        except InterpreterNotFound:
            continue
    return installs


def usual_places(environment: Mapping[str, str] | None = None) -> list[Path]:
    """Return the folders of this machine that look like an install by their name.

    Looks at the current folder, the usual folders below the user's home, the roots of the
    drives (Windows), and the usual folders of rented machines (Linux). It does not go deeper.
    """
    variables = os.environ if environment is None else environment
    home = Path(variables.get("USERPROFILE") or variables.get("HOME") or Path.home())
    bases = [Path.cwd(), *(home / base for base in _BASES)]
    if os.name == "nt":
        drives = [Path(f"{letter}:\\") for letter in "CDEFGH"]
        bases += [drive / base for drive in drives for base in ("", "AI", "StabilityMatrix")]
    else:
        bases += [Path(base) for base in _LINUX_BASES]
    places = [Path.cwd(), *_stability_matrix_folders(variables)]
    for base in dict.fromkeys(bases):
        places += [folder for folder in _folders_in(base) if _NAMES.search(folder.name)]
    return list(dict.fromkeys(places))


def _install(
    checkout: Checkout, python: str | Path | None, environment: Mapping[str, str] | None
) -> TrainerInstall:
    if python is not None:
        interpreter = given_interpreter(python, checkout.root)
    else:
        interpreter = find_interpreter(checkout.root, checkout.enclosing, environment)
    return TrainerInstall(
        root=checkout.root,
        python=interpreter,
        origin=checkout.origin,
        label=checkout.label,
        practice=checkout.origin == "practice",
    )


def _checkouts_in(place: Path) -> Iterator[Checkout]:
    packages = [folder for base in ("Data/Packages", "Packages") for folder in _folders_in(place / base)]
    for folder in (place, *packages):
        for inside in INSIDE:
            root = folder / inside
            if is_checkout(root):
                yield Checkout(root=root, origin=_origin_of(root), enclosing=_enclosing(root))


def _enclosing(root: Path) -> tuple[Path, ...]:
    """A checkout inside a GUI shares the GUI's environment, one or two folders up."""
    depths = [
        len(parts)
        for inside in INSIDE
        if (parts := Path(inside).parts) and root.parts[-len(parts) :] == parts
    ]
    return tuple(root.parents[: max(depths, default=0)])


def _origin_of(root: Path) -> Origin:
    if card_of(root).name == "practice":
        return "practice"
    around = root.parents[:3]
    if any(folder.name == "Packages" for folder in around):
        return "Stability Matrix"
    marks: tuple[tuple[str, Origin], ...] = (
        ("kohya_gui.py", "kohya_ss"),
        ("main_ui_files", "LoRA_Easy_Training_Scripts"),
        ("mikazuki", "lora-scripts"),
    )
    for folder in (root, *_enclosing(root)):
        for mark, origin in marks:
            if (folder / mark).exists():
                return origin
        if re.match(r"flux.?gym", folder.name, re.IGNORECASE):
            return "FluxGym"
    return "sd-scripts"


def _stability_matrix_folders(environment: Mapping[str, str]) -> list[Path]:
    """Stability Matrix notes in its settings where the user put its library."""
    home = environment.get("HOME")
    settings = [Path(value) for name in ("APPDATA", "XDG_CONFIG_HOME") if (value := environment.get(name))]
    settings += [Path(home) / ".config"] if home else []
    folders = []
    for base in settings:
        folders.append(base / "StabilityMatrix")
        try:
            content = json.loads((base / "StabilityMatrix" / "library.json").read_text("utf-8-sig"))
            folders.append(Path(content["LibraryPath"]))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
    return folders


def _folders_in(base: Path) -> list[Path]:
    try:
        return sorted(entry for entry in base.iterdir() if entry.is_dir())
    except OSError:
        return []


def _identity(root: Path) -> Path:
    try:
        return root.resolve()
    except OSError:
        return root
