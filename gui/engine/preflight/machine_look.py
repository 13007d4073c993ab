"""Looks at the machine for preflight: who holds its GPUs, how it is powered, the user's accelerate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gui.engine.hardware.gpu import GpuMonitor
from gui.engine.hardware.holders import program_name
from gui.engine.hardware.host import HostMonitor
from gui.engine.hardware.power import power_facts
from gui.engine.preflight.facts import GpuFact
from gui.engine.preflight.surroundings import AccelerateFact, HolderFact, PowerFact, RunFact
from gui.engine.quantities import GIB
from gui.engine.trainer.accelerate_config import accelerate_config
from gui.engine.trainer.facts import AccelerateConfig


def host_facts(host: HostMonitor) -> dict[str, object]:
    """Return the facts about system and memory, by their names in ``Facts``."""
    system, now = host.facts(), host.sample()
    return {
        "os": system.os,
        "ram_gib": system.ram_bytes / GIB,
        "ram_available_gib": now.ram_available_bytes / GIB,
        "commit_limit_gib": _gib(system.commit_limit_bytes),
        "commit_available_gib": _gib(now.commit_available_bytes),
        "power": PowerFact.model_validate(power_facts().model_dump()),
        "accelerate": accelerate_fact(accelerate_config()),
    }


def gpu_facts(gpus: GpuMonitor, runs: Sequence[RunFact]) -> Iterator[GpuFact]:
    """Look at the GPUs.

    Args:
        gpus: Asks the driver.
        runs: Runs of this program, to tell their processes from others.
    """
    samples = {sample.uuid: sample for sample in gpus.sample()}
    run_of = {pid: run.name for run in runs for pid in run.processes}
    for device in gpus.devices():
        sample = samples.get(device.uuid)
        yield GpuFact(
            name=device.name,
            vram_gib=_gib(device.total_bytes),
            free_gib=_gib(sample.free_bytes) if sample else None,
            compute_capability=device.compute_capability,
            driver=gpus.driver,
            index=device.index,
            uuid=device.uuid,
            holder=_holders(sample.processes, run_of) if sample else None,
            lost=sample.lost if sample else False,
        )


def _holders(
    processes: Mapping[int, int | None] | None, run_of: Mapping[int, str]
) -> tuple[HolderFact, ...] | None:
    if processes is None:
        return None
    found = [
        HolderFact(pid=pid, name=program_name(pid), gib=_gib(held), run=run_of.get(pid))
        for pid, held in processes.items()
    ]
    return tuple(sorted(found, key=lambda holder: (-(holder.gib or 0.0), holder.pid)))


def accelerate_fact(config: AccelerateConfig | None) -> AccelerateFact | None:
    """Return what rules may know of a configuration of accelerate; its values may be of any type."""
    if config is None:
        return None
    values = config.values
    processes = values.get("num_processes")
    return AccelerateFact(
        path=config.path,
        num_processes=processes if isinstance(processes, int) and not isinstance(processes, bool) else None,
        mixed_precision=_text(values.get("mixed_precision")),
        gpu_ids=_text(values.get("gpu_ids")),
        distributed_type=_text(values.get("distributed_type")),
        use_cpu=values.get("use_cpu") is True,
        problem=config.problem,
    )


def _text(value: object) -> str | None:
    if value is False:
        return "no"  # YAML reads an unquoted no as false
    return None if value is None or value is True or isinstance(value, (dict, list)) else str(value)


def _gib(size: int | None) -> float | None:
    return None if size is None else size / GIB
