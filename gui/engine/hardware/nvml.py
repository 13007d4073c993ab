"""Asks NVIDIA's management library so that no answer, also no error, can harm the asker.

A function that an old driver lacks, a field that a card does not have and a failing call are all the
same to the caller: None. Only a lost GPU is told apart, since it ends a training.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

from gui.engine.texts import _

_SICK = (
    *("UNINITIALIZED", "DRIVER_NOT_LOADED", "TIMEOUT", "UNKNOWN"),
    *("ARGUMENT_VERSION_MISMATCH", "GPU_NOT_FOUND"),
)
"""Answers after which a new connection may help (case of a driver that was reloaded)."""


class GpuLost(Exception):
    """The GPU has fallen off the bus or must be reset."""


def load_pynvml() -> ModuleType:
    """Import the real nvidia-ml-py.

    Raises:
        ImportError: It is not installed.
    """
    return importlib.import_module("pynvml")


class Nvml:
    """One connection to the library.

    Args:
        load: Imports the module ``pynvml``.

    Attributes:
        sick: An answer since it was last set to False was such that only a new connection can help.
        refused: An answer since it was last set to False was that this user may not know.
    """

    def __init__(self, load: Callable[[], ModuleType] = load_pynvml) -> None:
        self._load = load
        self._module: Any = None
        self.sick = False
        self.refused = False

    def open(self) -> str | None:
        """Connect. Returns why that is not possible, None when it is."""
        self.sick = False
        try:
            module: Any = self._load()
        except ImportError as error:
            return _("the package nvidia-ml-py cannot be loaded ({error})").format(error=error)
        try:
            module.nvmlInit()
        except Exception as error:  # noqa: BLE001 - a driver may fail in ways that no list knows
            return _why(module, error)
        self._module = module
        return None

    def close(self) -> None:
        """Let go of the library; it may be opened again."""
        module, self._module = self._module, None
        if module is not None:
            with contextlib.suppress(Exception):  # it is being left, whatever it says
                module.nvmlShutdown()

    def constant(self, name: str, otherwise: int = 0) -> int:
        """Return one of the library's constants."""
        return int(getattr(self._module, name, otherwise))

    def ask(self, *names: str, to: tuple[Any, ...] = ()) -> Any:
        """Return the first answer that one of these functions gives, None when none does.

        Args:
            names: Names of one question over the years, the newest first.
            to: Its arguments.

        Raises:
            GpuLost: The GPU is gone.
        """
        for name in names:
            function = getattr(self._module, name, None)
            if function is None:
                continue
            try:
                return function(*to)
            except Exception as error:  # noqa: BLE001 - see the module: an error is an unknown
                self._judge(error)
        return None

    def _judge(self, error: Exception) -> None:
        code = getattr(error, "value", None)
        if code in self._codes("GPU_IS_LOST", "RESET_REQUIRED"):
            raise GpuLost from error
        if code in self._codes(*_SICK):
            self.sick = True
        if code in self._codes("NO_PERMISSION"):
            self.refused = True

    def _codes(self, *names: str) -> set[int]:
        return {self.constant(f"NVML_ERROR_{name}", -1) for name in names}


def _why(module: Any, error: Exception) -> str:
    """Put what ``nvmlInit`` said into words that say what to do."""
    code = getattr(error, "value", None)
    words = {
        "LIBRARY_NOT_FOUND": _("there is no NVIDIA driver on this machine"),
        "DRIVER_NOT_LOADED": _("the NVIDIA driver is not loaded; restart the machine or install it again"),
        "LIB_RM_VERSION_MISMATCH": _(
            "the NVIDIA driver was updated and the machine not restarted since; restart it, training "
            "would fail as well"
        ),
        "NO_PERMISSION": _("this user may not ask the NVIDIA driver"),
        "GPU_NOT_FOUND": _("the NVIDIA driver finds none"),
    }
    for name, sentence in words.items():
        if code is not None and code == getattr(module, f"NVML_ERROR_{name}", None):
            return sentence
    return _("the NVIDIA driver answers: {error}").format(error=error)
