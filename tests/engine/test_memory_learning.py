"""A simulated machine teaches its hidden numbers to the forecast; odd and cut-off runs do not spoil it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from gui.engine.errors import CannotWrite, NewerDocument
from gui.engine.hardware.memory import learning
from gui.engine.hardware.memory.correction import Estimate, MemoryCorrection
from gui.engine.hardware.memory.figures import load_figures
from gui.engine.hardware.memory.fit import HUBER, fit
from gui.engine.hardware.memory.forecast import forecast
from gui.engine.hardware.memory.forecasts import MemoryForecast
from gui.engine.hardware.memory.learning import MemoryLearning, forget, learn, learned, unreadable
from gui.engine.hardware.memory.observations import (
    Machine,
    MeasuredStep,
    MemoryExpectation,
    Observation,
    observe,
)
from gui.engine.hardware.memory.question import MemoryQuestion, NetworkQuestion
from gui.engine.hardware.memory.tables import load_tables
from gui.engine.paths import Home

PRIOR = load_figures().prior("linux")
MACHINE = Machine(gpu="GPU-fa4e", name="RTX", torch="2.6.0", driver="580")
HIDDEN = {"context": 0.85, "activation": 1.13, "fragmentation": 1.7}
CARD_GIB = 24.0


def question(chance: random.Random, family: str = "sdxl") -> MemoryQuestion:
    side = chance.choice([768, 896, 1024, 1152])
    return MemoryQuestion(
        family=family,
        width_px=side,
        height_px=side,
        batch=chance.choice([1, 2, 3, 4]),
        checkpointing=True,
        mixed_precision="bf16",
        network=NetworkQuestion(rank=chance.choice([8, 16, 32, 64])),
        latents_cached=True,
    )


def answer(asked: MemoryQuestion, correction: MemoryCorrection) -> MemoryForecast:
    return forecast(asked, load_tables(), correction)


def expected(asked: MemoryQuestion) -> MemoryExpectation:
    return MemoryExpectation(question=asked, forecast=answer(asked, PRIOR))


def truth(asked: MemoryQuestion, chance: random.Random | None = None) -> tuple[float, float, float]:
    """Return what the simulated machine needs for a step: tensors, reserved, the process."""
    step = answer(asked, PRIOR).phase("step")
    assert step is not None
    noise = chance.gauss(1.0, 0.01) if chance else 1.0
    allocated = (step.parts.certain + HIDDEN["activation"] * step.sensitivity.activation) * noise
    reserved = allocated + HIDDEN["fragmentation"] * step.sensitivity.fragmentation
    return allocated, reserved, reserved + HIDDEN["context"]


def run(asked: MemoryQuestion, chance: random.Random, *, hook: bool = True, card: float = 1e9) -> Observation:
    """Train on the simulated machine and look; on a full card everything is cut off."""
    allocated, reserved, process = truth(asked, chance)
    censored = process > card * 0.97
    lost = max(0.0, process - card)
    measured = MeasuredStep(
        allocated=allocated - lost if hook else None,
        reserved=reserved - lost if hook else None,
        process=process - lost,
        censored=censored,
    )
    seen = observe(expected(asked), measured, MACHINE, run=f"{chance.random()}")
    assert seen is not None
    return seen


def error(correction: MemoryCorrection, chance: random.Random, family: str = "sdxl") -> float:
    """Return the median error over new plans."""
    errors = []
    for _ in range(30):
        asked = question(chance, family)
        step = answer(asked, correction).phase("step")
        assert step is not None
        errors.append(abs(step.likely / truth(asked)[2] - 1))
    return median(errors)


@pytest.mark.parametrize("hook", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_that_three_runs_bring_the_median_error_to_three_percent(
    tmp_path: Path, hook: bool, seed: int
) -> None:
    chance, home = random.Random(seed), Home(tmp_path)
    asked = question(chance)
    before = learned(home, MACHINE.gpu).correction(asked, PRIOR)
    assert (before.runs, before.activation) == (0, PRIOR.activation)
    assert error(before, random.Random(99)) > 0.05
    for _ in range(3):
        learn(home, MACHINE, run(question(chance), chance, hook=hook), PRIOR)
    after = learned(home, MACHINE.gpu).correction(asked, PRIOR, MACHINE.software)
    assert after.runs == 3
    assert error(after, random.Random(99)) <= 0.03
    assert after.activation.deviation < PRIOR.activation.deviation


def test_that_the_hook_shows_each_number_by_itself() -> None:
    chance = random.Random(5)
    fitted = fit([run(question(chance), chance) for _ in range(6)], PRIOR)
    (context,), (activation,) = fitted.context_gib.values(), fitted.activation.values()
    assert context.mean == pytest.approx(HIDDEN["context"], abs=0.05)
    assert activation.mean == pytest.approx(HIDDEN["activation"], abs=0.06)
    assert fitted.fragmentation is not None
    assert fitted.fragmentation.mean == pytest.approx(HIDDEN["fragmentation"], abs=0.2)


def test_that_runs_at_the_limit_do_not_poison_what_was_learned() -> None:
    chance = random.Random(7)
    good = [run(question(chance), chance) for _ in range(3)]
    asked = question(chance)
    process = truth(asked)[2]
    cut = [run(asked, chance, hook=hook, card=process * 0.8) for hook in (True, False) for _ in range(5)]
    assert all(seen.measured.censored for seen in cut)
    clean, mixed = (
        MemoryLearning(schema=1, gpu="g", fitted=fit(rows, PRIOR), observations=tuple(rows))
        for rows in (good, [*good, *cut])
    )
    same = question(chance)
    assert mixed.correction(same, PRIOR).activation.mean == pytest.approx(
        clean.correction(same, PRIOR).activation.mean, abs=0.01
    )
    assert error(mixed.correction(same, PRIOR), random.Random(1)) <= 0.03


def test_that_only_runs_at_the_limit_teach_no_smaller_need() -> None:
    chance = random.Random(8)
    asked = question(chance)
    small = run(asked, chance, card=truth(asked)[2] * 0.5)
    assert fit([small], PRIOR).activation.popitem()[1].mean == pytest.approx(PRIOR.activation.mean, abs=1e-3)
    large = small.model_copy(
        update={"measured": MeasuredStep(allocated=small.fixed + 1.5 * small.activations, censored=True)}
    )
    assert fit([large], PRIOR).activation.popitem()[1].mean > 1.2


@pytest.mark.parametrize("shown", ["reserved", "process"])
def test_that_a_lower_bound_counts_in_whatever_was_measured(shown: str) -> None:
    chance = random.Random(8)
    seen = run(question(chance), chance)
    higher = {shown: getattr(seen.measured, shown) * 1.5, "censored": True}
    bound = seen.model_copy(update={"measured": MeasuredStep(**higher)})
    assert fit([bound], PRIOR).activation.popitem()[1].mean > 1.1


def test_that_one_odd_run_among_many_counts_little() -> None:
    chance = random.Random(9)
    good = [run(question(chance), chance) for _ in range(8)]
    odd = good[0].model_copy(
        update={"measured": MeasuredStep(allocated=(good[0].measured.allocated or 0) * 3)}
    )
    known = fit(good, PRIOR).activation.popitem()[1].mean
    assert fit([*good, odd], PRIOR).activation.popitem()[1].mean == pytest.approx(known, rel=0.03)
    assert HUBER < 5


def test_that_activations_are_learned_apart_and_the_context_by_software(tmp_path: Path) -> None:
    chance, home = random.Random(3), Home(tmp_path)
    learn(home, MACHINE, run(question(chance), chance), PRIOR)
    known = learned(home, MACHINE.gpu)
    asked = question(chance)
    assert known.correction(asked, PRIOR).activation != PRIOR.activation
    for other in ({"checkpointing": False}, {"attention": "none"}, {"family": "flux1"}):
        assert known.correction(asked.model_copy(update=other), PRIOR).activation == PRIOR.activation
    newer = MACHINE.model_copy(update={"driver": "600"})
    context = known.correction(asked, PRIOR, newer.software).context_gib
    assert context == known.correction(asked, PRIOR, MACHINE.software).context_gib, "better than nothing"
    seen = run(asked, chance).model_copy(update={"software": newer.software})
    bigger = seen.measured.model_copy(update={"process": (seen.measured.process or 0) + 1})
    learn(home, newer, seen.model_copy(update={"measured": bigger}), PRIOR)
    contexts = learned(home, MACHINE.gpu).fitted.context_gib
    assert contexts[newer.software].mean > contexts[MACHINE.software].mean + 0.15


def test_that_a_family_shares_what_the_one_with_its_table_has_taught(tmp_path: Path) -> None:
    chance, home = random.Random(3), Home(tmp_path)
    learn(home, MACHINE, run(question(chance, "sdxl"), chance), PRIOR)
    known = learned(home, MACHINE.gpu)
    child = "illustrious"
    asked = question(chance, child)
    seen = observe(expected(asked), MeasuredStep(process=9.0), MACHINE)
    assert seen is not None and seen.family == "sdxl"
    assert known.correction(question(chance, child), PRIOR).activation != PRIOR.activation
    assert known.correction(question(chance, child), PRIOR).runs == 1
    assert known.correction(question(chance, "never heard of"), PRIOR).runs == 0


def test_that_a_run_that_is_told_twice_counts_once(tmp_path: Path) -> None:
    chance, home = random.Random(3), Home(tmp_path)
    seen = run(question(chance), chance)
    for _ in range(3):
        learn(home, MACHINE, seen, PRIOR)
    assert len(learned(home, MACHINE.gpu).observations) == 1


def test_that_old_runs_are_forgotten_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "MOST_OBSERVATIONS", 2)
    chance, home = random.Random(3), Home(tmp_path)
    for _ in range(4):
        known = learn(home, MACHINE, run(question(chance), chance), PRIOR)
    assert len(known.observations) == 2


ESTIMATE = '{"schema": 1, "gpu": "x", "fitted": {"fragmentation": {"mean": %s, "deviation": %s}}}'


@pytest.mark.parametrize(
    "text",
    [
        *("", "junk", "[]", '{"schema": 1}'),
        *(ESTIMATE % (number, 0.1) for number in ("NaN", "1e400", "1e300", "-1", '"x"')),
        *(ESTIMATE % (1.1, number) for number in ("Infinity", "-Infinity", "null")),
    ],
)
def test_that_a_damaged_file_teaches_nothing_and_is_put_aside(tmp_path: Path, text: str) -> None:
    home, chance = Home(tmp_path), random.Random(1)
    home.memory.mkdir(parents=True)
    (home.memory / "GPU-fa4e.json").write_text(text)
    assert learned(home, "GPU-fa4e").observations == ()
    assert "GPU-fa4e.json" in str(unreadable(home)[0])
    learn(home, MACHINE, run(question(chance), chance), PRIOR)
    assert len(learned(home, "GPU-fa4e").observations) == 1
    assert (home.memory / "GPU-fa4e.json.damaged").read_text() == text
    assert unreadable(home) == ()


def test_that_no_measurement_is_beyond_all_memory(tmp_path: Path) -> None:
    chance, home = random.Random(1), Home(tmp_path)
    path = home.memory / "GPU-fa4e.json"
    learn(home, MACHINE, run(question(chance), chance), PRIOR)
    document = json.loads(path.read_text())
    for amount in ("allocated", "fixed"):
        text = json.dumps(document | {"observations": [_with(document["observations"][0], amount)]})
        path.write_text(text.replace('"HERE"', "1e400"))
        assert learned(home, MACHINE.gpu).observations == ()


def _with(observation: dict[str, Any], amount: str) -> dict[str, Any]:
    inner = {"measured": {**observation["measured"], amount: "HERE"}}
    return {**observation, **(inner if amount == "allocated" else {amount: "HERE"})}


def test_that_what_a_newer_version_keeps_is_neither_used_nor_touched(tmp_path: Path) -> None:
    home, chance = Home(tmp_path), random.Random(1)
    home.memory.mkdir(parents=True)
    path = home.memory / "GPU-fa4e.json"
    path.write_text('{"schema": 2, "gpu": "GPU-fa4e", "new": 1}')
    assert learned(home, "GPU-fa4e").observations == ()
    with pytest.raises(NewerDocument):
        learn(home, MACHINE, run(question(chance), chance), PRIOR)
    assert "newer version" in str(unreadable(home)[0])
    assert json.loads(path.read_text())["new"] == 1


def test_that_learned_things_can_be_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, chance = Home(tmp_path), random.Random(1)
    forget(home)
    other = MACHINE.model_copy(update={"gpu": "MIG-1/2"})
    for machine in (MACHINE, other):
        learn(home, machine, run(question(chance), chance), PRIOR)
    assert (home.memory / "MIG-1_2.json").is_file()
    forget(home, MACHINE.gpu)
    assert [len(learned(home, one.gpu).observations) for one in (MACHINE, other)] == [0, 1]
    assert forget(home)
    assert not list(home.memory.glob("*.json"))
    assert not forget(home) and not forget(home, "x")
    learn(home, MACHINE, run(question(chance), chance), PRIOR)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "no")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(CannotWrite):
        forget(home, MACHINE.gpu)


def test_that_nothing_is_learned_from_nothing() -> None:
    chance = random.Random(1)
    asked = question(chance)
    assert observe(expected(asked), MeasuredStep(), MACHINE) is None
    assert (
        observe(
            MemoryExpectation(question=asked, forecast=MemoryForecast(unknown="?")),
            MeasuredStep(process=3.0),
            MACHINE,
        )
        is None
    )
    assert fit([], PRIOR).fragmentation is None


def test_that_less_reserved_than_allocated_is_not_believed() -> None:
    """Figures of two looks can contradict each other."""
    seen = run(question(random.Random(1)), random.Random(1))
    odd: dict[str, Any] = {"allocated": 9.0, "reserved": 8.0}
    assert fit([seen.model_copy(update={"measured": MeasuredStep(**odd)})], PRIOR).fragmentation is None


def test_that_no_number_becomes_nothing() -> None:
    seen = run(question(random.Random(1)), random.Random(1))
    tiny = seen.model_copy(update={"measured": MeasuredStep(allocated=0.1, reserved=0.1, process=0.1)})
    fitted = fit([tiny] * 9, PRIOR)
    assert min(e.mean for e in (*fitted.context_gib.values(), *fitted.activation.values())) >= 0.05
    assert isinstance(fitted.fragmentation, Estimate)
