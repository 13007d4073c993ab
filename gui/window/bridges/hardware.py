"""The GPUs and the machine, looked at once a second in a thread that nothing waits for."""

from __future__ import annotations

import time
from typing import NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal

from gui.engine.hardware.gpu import GpuDevice, GpuMonitor, GpuSample, machine_gpus
from gui.engine.hardware.host import HostMonitor, HostSample
from gui.engine.hardware.sampler import Sampler
from gui.engine.texts import _

LOOK_SECONDS = 1.0
STALE_SECONDS = 15.0
"""A look that takes longer hangs in the driver."""


class _Look(NamedTuple):
    devices: tuple[GpuDevice, ...]
    gpus: tuple[GpuSample, ...]
    problem: str
    driver: str | None
    host: HostSample | None


class Hardware(QObject):
    """What the hardware does now.

    Args:
        monitor: Looks at the GPUs.
        host: Looks at the rest.
        seconds: Between two looks.
    """

    sampled = Signal()
    """There is a newer look."""

    def __init__(
        self,
        monitor: GpuMonitor | None = None,
        host: HostMonitor | None = None,
        seconds: float = LOOK_SECONDS,
    ) -> None:
        super().__init__()
        self._monitor = monitor or machine_gpus()
        self._machine = host or HostMonitor()
        self._look: _Look | None = None
        self._stale = False
        self._begun = 0.0
        self._sampler = Sampler(self._take, seconds)
        self._timer = QTimer(self)
        self._timer.setInterval(round(seconds * 500))
        self._timer.timeout.connect(self._fetch)

    @property
    def known(self) -> bool:
        """Whether there was a look yet, or the first one hangs."""
        return self._look is not None or self._stale

    @property
    def gpus(self) -> tuple[GpuSample, ...]:
        """The GPUs as last seen."""
        return self._look.gpus if self._look else ()

    @property
    def devices(self) -> tuple[GpuDevice, ...]:
        """What does not change about them."""
        return self._look.devices if self._look else ()

    @property
    def problem(self) -> str:
        """Why there are none, or why what is shown is old; empty when all is well."""
        if self._stale:
            return _("The GPU driver does not answer.")
        return self._look.problem if self._look else ""

    @property
    def driver(self) -> str | None:
        """The driver's version."""
        return self._look.driver if self._look else None

    @property
    def host(self) -> HostSample | None:
        """RAM and processor as last seen."""
        return self._look.host if self._look else None

    def start(self) -> None:
        """Begin to look."""
        self._begun = time.monotonic()
        self._sampler.start()
        self._timer.start()

    def close(self) -> None:
        """Look no more."""
        self._timer.stop()
        self._sampler.stop()

    def _take(self) -> _Look:
        """Look, in the sampler's thread."""
        devices = self._monitor.devices()
        gpus = self._monitor.sample()
        problem = "" if gpus else (self._monitor.problem or "")
        return _Look(tuple(devices), tuple(gpus), problem, self._monitor.driver, self._machine.sample())

    def _fetch(self) -> None:
        newest = self._sampler.newest()
        age = self._sampler.age_seconds()
        # The very first look can hang too.
        stale = (time.monotonic() - self._begun if age is None else age) > STALE_SECONDS
        if newest is not self._look or stale != self._stale:
            self._look, self._stale = newest, stale
            self.sampled.emit()
