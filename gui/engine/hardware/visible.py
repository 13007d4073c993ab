"""Which GPUs a process sees, and which a plan trains on, of those that NVML lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from gui.engine.plan.model import LaunchSettings

CHOOSING = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")
"""The variables by which CUDA chooses and counts GPUs."""


class _Gpu(Protocol):
    @property
    def index(self) -> int: ...

    @property
    def uuid(self) -> str | None: ...

    @property
    def name(self) -> str: ...


G = TypeVar("G", bound=_Gpu)


def training_gpus(gpus: Sequence[G], launch: LaunchSettings, inherited: Mapping[str, str]) -> tuple[G, ...]:
    """Return the GPUs that a plan trains on, one for each process, that of the first one first.

    Where only CUDA knows its order, that of NVML is taken for it.

    Args:
        gpus: All that NVML lists, in its order.
        launch: Of the plan.
        inherited: Variables that the trainer inherits.
    """
    seen: Sequence[G] | None
    if launch.gpu_ids:
        by_index = {gpu.index: gpu for gpu in reversed(gpus)}  # of a divided GPU the first instance
        seen = [by_index[index] for index in dict.fromkeys(launch.gpu_ids) if index in by_index]
    else:
        seen = visible_devices(gpus, {**inherited, **launch.env})
    return tuple(gpus if seen is None else seen)[: max(1, launch.num_processes)]


def lasting_names(gpus: Sequence[_Gpu]) -> list[str]:
    """Return by which name CUDA finds each GPU, by NVML's index: of a divided one its first instance.

    Args:
        gpus: All that NVML lists, in its order.
    """
    names = {gpu.index: gpu.uuid or str(gpu.index) for gpu in reversed(gpus)}
    return [names.get(index, str(index)) for index in range(max(names, default=-1) + 1)]


def visible_devices(devices: Sequence[G], environment: Mapping[str, str]) -> tuple[G, ...] | None:
    """Return the GPUs that CUDA shows to a process, in the order of its own numbers.

    As CUDA does it, the first name that fits no device ends the list. Numbers count GPUs by speed
    unless ``CUDA_DEVICE_ORDER`` says otherwise, which only CUDA itself can know.

    Args:
        devices: All that NVML lists, in its order.
        environment: Of the process.

    Returns:
        None where it cannot be told: several different GPUs, chosen by number in CUDA's own order.
    """
    names = environment.get("CUDA_VISIBLE_DEVICES")
    if names is None:
        return tuple(devices) if _order_is_known(devices, environment) else None
    chosen: list[G] = []
    for name in (part.strip() for part in names.split(",")):
        if name.lstrip("+-").isdigit() and not _order_is_known(devices, environment):
            return None
        device = _named(name, devices)
        if device is None or device in chosen:
            break
        chosen.append(device)
    return tuple(chosen)


def _order_is_known(devices: Sequence[G], environment: Mapping[str, str]) -> bool:
    return environment.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID" or len({gpu.name for gpu in devices}) <= 1


def _named(name: str, devices: Sequence[G]) -> G | None:
    """Return the device of a number or of the beginning of a UUID; of a divided GPU its first instance."""
    if name.isdigit():
        return next((device for device in devices if device.index == int(name)), None)
    found = [device for device in devices if name and (device.uuid or "").lower().startswith(name.lower())]
    return found[0] if len(found) == 1 else None
