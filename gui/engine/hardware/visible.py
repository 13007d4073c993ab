"""Which GPUs a process sees: ``CUDA_VISIBLE_DEVICES`` against what NVML lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gui.engine.hardware.gpu import GpuDevice


def visible_devices(
    devices: Sequence[GpuDevice], environment: Mapping[str, str]
) -> tuple[GpuDevice, ...] | None:
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
    chosen: list[GpuDevice] = []
    for name in (part.strip() for part in names.split(",")):
        if name.lstrip("+-").isdigit() and not _order_is_known(devices, environment):
            return None
        device = _named(name, devices)
        if device is None or device in chosen:
            break
        chosen.append(device)
    return tuple(chosen)


def _order_is_known(devices: Sequence[GpuDevice], environment: Mapping[str, str]) -> bool:
    return environment.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID" or len({gpu.name for gpu in devices}) <= 1


def _named(name: str, devices: Sequence[GpuDevice]) -> GpuDevice | None:
    """Return the device of a number or of the beginning of a UUID; of a divided GPU its first instance."""
    if name.isdigit():
        return next((device for device in devices if device.index == int(name)), None)
    found = [device for device in devices if name and device.uuid.lower().startswith(name.lower())]
    return found[0] if len(found) == 1 else None
