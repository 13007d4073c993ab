"""Rules about GPU memory: what the forecast says against what the GPU has.

A plan is stopped only where what is certain (weights, adapter, gradients, states) is more than the whole
GPU has; settings that were reported to work are not refused because of an estimate. Source: OOM-01 to
OOM-14, SLOW-01 to SLOW-04.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from gui.engine.findings import Finding, Fix, Severity
from gui.engine.hardware.memory.advice import Advised
from gui.engine.hardware.memory.forecasts import MemoryPhase, PhaseName
from gui.engine.hardware.memory.room import SPILL_SHARE, Room
from gui.engine.hardware.memory.words import parts_in_words, reserve_words
from gui.engine.plan.changes import changes_in_words
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.rules.memory_needs import (
    advised,
    forecast_memory,
    least_memory,
    room_of,
    step_with,
    ways_of,
)
from gui.engine.preflight.rules.memory_question import question_of
from gui.engine.preflight.rules.sampling import wants_samples
from gui.engine.preflight.view import View
from gui.engine.texts import _

BEFORE_TRAINING: tuple[PhaseName, ...] = ("latents", "text", "load")

HARMLESS = frozenset({"vae-batch", "latents", "captions", "attention", "checkpointing"})
"""Steps of the ladder that change nothing of the result."""

SPARE_BLOCKS = 4
"""So many blocks too many are worth a word: each costs time."""


def severity_of(phase: MemoryPhase, room: Room, ram_gib: float | None) -> Severity | None:
    """Return how bad it is that a phase meets a GPU; None when it fits.

    Args:
        phase: What is needed.
        room: What there is.
        ram_gib: Memory of the machine: on Windows up to half of it stands in for the GPU's, very slowly.
    """
    most = room.total
    if room.windows:
        most = room.total + ram_gib / 2 if ram_gib is not None else float("inf")
    if min(phase.parts.certain, phase.low) > most:
        return "stop"
    if phase.likely > room.free:
        return "danger"
    return "warning" if phase.high > room.usable else None


def check_vram(view: View) -> Iterator[Finding]:
    """The training step fits (OOM-01, OOM-02, OOM-05, OOM-07, OOM-13, SLOW-02, SLOW-04)."""
    phase, room = least_memory(view).phase("step"), room_of(view)
    severity = severity_of(phase, room, view.facts.ram_gib) if phase and room else None
    if phase is None or room is None or severity is None:
        return
    if forecast_memory(view).unknown is not None and severity != "stop":
        return  # with the least of all images even that much would not tell
    found = advised(view)
    yield Finding(
        id="vram",
        severity=severity,
        title=_title(severity, phase, room),
        detail=" ".join(_details(phase, room, found)),
        arguments=tuple(found.changes if found else ()) or ("dataset.batch_size",),
        fixes=tuple(_ways_out(found)),
        sources=("OOM-01", "OOM-02", "OOM-07", "SLOW-01", "T14", "T15"),
    )


def _title(severity: Severity, phase: MemoryPhase, room: Room) -> str:
    if severity == "stop":
        title = _("The GPU has {total:.1f} GiB, the training needs about {likely:.1f} GiB.")
    elif severity == "danger":
        title = _("The training needs about {likely:.1f} GiB, {free:.1f} GiB of the GPU are free.")
    else:
        title = _("The training may need up to {high:.1f} GiB, {free:.1f} GiB of the GPU are free.")
    return title.format(total=room.total, free=room.free, likely=phase.likely, high=phase.high)


def _details(phase: MemoryPhase, room: Room, found: Advised | None) -> Iterator[str]:
    yield _("In GiB: {parts}.").format(parts=parts_in_words(phase.parts))
    yield from _reserve(phase, room)
    if room.windows and phase.high > SPILL_SHARE * room.total:
        yield _(
            "Windows does not fail when the GPU is full: it moves memory to the RAM, and each step takes "
            "many times as long."
        )
    if found is None or found.unknown is not None:
        return
    for advice in found.advice:
        if advice.reason:
            yield advice.reason
    if not found.fits and found.after_gib is not None:
        yield _("With all that saves memory it may still need {gib:.1f} GiB.").format(gib=found.after_gib)


def _reserve(phase: MemoryPhase, room: Room) -> Iterator[str]:
    """Say why less than is free may still be too much."""
    if room.usable < phase.high <= room.free:
        yield reserve_words(room)


def _ways_out(found: Advised | None) -> Iterator[Fix]:
    """The whole set as one fix: no part of it would do."""
    if found is None or not found.fits or not found.changes:
        return
    changes = found.changes
    said = changes_in_words(changes)
    steps = {advice.id for advice in found.advice}
    costs = " ".join(dict.fromkeys(advice.cost for advice in found.advice if advice.changes))
    yield write(
        changes,
        _("make it fit: {changes} ({costs})").format(changes=said, costs=costs),
        identity="fit",
        safe=steps <= HARMLESS,
    )


def check_before(view: View) -> Iterator[Finding]:
    """Caching and loading fit, too: T5 alone is larger than many GPUs (README §2.7)."""
    room, needed = room_of(view), forecast_memory(view)
    if room is None:
        return
    words = {
        "latents": _("Caching the latents"),
        "text": _("Encoding the captions"),
        "load": _("Loading the model"),
    }
    for name in BEFORE_TRAINING:
        phase = needed.phase(name)
        severity = severity_of(phase, room, view.facts.ram_gib) if phase else None
        if phase is None or severity is None:
            continue
        yield Finding(
            id="vram-preflight",
            severity="warning" if name == "text" and _t5_unknown(view) else severity,
            title=(
                _("{phase} may need up to {high:.1f} GiB, {free:.1f} GiB of the GPU are free.")
                if severity == "warning"
                else _("{phase} needs about {likely:.1f} GiB, {free:.1f} GiB of the GPU are free.")
            ).format(phase=words[name], likely=phase.likely, high=phase.high, free=room.free),
            detail=" ".join((*_reserve(phase, room), _about_phase(name))),
            arguments=_concerned(name),
            where=name,
            fixes=() if name == "text" else tuple(_ways_out(advised(view))),
            sources=("OOM-12", "trainer: flux_train_network.py:241"),
        )


def _t5_unknown(view: View) -> bool:
    """Whether T5 may be in fp8, or not be there at all."""
    return view.model("t5xxl") is None


def _about_phase(name: str) -> str:
    if name == "text":
        return _("A T5 file in fp8 (e4m3fn), kept so by fp8_base, takes half.")
    if name == "latents":
        return _("vae_batch_size 1 needs least; without no_half_vae it takes half.")
    return _("Blocks that are swapped are not loaded to the GPU.")


def _concerned(name: str) -> tuple[str, ...]:
    arguments = {
        "latents": ("vae_batch_size", "no_half_vae"),
        "text": ("t5xxl", "cache_text_encoder_outputs"),
        "load": ("blocks_to_swap", "fp8_base"),
    }
    return arguments[name]


def check_samples(view: View) -> Iterator[Finding]:
    """A sample drawn beside the training fits (OOM-10)."""
    phase, room = forecast_memory(view).phase("samples"), room_of(view)
    if phase is None or room is None or phase.high <= room.usable:
        return
    asked = wants_samples(view)
    yield Finding(
        id="sample-vram",
        severity="warning",
        title=_("A sample image may need {high:.1f} GiB, {free:.1f} GiB of the GPU are free.").format(
            high=phase.high, free=room.free
        ),
        detail=_("It is drawn beside the training. Smaller samples need less, such as --w 512 --h 768."),
        arguments=("sample_prompts", *asked),
        fixes=(write(dict.fromkeys(asked), _("make no sample images"), identity="no-samples"),),
        sources=("OOM-10",),
    )


def check_swap(view: View) -> Iterator[Finding]:
    """As many blocks are swapped as the GPU asks for, not fewer and not many more (OOM-06)."""
    asked = question_of(view)
    if asked.blocks_to_swap == 0:
        return
    room, limit, phase = room_of(view), ways_of(view).most_swapped, forecast_memory(view).phase("step")
    if room is None or phase is None or asked.blocks_to_swap > limit:
        return
    enough = bisect_left(
        range(limit + 1), True, key=lambda count: step_with(view, blocks_to_swap=count) <= room.usable
    )
    too_few = enough > asked.blocks_to_swap
    if enough > limit or (not too_few and asked.blocks_to_swap - enough < SPARE_BLOCKS):
        return
    yield Finding(
        id="swap",
        severity="warning" if too_few else "hint",
        title=(
            _("Swapping {blocks} blocks does not save enough; {enough} do.")
            if too_few
            else _("Swapping {enough} blocks is enough; each of the {blocks} costs time.")
        ).format(blocks=asked.blocks_to_swap, enough=enough),
        detail=_("Swapped blocks wait in the RAM and are moved to the GPU for each step."),
        arguments=("blocks_to_swap",),
        fixes=(
            write(
                {"blocks_to_swap": enough or None},
                _("swap {most} blocks").format(most=enough) if enough else _("swap no blocks"),
                safe=too_few,
            ),
        ),
        sources=("OOM-06", "trainer: flux_models.py:974"),
    )


def check_state(view: View) -> Iterator[Finding]:
    """An optimizer that keeps much does not go with full training of a large model (OOM-05, OOM-14)."""
    phase, room, asked = forecast_memory(view).phase("step"), room_of(view), question_of(view)
    if phase is None or room is None or asked.kind != "full":
        return
    severity = severity_of(phase, room, view.facts.ram_gib)
    if severity not in ("stop", "danger") or phase.parts.optimizer < phase.parts.weights:
        return
    found = advised(view)
    yield Finding(
        id="opt-state",
        severity=severity,
        title=_("The optimizer {name} alone keeps {gib:.1f} GiB for all these weights.").format(
            name=view.text("optimizer_type") or "AdamW", gib=phase.parts.optimizer
        ),
        detail=_("Adafactor keeps next to nothing, and can use gradients up as they are made."),
        arguments=("optimizer_type",),
        fixes=tuple(_ways_out(found)),
        sources=("OOM-05", "OOM-14"),
    )


def check_stored_copies(view: View) -> Iterator[Finding]:
    """fp8 without checkpointing takes more than bf16: each layer's copy is kept (README §2.4)."""
    asked = question_of(view)
    if not asked.fp8 or asked.checkpointing or not view.knows("gradient_checkpointing"):
        return
    yield Finding(
        id="fp8-stored",
        severity="warning",
        title=_("fp8 without gradient_checkpointing takes more memory than bf16."),
        detail=_("For each layer a copy in 16 bit is made and kept until the backward pass."),
        arguments=("gradient_checkpointing", "fp8_base"),
        fixes=(write({"gradient_checkpointing": True}, _("switch gradient_checkpointing on"), safe=True),),
        sources=("memory: fp8 without checkpointing, 45.4 instead of 26.2 GiB on Chroma",),
    )


RULES: tuple[Rule, ...] = (
    Rule("vram", check_vram, ("OOM-01", "OOM-07"), lambda: _("Whether the training fits the GPU")),
    Rule("vram-preflight", check_before, ("OOM-12",), lambda: _("Whether caching and loading fit the GPU")),
    Rule("sample-vram", check_samples, ("OOM-10",), lambda: _("Whether sample images fit the GPU")),
    Rule("swap", check_swap, ("OOM-06",), lambda: _("Whether the right number of blocks is swapped")),
    Rule(
        "opt-state",
        check_state,
        ("OOM-05", "OOM-14"),
        lambda: _("Optimizers that keep too much in full training"),
    ),
    Rule(
        "fp8-stored",
        check_stored_copies,
        ("memory: fp8 without checkpointing",),
        lambda: _("fp8 without gradient_checkpointing"),
    ),
)
