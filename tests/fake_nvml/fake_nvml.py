"""Builds and drives the stand-in for NVIDIA's management library.

The real nvidia-ml-py (module ``pynvml``) loads it. Either of

* a child process whose ``LD_LIBRARY_PATH`` names its folder and whose ``FAKE_NVML`` names its state
  file. For a whole run with GPUs, start the supervisor with ``FakeNvml.environment()`` added to its
  environment (fixture ``fake_gpus`` in ``tests/conftest.py``) and change the GPUs with ``set`` meanwhile;
* this process, through pynvml's own variable for the library: ``FakeNvml.inside(monkeypatch)``.

State keys, each also as ``key.<index>`` for one GPU: ``count``, ``driver``, ``cuda`` (13000 is 13.0),
``name``, ``total``, ``used``, ``reserved`` (bytes), ``utilisation``, ``temperature``, ``power_mw``,
``limit_mw``, ``throttle`` (bits), ``capability.major``, ``capability.minor``, ``driver_model`` (0 WDDM,
1 TCC; unset: Linux), ``mig`` (0 or 1; unset: not supported), ``mig.count``, ``processes`` and
``graphics`` (``"<pid>:<bytes> <pid>:?"``), and ``ret.<C function>``: the error code that it answers.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pynvml

if TYPE_CHECKING:
    import pytest

SOURCE = Path(__file__).with_name("fake_nvml.c")
LIBRARY = "libnvidia-ml.so.1"
SIZES = {
    "MEMORY": pynvml.c_nvmlMemory_t,
    "MEMORY_V2": pynvml.c_nvmlMemory_v2_t,
    "UTILIZATION": pynvml.c_nvmlUtilization_t,
    "PROCESS": pynvml.c_nvmlProcessInfo_t,
    "PCI": pynvml.nvmlPciInfo_t,
}


def why_not() -> str | None:
    """Return why the library cannot be built here, None when it can."""
    if os.name == "nt":
        return "the stand-in for NVML is a Linux library"
    return None if shutil.which("cc") else "no C compiler (cc) to build the stand-in for NVML"


def build(folder: Path, *, old_driver: bool = False) -> Path:
    """Compile the library, its structures checked against those of nvidia-ml-py."""
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / LIBRARY
    words = ["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", f"-Wl,-soname,{LIBRARY}"]
    words += [f"-DSIZE_{name}={ctypes.sizeof(kind)}" for name, kind in SIZES.items()]
    words += ["-DOLD_DRIVER"] if old_driver else []
    subprocess.run([*words, "-o", str(library), str(SOURCE)], check=True, timeout=120)
    return library


class FakeNvml:
    """A built library and its state."""

    def __init__(self, library: Path, state: Path) -> None:
        self.library = library
        self.state = state
        self._values: dict[str, str] = {}
        self.set()

    def set(self, values: dict[str, object] | None = None, **more: object) -> None:
        """Change the state: ``set(used=3 << 30)``, ``set({"ret.nvmlDeviceGetName.1": 15})``; None unsets."""
        for key, value in {**(values or {}), **more}.items():
            if value is None:
                self._values.pop(key, None)
            else:
                self._values[key] = str(value)
        fresh = self.state.with_suffix(".new")
        fresh.write_text("".join(f"{key}={value}\n" for key, value in self._values.items()))
        fresh.replace(self.state)

    def environment(self) -> dict[str, str]:
        """Return the variables that make a child process see these GPUs."""
        return {"LD_LIBRARY_PATH": str(self.library.parent), "FAKE_NVML": str(self.state)}

    def inside(self, monkeypatch: pytest.MonkeyPatch) -> FakeNvml:
        """Let the pynvml of this process use the library until the test ends."""
        monkeypatch.setenv("FAKE_NVML", str(self.state))
        monkeypatch.setattr(pynvml, "nvmlLib", ctypes.CDLL(str(self.library)))
        monkeypatch.setattr(pynvml, "_nvmlGetFunctionPointer_cache", {})
        return self
