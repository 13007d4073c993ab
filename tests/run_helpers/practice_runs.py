"""Runs the practice trainer as a process of its own on a few small images, and reads what it said."""

from __future__ import annotations

import functools
import importlib.util
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType

from PIL import Image
from warm_python import WarmPython

from gui.engine.resources import resource_path
from gui.engine.trainer.events import Step, TrainerEvent
from gui.engine.trainer.inherited import clean_environment
from gui.engine.trainer.output import OutputParser, Tally
from gui.engine.trainer.tracker import TrackerPoint, TrackerReader

TRAINER = resource_path("practice_trainer")
BASE = TRAINER / "models" / "practice-base.safetensors"
TRAINS_SMALL: dict[str, object] = {
    "pretrained_model_name_or_path": str(BASE),
    "output_name": "lora",
    "network_module": "networks.lora",
    "network_dim": 4,
    "network_alpha": 1,
    "unet_lr": 1e-4,
    "text_encoder_lr": 1e-5,
    "optimizer_type": "AdamW",
    "max_train_steps": 8,
    "max_data_loader_n_workers": 0,
    "mixed_precision": "no",
    "sdpa": True,
    "seed": 1,
}
"""Arguments of a training of seconds; only where its results go is left to say."""

SUPERVISED = {"COLUMNS": "400", "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"}
"""The environment in which the program starts a trainer."""


@dataclass(frozen=True)
class PracticeRun:
    """A run that has ended.

    Attributes:
        folder: Of the run: ``out`` and ``log`` lie in it.
        status: The exit status.
        data: Both pipes' bytes in one.
    """

    folder: Path
    status: int
    data: bytes

    @property
    def out(self) -> Path:
        return self.folder / "out"

    @property
    def text(self) -> str:
        return self.data.decode("utf-8")

    @property
    def files(self) -> list[str]:
        return sorted(path.name for path in self.out.iterdir())

    @cached_property
    def events(self) -> list[TrainerEvent]:
        parser = OutputParser()
        return [*parser.feed(self.data), *parser.finish()]

    @cached_property
    def tally(self) -> Tally:
        tally = Tally()
        for event in self.events:
            tally.add(event)
        return tally

    @property
    def losses(self) -> list[float]:
        return [event.avr_loss for event in self.events if isinstance(event, Step)]

    @cached_property
    def points(self) -> list[TrackerPoint]:
        return TrackerReader(self.folder / "log").read()


def make_images(folder: Path, count: int = 10, size: tuple[int, int] = (64, 64)) -> Path:
    """Write images of one colour each, with captions, and return the folder."""
    folder.mkdir(parents=True)
    for number in range(count):
        colour = (number * 25, 255 - number * 25, number * 53 % 256)
        Image.new("RGB", size, colour).save(folder / f"img{number:02d}.png")
        (folder / f"img{number:02d}.txt").write_text(f"sks thing, colour {number}\n", "utf-8")
    return folder


def practice(
    folder: Path,
    *words: object,
    images: int = 10,
    left_out: Sequence[str] = (),
    env: Mapping[str, str] = SUPERVISED,
    script: str = "train_network.py",
) -> PracticeRun:
    """Train on small images and return the ended run.

    Args:
        folder: Of the run; made when missing, images and all.
        words: More of the command line; what comes later wins.
        images: How many there are.
        left_out: Arguments of the usual command line that are not given.
        env: Added to the environment.
        script: The script's file name.
    """
    if not (folder / "data").exists():
        make_images(folder / "data" / "1_sks thing", images)
    usual: dict[str, object] = {
        "pretrained_model_name_or_path": BASE,
        "train_data_dir": folder / "data",
        "resolution": 64,
        "caption_extension": ".txt",
        "network_module": "networks.lora",
        "network_dim": 4,
        "learning_rate": "1e-4",
        "seed": 42,
        "max_data_loader_n_workers": 0,
        "output_dir": folder / "out",
        "output_name": "demo",
        "max_train_steps": 6,
    }
    given = [
        str(word) for name, value in usual.items() if name not in left_out for word in (f"--{name}", value)
    ]
    words = [script, *given, *map(str, words)]
    if env is SUPERVISED and hasattr(os, "fork"):
        output = folder / "output.log"
        status = _warm_python().run(words, TRAINER, output)
        return PracticeRun(folder, status, output.read_bytes())
    ended = subprocess.run(
        [sys.executable, "-B", *words],
        cwd=TRAINER,
        env={**clean_environment(), **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=240,
        check=False,
    )
    return PracticeRun(folder, ended.returncode, ended.stdout)


@functools.cache
def _warm_python() -> WarmPython:
    """Return the Python in which this process's practice runs run; it belongs to no single test."""
    env = {**clean_environment(), **SUPERVISED}
    env.pop("KOHYA_PREFLIGHT_TEST_MARK", None)
    return WarmPython(env)


def part(name: str) -> ModuleType:
    """Load one stdlib-only module of the trainer by its path; it stays out of sys.modules."""
    spec = importlib.util.spec_from_file_location(f"practice_{name}", TRAINER / "library" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
