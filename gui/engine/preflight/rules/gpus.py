"""Rules about GPUs: whether the trainer's torch can use them, what else is on them, and how many.

Source: ENV-03, ENV-08, ENV-17, OOM-08, OOM-12, SLOW-08, T15.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gui.engine.findings import Finding, Fix
from gui.engine.preflight.facts import GpuFact, TrainerFact
from gui.engine.preflight.limits import machine_limits, version_of
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.rules.precision import computes_in
from gui.engine.preflight.rules.trainers import practises, real_trainer
from gui.engine.preflight.surroundings import HolderFact
from gui.engine.preflight.view import View
from gui.engine.texts import _

NO_KERNEL = "no kernel image"
"""How torch says that it was not compiled for a GPU."""

NAMED_HOLDERS = 4
"""So many programs are named; small ones are many."""

SMALL_GIB = 0.05


def check_cuda(view: View) -> Iterator[Finding]:
    """A torch that sees no GPU trains on the processor, for weeks (ENV-03)."""
    trainer = real_trainer(view)
    blind = _blindness(view, trainer) if trainer else None
    if trainer is None or blind is None:
        return
    refuses = computes_in(view) == "fp16"
    wasted = bool(view.facts.gpu)
    fix = write(
        {"mixed_precision": "bf16", "full_fp16": None},
        _("compute in bf16, on the processor"),
        identity="bf16",
    )
    yield Finding(
        id="cuda",
        severity="stop" if refuses else "danger" if wasted else "warning",
        title=blind,
        detail=(
            _("In fp16 the trainer stops with “fp16 mixed precision requires a GPU”.")
            if refuses
            else _("The training would run on the processor: hours a step, weeks for a LoRA.")
        )
        + (" " + _remedy(trainer) if wasted else ""),
        arguments=("mixed_precision", "plan.trainer"),
        where="mixed_precision" if refuses else None,
        fixes=(fix,) if refuses else (),
        sources=("ENV-03", "trainer: train_util.py:5496"),
    )


def _blindness(view: View, trainer: TrainerFact) -> str | None:
    """Say why torch has no GPU to compute on; None when it has one, or that is not known."""
    if view.facts.os == "macos" or trainer.backend in ("cuda", "rocm", "xpu", "mps"):
        return None
    if trainer.cuda_build == "":
        return _("The trainer’s PyTorch {version} is a build without GPU support.").format(
            version=trainer.torch
        )
    if trainer.backend == "cpu":
        return _("The trainer’s PyTorch {version} sees no GPU.").format(version=trainer.torch or "")
    return None


def _remedy(trainer: TrainerFact) -> str:
    if trainer.cuda_build == "":
        return _(
            "This machine has an NVIDIA GPU: install the CUDA build of PyTorch into the trainer’s "
            "environment."
        )
    return _(
        "This machine has an NVIDIA GPU: its driver may be too old for CUDA {cuda}. Update the driver, or "
        "install a PyTorch for an older CUDA."
    ).format(cuda=trainer.cuda_build or "?")


def check_arch(view: View) -> Iterator[Finding]:
    """Torch must be compiled for the GPU, or nothing runs on it (ENV-08)."""
    trainer = real_trainer(view)
    if trainer is None or trainer.cuda_build == "":
        return
    for gpu in view.gpus:
        needed = _cuda_needed(trainer, gpu)
        if needed is None:
            continue
        yield Finding(
            id="arch",
            severity="stop",
            title=_("The trainer’s PyTorch {version} was not built for {gpu}.").format(
                version=trainer.torch or "", gpu=gpu.name or _("this GPU")
            ),
            detail=_(
                "The first calculation ends with “no kernel image is available for execution on the device”. "
                "Install a PyTorch that was built for it into the trainer’s environment."
            )
            + (" " + _("It is one for CUDA {cuda} or newer.").format(cuda=needed) if needed else ""),
            arguments=("launch.gpu_ids", "plan.trainer"),
            where=f"gpu.{gpu.index}",
            fixes=_other_gpu(view, lambda other: _cuda_needed(trainer, other) is None),
            sources=("ENV-08",),
        )


def _cuda_needed(trainer: TrainerFact, gpu: GpuFact) -> str | None:
    """Return the CUDA version that a GPU needs, empty where only torch knows; None when all is well."""
    capability = gpu.capability
    newest = next(
        (
            each.cuda
            for each in machine_limits().architectures
            if capability and capability >= (version_of(each.capability) or ())
        ),
        "",
    )
    told = next((each for each in trainer.gpu if each.uuid and each.uuid == gpu.uuid), None)
    if told is not None and told.usable is not None:
        return newest if NO_KERNEL in (told.problem or "") else None
    if trainer.arch_list and capability:
        return None if _is_compiled_for(trainer.arch_list, capability) else newest
    built = version_of(trainer.cuda_build)
    return newest if newest and built and built < (version_of(newest) or ()) else None


def _is_compiled_for(architectures: tuple[str, ...], capability: tuple[int, int]) -> bool:
    """Whether code runs: of the same generation and not newer, or as text that the driver compiles."""
    for name in architectures:
        kind, _line, digits = name.partition("_")
        digits = digits.rstrip("af")
        if not digits.isdecimal() or len(digits) < 2:
            return True  # another maker's, or a name that is not known
        made = (int(digits[:-1]), int(digits[-1]))
        if made <= capability and (kind == "compute" or made[0] == capability[0]):
            return True
    return False


def check_cuda_hw(view: View) -> Iterator[Finding]:
    """A GPU that is lost, or on which torch could not even multiply, will not train (ENV-17)."""
    yield from () if practises(view) else _lost(view)
    trainer = real_trainer(view)
    used = {gpu.uuid for gpu in view.gpus}
    for gpu in trainer.gpu if trainer else ():
        if gpu.usable is not False or NO_KERNEL in (gpu.problem or ""):
            continue
        if gpu.uuid and used and gpu.uuid not in used:
            continue
        yield Finding(
            id="cuda-hw",
            severity="danger",
            title=_("A small calculation on {gpu} failed.").format(gpu=gpu.name or _("this GPU")),
            detail=_(
                "PyTorch said: {problem}. Restart the machine, take back any overclocking and update the "
                "driver; then ask the trainer again on the page of trainers, or by: trainer probe --refresh."
            ).format(problem=gpu.problem or _("the result was wrong")),
            arguments=("launch.gpu_ids",),
            where=gpu.uuid or gpu.name,
            sources=("ENV-17",),
        )


def _lost(view: View) -> Iterator[Finding]:
    for gpu in view.gpus:
        if gpu.lost:
            yield Finding(
                id="cuda-hw",
                severity="stop",
                title=_("{gpu} no longer answers.").format(gpu=gpu.name or _("the GPU")),
                detail=_(
                    "Restart the machine, and look at its power supply, cooling and driver when it happens "
                    "again."
                ),
                arguments=("launch.gpu_ids",),
                where=f"gpu.{gpu.index}",
                fixes=_other_gpu(view, lambda other: True),
                sources=("ENV-17",),
            )


def check_oom_free(view: View) -> Iterator[Finding]:
    """GPU memory that others hold is missing for the training (T15, OOM-12)."""
    most = machine_limits().gpu.idle_use_gib
    for gpu in () if practises(view) else view.gpus:
        used = gpu.used_gib
        if used is None or used < most:
            continue
        yield Finding(
            id="oom-free",
            severity="warning",
            title=_("{used:.1f} of {total:.0f} GiB of {gpu} are in use already.").format(
                used=used, total=gpu.vram_gib or 0, gpu=gpu.name or _("the GPU")
            ),
            detail=_holders(gpu.holder)
            + _("Below {most:.0f} GiB is usual when nothing runs. Close what is not needed.").format(
                most=most
            ),
            arguments=("launch.gpu_ids",),
            where=f"gpu.{gpu.index}",
            fixes=_other_gpu(view, lambda other: other.used_gib is not None and other.used_gib < most),
            sources=("T15", "OOM-08", "OOM-12"),
        )


def _holders(holders: tuple[HolderFact, ...] | None) -> str:
    """Name who holds the memory, the largest first."""
    named = [each for each in holders or () if each.gib is None or each.gib >= SMALL_GIB][:NAMED_HOLDERS]
    return _("Held by {who}. ").format(who=", ".join(map(_holder, named))) if named else ""


def _holder(holder: HolderFact) -> str:
    who = holder.name or _("a program that is not told")
    if holder.run:
        who = _("the run {run}").format(run=holder.run)
    size = "" if holder.gib is None else f"{holder.gib:.1f} GiB, "
    return _("{who} ({size}process {pid})").format(who=who, size=size, pid=holder.pid)


def _other_gpu(view: View, fits: Callable[[GpuFact], bool]) -> tuple[Fix, ...]:
    """Offer another GPU that fits, where the plan uses one."""
    used = {gpu.index for gpu in view.gpus}
    if len(used) != 1:
        return ()
    others = [gpu for gpu in view.facts.gpu or () if gpu.index not in used and not gpu.lost and fits(gpu)]
    best = max(others, key=lambda gpu: gpu.free_gib or 0.0, default=None)
    if best is None:
        return ()
    label = _("use GPU {index}, {gpu}").format(index=best.index, gpu=best.name)
    return (write({"launch.gpu_ids": [best.index]}, label, identity="other-gpu"),)


def check_multigpu(view: View) -> Iterator[Finding]:
    """Two consumer cards are often slower than one, and Windows has no fast way between them (SLOW-08)."""
    count = view.plan.launch.num_processes
    if count < 2 or practises(view):
        return
    gpus = [gpu for gpu in view.gpus if _is_consumer(gpu)]
    windows = view.facts.os == "windows"
    if not gpus and not windows:
        return
    yield Finding(
        id="multigpu",
        severity="warning",
        title=_("{count} processes are often slower than one here.").format(count=count),
        detail=(
            _("On Windows the GPUs talk to each other through the processor (gloo).")
            if windows
            else _(
                "{gpu} and the like talk to each other by the slow way; up to 15 times slower was seen."
            ).format(gpu=gpus[0].name)
        ),
        arguments=("launch.num_processes",),
        fixes=(write({"launch.num_processes": 1}, _("train on one GPU"), identity="one"),),
        sources=("SLOW-08",),
    )


def _is_consumer(gpu: GpuFact) -> bool:
    return any(part.lower() in gpu.name.lower() for part in machine_limits().gpu.consumer)


RULES: tuple[Rule, ...] = (
    Rule("cuda", check_cuda, ("ENV-03",), lambda: _("The trainer computes on a GPU")),
    Rule("arch", check_arch, ("ENV-08",), lambda: _("PyTorch was built for the GPU")),
    Rule("cuda-hw", check_cuda_hw, ("ENV-17",), lambda: _("The GPU computes")),
    Rule("oom-free", check_oom_free, ("T15", "OOM-08"), lambda: _("Nothing else fills the GPU")),
    Rule("multigpu", check_multigpu, ("SLOW-08",), lambda: _("Several GPUs for one training")),
)
