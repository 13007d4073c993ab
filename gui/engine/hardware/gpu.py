"""What the NVIDIA GPUs of this machine are and do now."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from gui.engine.documents import Document
from gui.engine.hardware.nvml import GpuLost, Nvml
from gui.engine.hardware.process_counters import ProcessCounters, ProcessUse, same_place
from gui.engine.hardware.system_counters import system_counters
from gui.engine.texts import _

RETRY_SECONDS = 30.0
"""How long a driver that failed is left alone."""

FIRST_RETRY_SECONDS = 1.0
"""The same when it had answered just before: a load that passes must not hide the peak of a phase."""

ThrottleReason = Literal[
    "clock-setting",
    "power-cap",
    "hardware-slowdown",
    "sync-boost",
    "heat",
    "heat-hardware",
    "power-brake",
    "display-clock",
]

_THROTTLE_BITS: tuple[tuple[int, ThrottleReason], ...] = (
    (0x002, "clock-setting"),
    (0x004, "power-cap"),
    (0x008, "hardware-slowdown"),
    (0x010, "sync-boost"),
    (0x020, "heat"),
    (0x040, "heat-hardware"),
    (0x080, "power-brake"),
    (0x100, "display-clock"),
)
"""``nvmlClocksEventReason…``; bit 1 only says that the GPU is idle."""

_DRIVER_MODELS = {0: "WDDM", 1: "TCC", 2: "MCDM"}


class GpuDevice(Document):
    """A GPU, or an instance (MIG) of one: what does not change while the machine is up.

    Attributes:
        index: In NVML's order, which is that of the PCI bus; instances have that of their GPU.
        uuid: Its lasting name, as ``CUDA_VISIBLE_DEVICES`` takes it.
        name: The model.
        total_bytes: Its memory.
        pci_bus_id: ``00000000:01:00.0``.
        compute_capability: ``8.6``.
        power_limit_w: What it may draw, watts.
        driver_model: On Windows: under WDDM the memory of single processes is not told.
        instance: Number of the MIG instance, None for a whole GPU.
    """

    index: int
    uuid: str
    name: str = ""
    total_bytes: int | None = None
    pci_bus_id: str | None = None
    compute_capability: str | None = None
    power_limit_w: float | None = None
    driver_model: str | None = None
    instance: int | None = None


class GpuSample(Document):
    """One look at a GPU; None is what the driver does not tell.

    Attributes:
        index: As in ``GpuDevice``.
        uuid: As there.
        name: As there.
        used_bytes: Of all processes; without ``reserved_bytes`` where the driver tells them apart.
        free_bytes: What can still be had.
        total_bytes: Its memory.
        reserved_bytes: What the driver keeps for itself.
        processes: Pid to bytes, None for a process whose bytes are not told; None: no list at all.
        utilisation_percent: Share of the last moment in which something was computed.
        temperature_c: Degrees Celsius.
        power_w: Watts.
        power_limit_w: Watts that it may draw now.
        throttle: What slows it down now; empty when nothing does.
        lost: It no longer answers and will not until a reset.
        refused: This user may not know some of it: in a container, say, what each process holds.
        shared: Pid to bytes of the machine's RAM that the GPU uses for it; None where not told (all but
            Windows).
    """

    index: int
    uuid: str
    name: str = ""
    used_bytes: int | None = None
    free_bytes: int | None = None
    total_bytes: int | None = None
    reserved_bytes: int | None = None
    processes: dict[int, int | None] | None = None
    utilisation_percent: float | None = None
    temperature_c: float | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    throttle: tuple[ThrottleReason, ...] | None = None
    lost: bool = False
    refused: bool = False
    shared: dict[int, int] | None = None

    def shared_bytes(self, pids: Iterable[int]) -> int | None:
        """Return how much RAM the GPU uses for these processes; None where not told."""
        return None if self.shared is None else sum(self.shared.get(pid, 0) for pid in set(pids))

    def process_bytes(self, pids: Iterable[int]) -> int | None:
        """Return what these processes hold here; None when the driver does not tell.

        None too when it lists none of them: inside a container it often knows them by other numbers.
        """
        wanted = set(pids)
        held = [value for pid, value in (self.processes or {}).items() if pid in wanted]
        known = [value for value in held if value is not None]
        return sum(known) if known and len(known) == len(held) else None

    def sentence(self) -> str | None:
        """Return what to do about a lost GPU; None otherwise."""
        if not self.lost:
            return None
        return _(
            "GPU {index} ({name}) no longer answers. Its training is lost; restart the machine, and look "
            "at its power supply, cooling and driver when it happens again."
        ).format(index=self.index, name=self.name or self.uuid)


def machine_gpus() -> GpuMonitor:
    """Return what looks at the GPUs of this machine, with the system's counters where NVML tells less."""
    return GpuMonitor(counters=system_counters())


