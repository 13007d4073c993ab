"""Rules about the machine without its GPUs: RAM, page file, loader workers, power, accelerate's settings.

Source: RAM-01 to RAM-06, SLOW-03, T17, ENV-14, ENV-15.
"""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding, Severity
from gui.engine.plan.families import Family
from gui.engine.plan.model_sizes import model_size
from gui.engine.preflight.limits import machine_limits
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.rules.models import MODEL
from gui.engine.preflight.rules.trainers import practises
from gui.engine.preflight.view import View
from gui.engine.quantities import GIB
from gui.engine.texts import _, ngettext

FP8 = "F8_"
PLAIN = frozenset({None, "NO", "MULTI_GPU", "no"})
"""Ways to spread a training that this program can start."""


def ram_needed_gib(view: View) -> float | None:
    """Return the RAM that the plan's models need while they are loaded, GiB; None when not known.

    Files in 8 bits take a byte less for each number than is counted.
    """
    if view.kin is None or practises(view):
        return None
    kin: Family | None = view.kin
    while kin is not None and kin.name not in machine_limits().ram.gib:
        kin = view.families.get(kin.extends or "")
    if kin is None:
        return None
    needed = machine_limits().ram.gib[kin.name]
    size, base = model_size(view.kin.name), view.model(MODEL)
    if size is not None and base is not None and (base.dtype or "").startswith(FP8):
        needed -= size.model / GIB
    return needed


def check_ram(view: View) -> Iterator[Finding]:
    """Too little RAM ends a training without a word while it loads its models (RAM-01, RAM-04)."""
    limits, needed, has = machine_limits().ram, ram_needed_gib(view), view.facts.ram_gib
    if needed is None or (has is None and needed < limits.unusual_gib):
        return
    if has is not None and has >= needed * limits.tolerance:
        yield from _crowded(view, needed)
        return
    severity: Severity = "danger" if has is not None and has < needed * limits.hopeless else "warning"
    yield Finding(
        id="ram",
        severity=severity,
        title=(
            _("Loading the models needs about {needed:.0f} GiB of RAM.")
            if has is None
            else _("Loading the models needs about {needed:.0f} GiB of RAM; this machine has {has:.0f}.")
        ).format(needed=needed, has=has or 0),
        detail=_(
            "When it runs out, the trainer is ended without an error, or crashes with 3221225477 on Windows. "
            "Files in fp8 need half as much; a larger page file or swap helps, and makes it slow."
        ),
        arguments=(MODEL,),
        sources=("RAM-01", "RAM-02", "RAM-04"),
    )


def _crowded(view: View, needed: float) -> Iterator[Finding]:
    """Say when other programs hold the RAM that is needed."""
    available = view.facts.ram_available_gib
    if available is None or available >= needed * machine_limits().ram.tolerance:
        return
    yield Finding(
        id="ram",
        severity="hint",
        title=_("Loading the models needs about {needed:.0f} GiB of RAM; {free:.0f} are free now.").format(
            needed=needed, free=available
        ),
        detail=_("Close other programs, browsers above all, before it starts."),
        arguments=(MODEL,),
        sources=("RAM-01",),
    )


def check_pagefile(view: View) -> Iterator[Finding]:
    """Windows gives out no more memory than RAM and page file together (RAM-06, OOM-08)."""
    limits, needed = machine_limits().ram, ram_needed_gib(view)
    limit, free = view.facts.commit_limit_gib, view.facts.commit_available_gib
    if view.facts.os != "windows" or needed is None or limit is None:
        return
    short = limit < needed * limits.commit
    if not short and (free is None or free >= needed):
        return
    yield Finding(
        id="pagefile",
        severity="danger" if limit < needed else "warning",
        title=(
            _("RAM and page file give {limit:.0f} GiB together; about {wanted:.0f} are needed.")
            if short
            else _("Of RAM and page file {free:.0f} GiB are still given out; about {needed:.0f} are needed.")
        ).format(limit=limit, wanted=needed * limits.commit, free=free or 0, needed=needed),
        detail=_(
            "The trainer ends with “The paging file is too small” (1455), with 3221225477, or as if the GPU "
            "were full. Enlarge it: Settings, System, About, Advanced system settings, Performance, "
            "Advanced, Virtual memory; set an initial size of {size:.0f} MB on a fast disk, and restart."
        ).format(size=max(1.0, needed * limits.commit - (view.facts.ram_gib or 0)) * 1024),
        arguments=(MODEL,),
        sources=("RAM-01", "RAM-06", "OOM-08"),
    )


