"""Checkouts that this Python can ask in a moment: one script, and a torch of a few lines."""

from __future__ import annotations

import os
import sys
import textwrap
from pathlib import Path

import pytest

from gui.engine.trainer import choosing

TORCH = """
    __version__ = "2.8.0+cu128"
    bfloat16 = float16 = None
    class version:
        cuda, hip = "12.8", None
    class _Gpu:
        name, major, minor, total_memory = "NVIDIA GeForce RTX 3060", 8, 6, 12 * 2**30
    class _Tensor:
        def __matmul__(self, other): return self
        def sum(self): return self
        def item(self): return 4096.0
    def ones(*shape, **how): return _Tensor()
    class cuda:
        is_available = staticmethod(lambda: True)
        device_count = staticmethod(lambda: 1)
        get_arch_list = staticmethod(lambda: [])
        get_device_properties = staticmethod(lambda index: _Gpu)
"""

SCRIPT = "import argparse\nimport torch\n\n\ndef setup_parser():\n    return argparse.ArgumentParser()\n"


def make_checkout(root: Path, torch: str = TORCH, script: str = SCRIPT, *, python: bool = True) -> Path:
    """Make what looks like sd-scripts.

    Args:
        root: Its folder.
        torch: Its torch's source.
        script: Its one training script.
        python: Whether it has an environment of its own.
    """
    (root / "library").mkdir(parents=True)
    (root / "library" / "__init__.py").touch()
    (root / "train_network.py").write_text(script)
    (root / "torch.py").write_text(textwrap.dedent(torch))
    (root / "README.md").write_text("## Change History\n\n- **Version 0.10.1 (2025-09-14):**\n")
    if python:
        inside = root / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        inside.parent.mkdir(parents=True)
        inside.symlink_to(sys.executable)
    return root


def hide_other_trainers(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Keep this machine's own trainers out of sight; only those right below a folder are seen."""
    monkeypatch.delenv(choosing.TRAINER_VARIABLE, raising=False)
    monkeypatch.delenv(choosing.PYTHON_VARIABLE, raising=False)
    monkeypatch.setenv("HF_HOME", str(folder / "hf"))

    def places() -> list[Path]:
        return [each for each in sorted(folder.iterdir()) if each.is_dir()]

    monkeypatch.setattr("gui.engine.trainer.installs.usual_places", places)
    monkeypatch.setattr("gui.engine.trainer.choosing.usual_places", places)
