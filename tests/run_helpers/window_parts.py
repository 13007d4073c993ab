"""The bridges that several pages of the window stand on, made and let go together."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pytestqt.qtbot import QtBot

from gui.engine.hardware.gpu import GpuDevice, GpuSample
from gui.engine.paths import Home
from gui.engine.plan.recents import Recents
from gui.window.bridges.hardware import Hardware
from gui.window.bridges.run_list import RunList
from gui.window.bridges.settings import Settings
from gui.window.bridges.tasks import Tasks
from gui.window.bridges.trainers import Trainers

GIB = 1 << 30


@dataclass
class Gpus:
    """What a driver would tell."""

    samples: tuple[GpuSample, ...] = ()
    problem: str | None = "no NVIDIA GPU seen: there is no driver"
    driver: str | None = None

    def devices(self) -> tuple[GpuDevice, ...]:
        return tuple(
            GpuDevice(index=each.index, uuid=each.uuid, name=each.name, total_bytes=each.total_bytes)
            for each in self.samples
        )

    def sample(self) -> tuple[GpuSample, ...]:
        return self.samples


def one_gpu() -> Gpus:
    """Return a card of 12 GiB."""
    card = GpuSample(
        index=0, uuid="GPU-1", name="NVIDIA GeForce RTX 3060", used_bytes=GIB, total_bytes=12 * GIB
    )
    return Gpus((card,), None)


@dataclass
class Parts:
    """Bridges of one window.

    Attributes:
        home: Where everything is kept.
        tasks: Ends with the test.
        gpus: What the driver tells.
    """

    home: Home
    tasks: Tasks
    gpus: Gpus = field(default_factory=Gpus)

    def __post_init__(self) -> None:
        self.settings = Settings(self.home)
        self.trainers = Trainers(self.home, self.settings, self.tasks)
        self.hardware = Hardware(self.gpus, seconds=0.05)  # type: ignore[arg-type]
        self.runs = RunList(self.home, milliseconds=50)
        self.recents = Recents(self.home)

    def start(self, qtbot: QtBot) -> None:
        """Let everything look, and wait until it has."""
        for part in (self.trainers, self.hardware, self.runs):
            part.start()
        qtbot.waitUntil(
            lambda: self.trainers.looked and self.hardware.known and self.runs.known, timeout=30_000
        )

    def close(self) -> None:
        for part in (self.trainers, self.hardware, self.runs):
            part.close()


def fake_machine(tmp_path: Path) -> Path:
    """Return the folder in which a test's trainers are found."""
    place = tmp_path / "machine"
    place.mkdir()
    return place