@dataclass
class _Watched:
    """A device and how to ask about it: an instance tells its memory, its GPU the rest."""

    device: GpuDevice
    handle: Any
    whole: Any
    lost: bool = field(default=False)


class GpuMonitor:
    """Looks at the GPUs through NVML. Never raises; connects at the first question.

    A driver that fails is asked again after a while. A call may hang inside a broken driver, so ask
    from a thread that nothing waits for (``hardware.sampler``).

    Args:
        nvml: The connection.
        clock: Monotonic seconds.
        counters: Tells what each process holds where NVML does not, as on Windows; None: nobody does.
    """

    def __init__(
        self,
        nvml: Nvml | None = None,
        clock: Callable[[], float] = time.monotonic,
        counters: ProcessCounters | None = None,
    ) -> None:
        self._nvml = nvml or Nvml()
        self._clock = clock
        self._counters = counters
        self._uses: Sequence[ProcessUse] = ()
        self._answered = False
        self._watched: list[_Watched] = []
        self._known: dict[int, GpuDevice] = {}
        self._connected = False
        self._retry_at = 0.0
        self._problem: str | None = None
        self._failed = False

    @property
    def problem(self) -> str | None:
        """Why no GPU is seen, one sentence; None when there are some."""
        self._connect()
        return self._problem

    @property
    def driver(self) -> str | None:
        """Version of the driver."""
        return _text(self._ask("nvmlSystemGetDriverVersion"))

    @property
    def cuda(self) -> str | None:
        """The newest CUDA version that the driver serves, ``12.4``."""
        version = self._ask("nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion")
        return f"{version // 1000}.{version % 1000 // 10}" if version else None

    def devices(self) -> tuple[GpuDevice, ...]:
        """Return the GPUs in the order of the PCI bus; instances in place of a divided one."""
        self._connect()
        return tuple(watched.device for watched in self._watched)

    def sample(self, *, thorough: bool = True) -> tuple[GpuSample, ...]:
        """Look at all GPUs; empty when none is seen.

        Args:
            thorough: Ask for all; else only for memory, which is cheap enough for ten times a second.
        """
        self._connect()
        self._failed = False
        if thorough and self._watched and self._counters is not None:
            self._uses = self._counters.read()
        samples = tuple(self._sample(watched, thorough=thorough) for watched in self._watched)
        if self._failed:
            self._leave(_("the NVIDIA driver stopped answering"))
        elif samples:
            self._answered = True
        return samples

    def close(self) -> None:
        """Let go of the library."""
        if self._connected:
            self._nvml.close()
        self._connected, self._watched = False, []

    def _connect(self) -> None:
        if self._connected or self._clock() < self._retry_at:
            return
        reason = self._nvml.open()
        if reason is not None:
            self._leave(reason)
            return
        self._connected = True
        self._watched = list(self._find())
        if self._watched:
            self._problem = None
        else:
            self._leave(_("the NVIDIA driver finds none"))

    def _leave(self, reason: str) -> None:
        self.close()
        self._problem = _("no NVIDIA GPU seen: {reason}").format(reason=reason)
        self._retry_at = self._clock() + (FIRST_RETRY_SECONDS if self._answered else RETRY_SECONDS)
        self._answered = False

    def _find(self) -> Iterable[_Watched]:
        for index in range(self._ask("nvmlDeviceGetCount") or 0):
            try:
                whole = self._nvml.ask("nvmlDeviceGetHandleByIndex", to=(index,))
                if whole is None:
                    continue
                found = [self._describe(index, whole, *each) for each in self._instances(whole)]
            except GpuLost:
                device = self._known.get(index, GpuDevice(index=index, uuid=f"GPU-{index}"))
                found = [_Watched(device, None, None, lost=True)]
            self._known[index] = found[0].device
            yield from found

    def _instances(self, whole: Any) -> list[tuple[Any, int | None]]:
        """Return the handles to ask for memory: those of the instances of a divided GPU, else its own."""
        mode = self._nvml.ask("nvmlDeviceGetMigMode", to=(whole,))
        if not mode or not mode[0]:
            return [(whole, None)]
        count = self._nvml.ask("nvmlDeviceGetMaxMigDeviceCount", to=(whole,)) or 0
        handles = [
            (self._nvml.ask("nvmlDeviceGetMigDeviceHandleByIndex", to=(whole, number)), number)
            for number in range(count)
        ]
        return [each for each in handles if each[0] is not None] or [(whole, None)]

    def _describe(self, index: int, whole: Any, handle: Any, instance: int | None) -> _Watched:
        ask = self._nvml.ask
        capability = ask("nvmlDeviceGetCudaComputeCapability", to=(whole,))
        pci = ask("nvmlDeviceGetPciInfo", to=(whole,))
        model = ask("nvmlDeviceGetDriverModel", "nvmlDeviceGetDriverModel_v1", to=(whole,))
        memory = self._memory(handle)
        device = GpuDevice(
            index=index,
            uuid=_text(ask("nvmlDeviceGetUUID", to=(handle,))) or f"GPU-{index}",
            name=_text(ask("nvmlDeviceGetName", to=(handle,))) or "",
            total_bytes=memory.get("total_bytes"),
            pci_bus_id=_text(pci.busId) if pci else None,
            compute_capability="{}.{}".format(*capability) if capability else None,
            power_limit_w=_watts(ask("nvmlDeviceGetEnforcedPowerLimit", to=(whole,))),
            driver_model=_DRIVER_MODELS.get(model[0]) if model else None,
            instance=instance,
        )
        return _Watched(device, handle, whole)

    def _sample(self, watched: _Watched, *, thorough: bool) -> GpuSample:
        device = watched.device
        about: dict[str, Any] = {"index": device.index, "uuid": device.uuid, "name": device.name}
        self._nvml.refused = False
        if not watched.lost:
            try:
                told = {**self._memory(watched.handle), **self._held(watched)}
                told |= self._doings(watched) if thorough else {}
                return GpuSample(**about, **told, refused=self._nvml.refused)
            except GpuLost:
                watched.lost = True
        return GpuSample(**about, total_bytes=device.total_bytes, lost=True)

    def _memory(self, handle: Any) -> dict[str, int]:
        self._nvml.sick = False
        version = self._nvml.constant("nvmlMemory_v2")
        memory = self._nvml.ask("nvmlDeviceGetMemoryInfo", to=(handle, version)) if version else None
        if memory is None:
            memory = self._nvml.ask("nvmlDeviceGetMemoryInfo", to=(handle,))
        if memory is None:
            # Only this question decides: on some machines others fail for good in the same words.
            self._failed = self._failed or self._nvml.sick
            return {}
        told = {"used_bytes": memory.used, "free_bytes": memory.free, "total_bytes": memory.total}
        reserved = getattr(memory, "reserved", None)
        return told if reserved is None else {**told, "reserved_bytes": reserved}

    def _doings(self, watched: _Watched) -> dict[str, Any]:
        ask, whole = self._nvml.ask, (watched.whole,)
        utilisation = ask("nvmlDeviceGetUtilizationRates", to=whole)
        sensor = self._nvml.constant("NVML_TEMPERATURE_GPU")
        bits = ask(
            "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons", to=whole
        )
        return {
            "utilisation_percent": utilisation.gpu if utilisation else None,
            "temperature_c": ask(
                "nvmlDeviceGetTemperature", "nvmlDeviceGetTemperatureV", to=(watched.whole, sensor)
            ),
            "power_w": _watts(ask("nvmlDeviceGetPowerUsage", to=whole)),
            "power_limit_w": _watts(ask("nvmlDeviceGetEnforcedPowerLimit", to=whole)),
            "throttle": None if bits is None else tuple(word for bit, word in _THROTTLE_BITS if bits & bit),
        }

    def _held(self, watched: _Watched) -> dict[str, Any]:
        """Return what each process holds here: as NVML tells it, else as the system does."""
        processes = self._processes(watched.handle)
        if self._counters is None:
            return {"processes": processes}
        mine = [use for use in self._uses if self._is_of(use, watched.device)]
        counted = {use.pid: use.dedicated_bytes for use in mine}
        known = {pid: counted.get(pid) if told is None else told for pid, told in (processes or {}).items()}
        return {"processes": counted | known, "shared": {use.pid: use.shared_bytes for use in mine}}

    def _is_of(self, use: ProcessUse, device: GpuDevice) -> bool:
        """Whether memory is of a device; where the adapter cannot be told, of the only one that there is."""
        if use.pci_bus_id is None or device.pci_bus_id is None:
            return len(self._watched) == 1
        return same_place(use.pci_bus_id, device.pci_bus_id)

    def _processes(self, handle: Any) -> dict[int, int | None] | None:
        """Merge both lists: a process that also draws is in both, with the same bytes."""
        told: dict[int, int | None] = {}
        lists = [
            self._nvml.ask(*(f"nvmlDeviceGet{kind}RunningProcesses_v{n}" for n in (3, 2)), to=(handle,))
            for kind in ("Compute", "Graphics")
        ]
        for process in (each for one in lists if one for each in one):
            told[process.pid] = max(told.get(process.pid) or 0, process.usedGpuMemory or 0) or None
        return None if all(one is None for one in lists) else told

    def _ask(self, *names: str) -> Any:
        self._connect()
        try:
            return self._nvml.ask(*names)
        except GpuLost:
            return None


def _text(value: Any) -> str | None:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _watts(milliwatts: int | None) -> float | None:
    return None if milliwatts is None else milliwatts / 1000
