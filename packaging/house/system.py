"""Libraries of the system that the window needs, and Debian's names for them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from gui.engine.displays import DRAWING, SCREEN, Library, missing_packages
from gui.engine.texts import _

Say = Callable[[str], None]


FONTS_PACKAGE = "fonts-wqy-microhei"
_ASIAN_FONTS = ("*CJK*", "wqy*", "Nanum*", "nanum*", "*Droid*Fallback*", "*UnBatang*", "*baekmuk*")


def needed_libraries() -> tuple[Library, ...]:
    """Return what the window would need here: nothing but Linux leaves it to the system."""
    if sys.platform != "linux":
        return ()
    return DRAWING + SCREEN if os.environ.get("DISPLAY") else DRAWING


def asian_fonts_missing(folders: Iterable[Path] | None = None) -> bool:
    """Whether no font is seen that draws Korean, Japanese and Chinese (Linux only)."""
    if folders is None:
        if sys.platform != "linux":
            return False
        folders = (
            Path("/usr/share/fonts"),
            Path("/usr/local/share/fonts"),
            Path("~/.local/share/fonts").expanduser(),
        )
    return not any(next(folder.rglob(name), None) for folder in folders for name in _ASIAN_FONTS)


def is_debian(release: Path = Path("/etc/os-release")) -> bool:
    """Whether this is Debian or descends from it."""
    try:
        lines = release.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return False
    values = [
        line.split("=", 1)[1].strip("\"'").split() for line in lines if line.startswith(("ID=", "ID_LIKE="))
    ]
    return any("debian" in value for value in values) and shutil.which("apt-get") is not None


def may_install() -> bool:
    """Whether this process may install Debian's packages itself."""
    return is_debian() and hasattr(os, "geteuid") and os.geteuid() == 0


def install(packages: list[str], log: Path) -> bool:
    """Install Debian packages without a question.

    Args:
        packages: Their names.
        log: Takes everything that apt-get says.

    Returns:
        Whether all went well.
    """
    variables = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    patience = [
        "-o",
        "DPkg::Lock::Timeout=120",
        "-o",
        "Acquire::Retries=1",
        "-o",
        "Acquire::http::Timeout=20",
    ]
    try:
        with log.open("wb") as file:
            for words in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
                done = subprocess.run(
                    ["apt-get", *patience, *words],
                    stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                    env=variables, timeout=900, check=False,
                )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def look_after_libraries(say: Say, tried: Path, *, fonts: bool) -> None:
    """Say what the window will miss, install it where that is allowed, and go on in any case.

    Args:
        say: Tells the person one line.
        tried: The log of apt-get; when it is newer than today's need, nothing is tried again.
        fonts: Whether to look for fonts too.
    """
    packages = missing_packages(needed_libraries())
    if packages and may_install() and not _tried_before(tried, packages):
        say(_("Installing system libraries for the window: {packages}").format(packages=" ".join(packages)))
        install(packages, tried)
        with tried.open("ab") as file:
            file.write(_mark(packages).encode())
        packages = missing_packages(needed_libraries())
    if packages:
        say(_advice(packages))
    if fonts and asian_fonts_missing():
        say(
            _("No font for Korean, Japanese and Chinese was found. On Debian and Ubuntu: {command}").format(
                command=f"sudo apt-get install {FONTS_PACKAGE}"
            )
        )


def _advice(packages: list[str]) -> str:
    names = " ".join(packages)
    if is_debian():
        return _("The window needs system libraries (the command line does not): {command}").format(
            command=f"sudo apt-get install {names}"
        )
    return _(
        "The window needs system libraries (the command line does not); "
        "on Debian these packages hold them: {packages}"
    ).format(packages=names)


def _mark(packages: list[str]) -> str:
    return f"\n# tried: {' '.join(packages)}\n"


def _tried_before(tried: Path, packages: list[str]) -> bool:
    try:
        return _mark(packages) in tried.read_text("utf-8", errors="replace")
    except OSError:
        return False