def check_workers(view: View) -> Iterator[Finding]:
    """Loader workers are whole processes on Windows, and many of them help nowhere (SLOW-03, T17)."""
    limits, name = machine_limits().workers, "max_data_loader_n_workers"
    workers, windows = view.number(name), view.facts.os == "windows"
    if workers is None or not view.knows(name) or practises(view):
        return
    if workers <= limits.windows or not (windows or (view.given(name) and workers >= limits.most)):
        return
    yield Finding(
        id="workers-win",
        severity="warning" if windows else "hint",
        title=_("{count:.0f} loader workers are many.").format(count=workers),
        detail=(
            _(
                "On Windows each is a whole process with a copy of the program, started anew at each epoch. "
                "Two that stay are as fast."
            )
            if windows
            else _("Two to four are as fast; eight and more take RAM and time.")
        ),
        arguments=(name, "persistent_data_loader_workers"),
        fixes=(
            write(
                {name: limits.advised, "persistent_data_loader_workers": True},
                _("use {count} workers that stay").format(count=limits.advised),
                safe=True,
            ),
        ),
        sources=("SLOW-03", "T17", "trainer: train_util.py:3960"),
    )


def check_few_workers(view: View) -> Iterator[Finding]:
    """With no or one loader the GPU waits for images that are read at each step (T17)."""
    limits, name = machine_limits().workers, "max_data_loader_n_workers"
    workers = view.number(name)
    in_ram = view.flag("cache_latents") and not view.flag("cache_latents_to_disk")
    if workers is None or workers >= limits.least or in_ram or not view.knows(name) or practises(view):
        return
    yield Finding(
        id="workers-few",
        severity="hint",
        title=_("{count:.0f} loader workers are few where images are read at each step.").format(
            count=workers
        ),
        detail=_("The GPU waits while an image is read and cropped. Two to four keep it busy."),
        arguments=(name, "persistent_data_loader_workers"),
        fixes=(
            write(
                {name: limits.advised, "persistent_data_loader_workers": True},
                _("use {count} workers that stay").format(count=limits.advised),
            ),
        ),
        sources=("T17",),
    )


def check_accel(view: View) -> Iterator[Finding]:
    """The user's own configuration of accelerate is not used: foreign ones end runs (ENV-14, ENV-15)."""
    own = view.facts.accelerate
    if own is None or own.problem or practises(view):
        return
    count = view.plan.launch.num_processes
    other = own.num_processes is not None and own.num_processes != count
    spread = own.distributed_type not in PLAIN
    if not other and not spread and not own.use_cpu:
        return
    more = own.num_processes or 1
    gpus = len(view.facts.gpu or ())
    yield Finding(
        id="accel",
        severity="hint",
        title=_("Your settings of accelerate are not used: {settings}.").format(
            settings=", ".join(
                filter(
                    None,
                    (
                        ngettext("{count} process", "{count} processes", more).format(count=more)
                        if other
                        else "",
                        own.distributed_type if spread else "",
                        _("on the processor") if own.use_cpu else "",
                    ),
                )
            )
        ),
        detail=_("A run depends on its plan alone. The file is {path}.").format(path=own.path or "?"),
        arguments=("launch.num_processes",),
        fixes=(
            write(
                {"launch.num_processes": more},
                ngettext(
                    "start {count} process, as your settings say",
                    "start {count} processes, as your settings say",
                    more,
                ).format(count=more),
                identity="as-configured",
            ),
        )
        if other and 1 <= more <= gpus and not spread and not own.use_cpu
        else (),
        sources=("ENV-14", "ENV-15"),
    )


def check_power(view: View) -> Iterator[Finding]:
    """A machine that saves power trains slowly, and one without mains not for long."""
    power = view.facts.power
    if power.on_battery:
        yield Finding(
            id="power",
            severity="warning",
            title=_("This machine runs on its battery."),
            detail=_("The GPU is slowed down, and the training ends with the charge. Plug it in."),
            arguments=("launch.gpu_ids",),
            sources=("S7",),
        )
    elif power.plan == "saver":
        yield Finding(
            id="power",
            severity="hint",
            title=_("This machine is set to save power."),
            detail=_("Processor and GPU are slowed down. Choose “balanced” in its power settings."),
            arguments=("launch.gpu_ids",),
            sources=("S7",),
        )


def check_sleep(view: View) -> Iterator[Finding]:
    """A machine that falls asleep ends no training, but halts it."""
    minutes = view.facts.power.sleep_minutes
    if not minutes or practises(view):
        return
    yield Finding(
        id="sleep",
        severity="hint",
        title=_("This machine falls asleep after {minutes:.0f} minutes without use.").format(minutes=minutes),
        detail=_(
            "It is asked to stay awake while it trains. A closed lid or the power button puts it to sleep "
            "all the same."
        ),
        arguments=("launch.gpu_ids",),
        sources=("S7",),
    )


RULES: tuple[Rule, ...] = (
    Rule("ram", check_ram, ("RAM-01", "RAM-04"), lambda: _("RAM for loading the models")),
    Rule("pagefile", check_pagefile, ("RAM-06",), lambda: _("RAM and page file of Windows")),
    Rule("workers-win", check_workers, ("SLOW-03", "T17"), lambda: _("How many loader workers")),
    Rule("workers-few", check_few_workers, ("T17",), lambda: _("Too few loader workers")),
    Rule("accel", check_accel, ("ENV-14", "ENV-15"), lambda: _("Settings of accelerate elsewhere")),
    Rule("power", check_power, ("S7",), lambda: _("Mains and power settings")),
    Rule("sleep", check_sleep, ("S7",), lambda: _("A machine that falls asleep")),
)
