"""Asks what no table knows exactly: the memory of a plan's training step, traced in its own trainer."""

from __future__ import annotations

from statistics import median, mode
from typing import Literal

from gui.engine.documents import Document
from gui.engine.errors import CannotRead
from gui.engine.hardware.memory.figures import load_figures
from gui.engine.hardware.memory.forecast import hindrance, table_of
from gui.engine.hardware.memory.question import MemoryQuestion
from gui.engine.hardware.memory.tables import WEIGHTS, MemoryTable, StepSetting, TracedStep, load_tables
from gui.engine.hardware.memory.tracing import Tracer
from gui.engine.preflight.rules.memory_question import question_of
from gui.engine.preflight.view import View

FUSED_OPTIMIZER = "Adafactor"
"""The only one that uses gradients up as they are made (train_util.py: fused_backward_pass)."""


class ExactQuestion(Document):
    """What is to be traced for a plan.

    Attributes:
        family: The family of the memory table.
        setting: The training.
        operations: About how many operations that takes; 0 where not known.
    """

    family: str
    setting: StepSetting
    operations: int = 0


def exact_question(view: View) -> ExactQuestion | None:
    """Return what a trace would have to answer; None where it could not.

    Args:
        view: The plan and the facts.
    """
    asked = question_of(view)
    try:
        tables, figures = load_tables(), load_figures()
    except CannotRead:
        return None
    table = table_of(asked.family, tables)
    if table is None or asked.kind not in ("lora", "full") or view.facts.gpu == ():
        return None
    if hindrance(asked, tables, figures) is not None:
        return None
    setting = _setting(asked, table, "lora" if asked.kind == "lora" else "full")
    known = [
        row.result.operations
        for row in table.steps
        if row.setting.optimizer is None and row.setting.checkpointing == asked.checkpointing
    ]
    return ExactQuestion(
        family=table.family, setting=setting, operations=round(median(known)) if known else 0
    )


def is_exact(question: ExactQuestion, view: View) -> bool:
    """Return whether the view's forecast rests on a trace of just that training."""
    return any(
        traced.family == question.family and traced.row.setting == question.setting for traced in view.traced
    )


def trace_exactly(question: ExactQuestion, tracer: Tracer) -> TracedStep:
    """Trace a plan's training.

    Args:
        question: What.
        tracer: Of the plan's trainer.

    Raises:
        CannotTrace: The trainer's networks could not be replayed.
        TrainerBroken: Its interpreter cannot be started at all.
        Cancelled: The caller asked for it.
    """
    return TracedStep(question.family, tracer.trace_step(question.family, question.setting))


def _setting(asked: MemoryQuestion, table: MemoryTable, kind: Literal["lora", "full"]) -> StepSetting:
    """Return the training; the optimizer is left out where it is known without a trace."""
    network = asked.network
    return StepSetting(
        kind=kind,
        width_px=asked.width_px,
        height_px=asked.height_px,
        batch=asked.batch,
        text_tokens=mode(row.setting.text_tokens for row in table.steps),
        checkpointing=asked.checkpointing,
        attention=asked.attention,
        weights=WEIGHTS[asked.weight_bytes],
        autocast=asked.half,
        rank=max(1, network.rank) if network else None,
        adapter="bf16" if asked.full_half else "fp32",
        text_encoders=asked.trains_text,
        optimizer=FUSED_OPTIMIZER if asked.optimizer.fused else None,
        fused_backward=asked.optimizer.fused,
    )
