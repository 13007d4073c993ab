"""Whether a window could be shown, and the system's libraries that Qt needs for it.

Imports nothing but texts, so that the set-up can ask it before there are any packages.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from gui.engine.texts import _

PLATFORM_VARIABLE = "QT_QPA_PLATFORM"


@dataclass(frozen=True)
class Library:
    """A shared library and the Debian and Ubuntu package that holds it."""

    soname: str
    package: str


DRAWING = (
    Library("libGL.so.1", "libgl1"),
    Library("libEGL.so.1", "libegl1"),
    Library("libxkbcommon.so.0", "libxkbcommon0"),
    Library("libfontconfig.so.1", "libfontconfig1"),
    Library("libglib-2.0.so.0", "libglib2.0-0"),
    Library("libdbus-1.so.3", "libdbus-1-3"),
)
"""What Qt needs to draw at all, also without a screen."""

SCREEN = (
    Library("libxcb-cursor.so.0", "libxcb-cursor0"),
    Library("libxcb-icccm.so.4", "libxcb-icccm4"),
    Library("libxcb-image.so.0", "libxcb-image0"),
    Library("libxcb-keysyms.so.1", "libxcb-keysyms1"),
    Library("libxcb-render-util.so.0", "libxcb-render-util0"),
    Library("libxcb-render.so.0", "libxcb-render0"),
    Library("libxcb-shape.so.0", "libxcb-shape0"),
    Library("libxcb-util.so.1", "libxcb-util1"),
    Library("libxcb-xkb.so.1", "libxcb-xkb1"),
    Library("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
)
"""What it needs besides on an X11 screen."""


def has_display(environment: Mapping[str, str] | None = None) -> bool:
    """Whether there is a screen to show a window on, as far as the environment tells.

    Args:
        environment: Variables to look at; None takes this process's own.
    """
    variables = os.environ if environment is None else environment
    if sys.platform in ("win32", "darwin"):
        return True
    return any(variables.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", PLATFORM_VARIABLE))


def why_no_window(environment: Mapping[str, str] | None = None) -> str | None:
    """Return why Qt could not open a window; it would end the whole process over each of these.

    Args:
        environment: Variables to look at; None takes this process's own.
    """
    variables = os.environ if environment is None else environment
    if sys.platform in ("win32", "darwin") or variables.get(PLATFORM_VARIABLE):
        return None
    if not has_display(variables):
        return _("there is no display here; “kohya-preflight --help” lists what can be done in a terminal")
    if variables.get("WAYLAND_DISPLAY"):
        return None
    packages = missing_packages(DRAWING + SCREEN)
    if packages:
        return _("system libraries are missing; on Debian and Ubuntu: {command}").format(
            command=f"sudo apt-get install {' '.join(packages)}"
        )
    if not _answers():
        return _("the display {name} does not answer").format(name=variables.get("DISPLAY"))
    return None


def is_there(library: Library) -> bool:
    """Whether the system's loader finds and loads it."""
    try:
        ctypes.CDLL(library.soname)
    except OSError:
        return False
    return True


def missing_packages(libraries: Iterable[Library], there: Callable[[Library], bool] = is_there) -> list[str]:
    """Return the packages of the libraries that are not there, each once."""
    return list(dict.fromkeys(library.package for library in libraries if not there(library)))


def package_of(text: str) -> str | None:
    """Return the package of the library that an error message names."""
    return next((each.package for each in DRAWING + SCREEN if each.soname in text), None)


def _answers() -> bool:
    """Whether the X server of this process's environment takes connections; True where nobody can tell."""
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connect.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    xcb.xcb_connection_has_error.argtypes = [ctypes.c_void_p]
    xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(None, None)
    failed = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    return not failed
