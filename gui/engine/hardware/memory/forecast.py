"""Says how much GPU memory a plan needs, phase by phase: instant, offline, without torch.

It stands on traced steps of the trainer's own networks (``tables``), on what is exactly known of weights,
gradients and states, and on three numbers of the machine that measured runs correct (``correction``).
What it cannot know it calls unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import hypot, log2

from gui.engine.hardware.memory.activations import Activations, activations_for
from gui.engine.hardware.memory.correction import MemoryCorrection
from gui.engine.hardware.memory.figures import FamilyFigures, IntervalFigures, MemoryFigures, load_figures
from gui.engine.hardware.memory.forecasts import (
    MemoryForecast,
    MemoryParts,
    MemoryPhase,
    PhaseName,
    Sensitivity,
)
from gui.engine.hardware.memory.phases import Budgeting
from gui.engine.hardware.memory.question import MemoryQuestion
from gui.engine.hardware.memory.tables import MemoryTable, StepRow
from gui.engine.hardware.memory.trained import (
    OptimizerNeeds,
    Trained,
    optimizer_needs,
    trained_by_network,
)
from gui.engine.plan.families import families
from gui.engine.plan.model_sizes import ModelSize, model_size
from gui.engine.texts import _

MOST_IMAGES = 4096
"""No batch or cache of latents is as large; a plan that says so is a mistake."""

SAME_NETWORK = 0.02
"""Families whose networks differ by less in size are forecast by one table."""


def forecast(
    question: MemoryQuestion,
    tables: Mapping[str, MemoryTable],
    correction: MemoryCorrection,
    figures: MemoryFigures | None = None,
) -> MemoryForecast:
    """Return how much memory a plan needs.

    Args:
        question: What memory depends on.
        tables: Traced tables by family.
        correction: What is known of the machine.
        figures: What no trace shows; None takes the program's own.
    """
    figures = figures or load_figures()
    ground = _ground(question, tables, figures)
    if isinstance(ground, str):
        return MemoryForecast(unknown=ground)
    table, shape, trained = ground
    needs = activations_for(question, table.steps, shape, figures)
    if needs is None:
        return MemoryForecast(unknown=_("Nothing like this was traced of this model family."))
    convolutions = shape.convolutions if question.kind == "full" else 0
    optimizer = optimizer_needs(question, trained, convolutions, figures)
    budgeting = Budgeting(question, table, shape, figures, trained, optimizer, needs)
    interval = figures.interval
    doubt = _Doubt(
        correction,
        interval.sigmas,
        _relative_doubt(question, trained, interval),
        _step_doubt(needs, optimizer, interval),
    )
    return MemoryForecast(
        phases=tuple(doubt.phase(name, parts) for name, parts in budgeting.phases()),
        basis=tuple(_basis(table, shape, needs, trained)),
        family=table.family,
    )


def hindrance(
    question: MemoryQuestion, tables: Mapping[str, MemoryTable], figures: MemoryFigures
) -> str | None:
    """Return why nothing can be said, whatever more were traced of the family; None where that would help.

    Args:
        question: What memory depends on.
        tables: Traced tables by family.
        figures: What no trace shows.
    """
    ground = _ground(question, tables, figures)
    return ground if isinstance(ground, str) else None


def table_of(name: str, tables: Mapping[str, MemoryTable]) -> MemoryTable | None:
    """Return the table of a family, or of the nearest one that it extends and shares the network with."""
    known, size = families(), model_size(name)
    current: str | None = name
    while current is not None:
        table = tables.get(current)
        if table is not None:
            network = table.parameters.get("network", 0)
            same = size is not None and abs(network - size.model) <= SAME_NETWORK * size.model
            return table if same else None
        current = known[current].extends if current in known else None
    return None


def with_traced(tables: Mapping[str, MemoryTable], family: str, row: StepRow) -> dict[str, MemoryTable]:
    """Return the tables with a training that was just traced, in place of what is like it.

    Args:
        tables: By family.
        family: Whose table it belongs to.
        row: What was traced.
    """
    free = {"rank": None, "optimizer": None, "text_encoders": False}
    own = row.setting.model_copy(update=free)
    table = tables[family]
    rest = tuple(each for each in table.steps if each.setting.model_copy(update=free) != own)
    return {**tables, family: table.model_copy(update={"steps": (*rest, row)})}


def _ground(
    question: MemoryQuestion, tables: Mapping[str, MemoryTable], figures: MemoryFigures
) -> tuple[MemoryTable, FamilyFigures, Trained] | str:
    """Return what a forecast stands on, or why there is none."""
    reason = _senseless(question, figures)
    if reason:
        return reason
    table, size = table_of(question.family, tables), model_size(question.family)
    shape = figures.families.get(table.family) if table else None
    if table is None or size is None or shape is None or "network" not in table.parameters:
        return _("Nothing was traced of this model family.")
    trained = _trained(question, size, table, figures)
    return _("How large this network is, is not known.") if trained is None else (table, shape, trained)


def _senseless(question: MemoryQuestion, figures: MemoryFigures) -> str | None:
    longest = figures.model.largest_px
    if question.obstacle:
        return question.obstacle
    if question.kind == "other":
        return _("This kind of training was not traced.")
    if not (0 < question.width_px <= longest and 0 < question.height_px <= longest):
        return _("The resolution is not known, or makes no sense.")
    if not (0 < question.batch <= MOST_IMAGES and 0 < question.vae_batch <= MOST_IMAGES):
        return _("The batch makes no sense.")
    samples = question.samples
    if samples is not None and not (0 < samples.width_px <= longest and 0 < samples.height_px <= longest):
        return _("The size of the samples makes no sense.")
    return None


def _trained(
    question: MemoryQuestion, size: ModelSize, table: MemoryTable, figures: MemoryFigures
) -> Trained | None:
    if question.kind == "full":
        text = size.text or sum(
            figures.text_encoders[name].parameters for name in figures.families[table.family].text_encoders
        )
        return Trained(float(table.parameters["network"] + (text if question.text_trained else 0)))
    if question.network is None:
        return Trained(0.0)
    return trained_by_network(question.network, size, figures.families.get(table.family))


@dataclass(frozen=True)
class _Doubt:
    """Says how far a forecast may be off, and makes phases of parts.

    Attributes:
        correction: What is known of the machine.
        sigmas: How many standard deviations low and high are away.
        relative: Standard deviation of a whole step, as part of it; of other phases, of what is not counted.
        step_gib: What is doubtful of a training step beside that, as a standard deviation.
    """

    correction: MemoryCorrection
    sigmas: float
    relative: float
    step_gib: float

    def phase(self, name: PhaseName, traced: MemoryParts) -> MemoryPhase:
        """Return a phase: what was traced, corrected by what is known of the machine."""
        known = self.correction
        parts = traced.model_copy(
            update={
                "activations": traced.activations * known.activation.mean,
                "fragmentation": traced.fragmentation * known.fragmentation.mean,
                "context": known.context_gib.mean,
            }
        )
        deviation = hypot(
            known.context_gib.deviation,
            known.activation.deviation * traced.activations,
            known.fragmentation.deviation * traced.fragmentation,
            self.relative * (parts.total if name == "step" else parts.total - parts.certain),
            self.step_gib if name == "step" else 0.0,
        )
        width = self.sigmas * deviation
        return MemoryPhase(
            name=name,
            low=max(0.0, parts.total - width),
            likely=parts.total,
            high=parts.total + width,
            parts=parts,
            sensitivity=Sensitivity(activation=traced.activations, fragmentation=traced.fragmentation),
        )


def _relative_doubt(question: MemoryQuestion, trained: Trained, interval: IntervalFigures) -> float:
    guessed = interval.guessed if trained.guessed else 0.0
    return hypot(interval.unseen, interval.batch * log2(question.batch), guessed)


def _step_doubt(needs: Activations, optimizer: OptimizerNeeds, interval: IntervalFigures) -> float:
    return hypot(interval.far * needs.distance * needs.early, needs.guessed / 2, optimizer.doubt)


def _basis(table: MemoryTable, shape: FamilyFigures, needs: Activations, trained: Trained) -> list[str]:
    setting = needs.rows[0].setting
    said = [
        _("Traced on {family} at {width}×{height}, batch {batch}, with trainer {commit}.").format(
            family=table.family,
            width=setting.width_px,
            height=setting.height_px,
            batch=setting.batch,
            commit=table.trainer_commit[:8],
        )
    ]
    if shape.vae is None or not shape.text_encoders:
        said.append(_("What caching and sampling need is not known of this family."))
    if needs.distance > 0:
        said.append(_("The plan lies outside of what was traced; the line was drawn on."))
    if needs.guessed:
        said.append(_("A part was not traced but estimated."))
    if trained.guessed:
        said.append(_("The size of the network is an estimate."))
    return said
