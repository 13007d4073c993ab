"""The parts that can be installed, what each takes, and its requirements from pyproject.toml."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gui.engine.quantities import download
from gui.engine.texts import _
from gui.engine.trainer.torch_sizes import CPU_TORCH_MB, TORCH_MB, this_platform

PROGRAM, TOOLS, TORCH = "program", "tools", "torch"


@dataclass(frozen=True)
class Sizes:
    """What the parts take on one platform, in MB (10^6 bytes) of wheels to fetch."""

    program: float
    tools: float
    torch: float

    def total(self, parts: Collection[str]) -> float:
        """Return the sum over ``parts``."""
        figures = {PROGRAM: self.program, TOOLS: self.tools, TORCH: self.torch}
        return sum(figures[part] for part in parts)


# Sums of the wheels of constraints.txt for Python 3.12, from the index's own figures.
SIZES = {
    place: Sizes(program, tools, TORCH_MB[place])
    for place, program, tools in (
        (("linux", "x86_64"), 117, 46),
        (("linux", "aarch64"), 114, 44),
        (("win32", "amd64"), 108, 40),
        (("darwin", "arm64"), 142, 43),
    )
}


def sizes_here(system: str = sys.platform, machine: str = "") -> Sizes | None:
    """Return the figures for this machine, or None when nobody measured one like it."""
    return SIZES.get(this_platform(system, machine))


def announcement(parts: Collection[str], sizes: Sizes | None, system: str = sys.platform) -> str:
    """Say how much will be fetched, and what part of it torch is."""
    if sizes is None:
        return _("Packages will be fetched; how much is not known for this kind of machine.")
    text = _("About {total} will be fetched, less what pip still has in its cache.").format(
        total=download(sizes.total(parts))
    )
    if TORCH in parts:
        text += " " + _("{torch} of it is for torch, which only the practice trainer needs.").format(
            torch=download(sizes.torch)
        )
        if system == "linux":
            text += " " + _(
                "It is the build with NVIDIA's libraries, unless pip is set up to find "
                "the CPU build (about {cpu})."
            ).format(cpu=download(CPU_TORCH_MB))
        text += " " + _("--light leaves it out.")
    return text


def requirements(project: Path, parts: Collection[str]) -> list[str]:
    """Return what pip is asked for.

    Args:
        project: The folder of ``pyproject.toml``.
        parts: Some of PROGRAM, TOOLS and TORCH.
    """
    wanted = _requirements_by_part(project)
    return [
        text for part in (PROGRAM, TOOLS, TORCH) if part in parts or part == PROGRAM for text in wanted[part]
    ]


def _requirements_by_part(project: Path) -> dict[str, list[str]]:
    data: dict[str, Any] = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))
    groups = data["dependency-groups"]
    return {
        PROGRAM: [*data["project"]["dependencies"], *groups["build"]],
        TOOLS: [*groups["test"], *groups["lint"]],
        TORCH: list(data["project"]["optional-dependencies"]["torch"]),
    }


def parts_to_fetch(
    project: Path, constraints: Path, parts: Collection[str], installed: Mapping[str, str]
) -> list[str]:
    """Return the parts of which something must be fetched.

    Args:
        project: The folder of ``pyproject.toml``.
        constraints: The file of pinned versions.
        parts: What is wanted.
        installed: The versions in the environment by name.
    """
    there = {_normal(name): version.split("+")[0] for name, version in installed.items()}
    lines = [line.split("==") for line in constraints.read_text("utf-8").splitlines() if "==" in line]
    pinned = {_normal(name): version.strip() for name, version in lines}

    def lacks(text: str) -> bool:
        name = _normal(re.split(r"[^\w.-]", text, maxsplit=1)[0])
        return name not in there or there[name] != pinned.get(name, there[name])

    wanted = _requirements_by_part(project)
    return [part for part in parts if any(lacks(text) for text in wanted[part])]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
