"""Fits the numbers of a machine to what its runs have measured.

A Gaussian prior and Gaussian noise on a linear model: Bayesian linear regression in closed form. Huber
weights keep one odd run from bending it. A run at the limit of its GPU counts as a lower bound: only
where the numbers would say less than it took.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.hardware.memory.correction import MOST, Estimate, MemoryCorrection
from gui.engine.hardware.memory.observations import Observation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

NOISE_GIB = 0.05
NOISE_SHARE = 0.02
"""How far a measurement is off from run to run: the order of buckets, kernels that are tried."""

HUBER = 2.0
"""Beyond so many standard deviations a measurement counts less and less."""

ROUNDS = 30

LEAST = 0.05
"""No number becomes less, whatever was measured."""

FRAGMENTATION, CONTEXT, ACTIVATION = "fragmentation", "context: ", "activation: "


class Fitted(Document):
    """The numbers of a machine.

    Attributes:
        context_gib: Software to what the driver takes for a process.
        activation: Family, checkpointing and attention to the multiplier of activations.
        fragmentation: The multiplier of the allocator's spare; None before it was measured.
    """

    context_gib: dict[str, Estimate] = Field(default_factory=dict)
    activation: dict[str, Estimate] = Field(default_factory=dict)
    fragmentation: Estimate | None = None


@dataclass(frozen=True)
class _Equation:
    """A measurement as a sum of unknown numbers.

    Attributes:
        factors: Name of each unknown number and what it is multiplied by, GiB.
        value: What they make together, GiB.
        bound: Whether they make at least that.
    """

    factors: dict[str, float]
    value: float
    bound: bool = False


def fit(observations: Sequence[Observation], prior: MemoryCorrection) -> Fitted:
    """Return the numbers that prior and measurements make together.

    Args:
        observations: Of one machine.
        prior: What is assumed before.
    """
    equations = [equation for seen in observations for equation in _equations(seen)]
    names = sorted({name for equation in equations for name in equation.factors})
    if not names:
        return Fitted()
    values, deviations = _solve(equations, names, [_prior_of(name, prior) for name in names])
    known = {
        name: Estimate(
            mean=round(min(max(LEAST, float(value)), MOST), 4),
            deviation=round(min(float(deviation), MOST), 4),
        )
        for name, value, deviation in zip(names, values, deviations, strict=True)
    }
    return Fitted(
        context_gib=_below(CONTEXT, known),
        activation=_below(ACTIVATION, known),
        fragmentation=known.get(FRAGMENTATION),
    )


def _below(prefix: str, known: dict[str, Estimate]) -> dict[str, Estimate]:
    return {name.removeprefix(prefix): value for name, value in known.items() if name.startswith(prefix)}


def _equations(seen: Observation) -> Iterator[_Equation]:
    """Take an observation apart, so that each number is learned from the figure that shows it alone."""
    measured = seen.measured
    work = {ACTIVATION + seen.key: seen.activations}
    spare = {FRAGMENTATION: seen.spare}
    context = {CONTEXT + seen.software: 1.0}
    if measured.censored:
        yield from _bounds(seen, work, spare, context)
        return
    if measured.allocated is not None:
        yield _Equation(work, measured.allocated - seen.fixed)
    if measured.reserved is not None:
        if measured.allocated is None:
            yield _Equation(work | spare, measured.reserved - seen.fixed)
        elif measured.reserved >= measured.allocated:
            yield _Equation(spare, measured.reserved - measured.allocated)
    if measured.process is not None:
        if measured.reserved is not None:
            yield _Equation(context, measured.process - measured.reserved)
        else:
            yield _Equation(work | spare | context, measured.process - seen.fixed)


def _bounds(
    seen: Observation, work: dict[str, float], spare: dict[str, float], context: dict[str, float]
) -> Iterator[_Equation]:
    """Say that it would have taken at least that; the allocator gave its spare back before it failed."""
    measured = seen.measured
    if measured.allocated is not None:
        yield _Equation(work, measured.allocated - seen.fixed, bound=True)
    elif measured.reserved is not None:
        yield _Equation(work | spare, measured.reserved - seen.fixed, bound=True)
    elif measured.process is not None:
        yield _Equation(work | spare | context, measured.process - seen.fixed, bound=True)


def _prior_of(name: str, prior: MemoryCorrection) -> Estimate:
    if name == FRAGMENTATION:
        return prior.fragmentation
    return prior.context_gib if name.startswith(CONTEXT) else prior.activation


def _solve(
    equations: Sequence[_Equation], names: Sequence[str], priors: Sequence[Estimate]
) -> tuple[Array, Array]:
    """Return the most likely numbers and their standard deviations, by reweighted least squares."""
    import numpy as np

    mean = np.array([estimate.mean for estimate in priors])
    certain = np.diag([max(estimate.deviation, 1e-6) ** -2 for estimate in priors])
    factors = np.array([[equation.factors.get(name, 0.0) for name in names] for equation in equations])
    values = np.array([equation.value for equation in equations])
    noise = NOISE_GIB + NOISE_SHARE * np.abs(values)
    bound = np.array([equation.bound for equation in equations])
    solved, weights = mean, np.where(bound, values > factors @ mean, 1.0)
    for _ in range(ROUNDS):
        scaled = factors * (weights / noise**2)[:, None]
        information = certain + factors.T @ scaled
        before, solved = solved, np.linalg.solve(information, certain @ mean + scaled.T @ values)
        if np.allclose(before, solved, atol=1e-6):
            break
        off = (values - factors @ solved) / noise
        weights = np.minimum(1.0, HUBER / np.maximum(np.abs(off), HUBER))
        weights = np.where(bound, off > -_KEPT, weights)
    return solved, np.sqrt(np.diag(np.linalg.inv(information)))


_KEPT = 1e-3
"""A bound that is kept by more standard deviations says nothing."""
