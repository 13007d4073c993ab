"""A curve is spoken of when it is ill, and never when it is only noisy."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from saved_runs import saved_run

from gui.engine.paths import Home
from gui.engine.runs.launched import LaunchedSettings
from gui.engine.runs.loss_advice import LossAdvice, LossAdviser, adviser_of, confidence_words
from gui.engine.runs.loss_curve import MOST_LEVELS, LossCurve, joined
from gui.engine.runs.loss_limits import loss_limits
from gui.engine.runs.metrics import GpuRow, StepRow, ValidationRow
from gui.engine.trainer.events import Step
from gui.engine.trainer.output import OutputParser

RECORDINGS = Path(__file__).parents[1] / "data" / "recordings"
PLAIN = LaunchedSettings()


def losses(
    count: int, level: Callable[[float], float], noise: float = 0.5, seed: int = 1, most: float = 1.0
) -> list[float]:
    """Return losses as a batch of one has them: each around its level, many times as large or small."""
    lot = random.Random(seed)
    drawn = (level(n / count) * math.exp(lot.gauss(-noise * noise / 2, noise)) for n in range(count))
    return [min(most, max(0.001, value)) for value in drawn]


def rows(values: list[float]) -> list[StepRow]:
    return [StepRow(step=number, loss=value) for number, value in enumerate(values, start=1)]


def told(values: list[float], total: int | None = None, family: str = "sdxl") -> dict[str, LossAdvice]:
    adviser = LossAdviser(PLAIN, family)
    adviser.add(rows(values))
    return {advice.id: advice for advice in adviser.advice(total)}


@settings(max_examples=20)
@given(
    count=st.sampled_from([99, 120, 400, 1500]),
    noise=st.floats(0.1, 1.0),
    level=st.floats(0.06, 0.2),
    fall=st.floats(0.0, 0.8),
    seed=st.integers(0, 2**32),
)
def test_that_sound_curves_give_no_advice_at_any_time(
    count: int, noise: float, level: float, fall: float, seed: int
) -> None:
    adviser = LossAdviser(PLAIN, "sdxl")
    values = losses(count, lambda x: level * (1 + fall * math.exp(-6 * x)), noise, seed)
    for start in range(0, count, 100):
        adviser.add(rows(values)[start : start + 100])
        assert adviser.advice(10_000) == []


@pytest.mark.parametrize(
    "folder",
    sorted(path.parent for path in RECORDINGS.glob("*/combined.bin")),
    ids=lambda folder: folder.name,
)
def test_that_recordings_of_the_trainer_give_no_advice(folder: Path) -> None:
    parser, adviser = OutputParser(), LossAdviser(PLAIN, "sd15")
    events = [*parser.feed((folder / "combined.bin").read_bytes()), *parser.finish()]
    steps = [event for event in events if isinstance(event, Step)]
    adviser.add([StepRow(step=event.step, avr_loss=event.avr_loss, loss=event.loss) for event in steps])
    assert adviser.advice(steps[-1].total if steps else None) == []


@pytest.mark.parametrize("noise", [0.2, 0.5, 0.8])
def test_that_a_rising_loss_is_told_with_the_place_it_left(noise: float) -> None:
    found = told(losses(1500, lambda x: 0.1 if x < 0.6 else 0.1 + 0.4 * (x - 0.6), noise))
    assert set(found) == {"rising"}
    assert 100 < (found["rising"].step or 0) < 1000
    assert "lower learning rate" in found["rising"].sentence


def test_that_a_loss_that_doubles_and_more_is_told_for_sure() -> None:
    assert told(losses(800, lambda x: 0.1 if x < 0.7 else 0.6))["rising"].confidence == "high"


def test_that_a_swinging_loss_is_told() -> None:
    found = told(losses(2000, lambda x: 0.25 + 0.1 * math.sin(60 * x), 0.4))
    assert set(found) == {"swinging"}
    assert found["swinging"].confidence == "medium"
    wild = told(losses(2000, lambda x: 0.25 + 0.2 * math.sin(60 * x), 0.4))
    assert wild["swinging"].confidence == "high"


def test_that_a_level_that_only_falls_does_not_swing() -> None:
    assert "swinging" not in told(losses(2000, lambda x: 0.3 * math.exp(-1.5 * x), 0.6))


def test_that_a_loss_that_stays_high_is_stuck_only_after_long() -> None:
    assert "stuck" in told(losses(1200, lambda _x: 0.3))
    assert "stuck" not in told(losses(900, lambda _x: 0.3))
    assert "stuck" not in told(losses(1200, lambda x: 0.6 - 0.3 * x))


def test_that_levels_mean_nothing_where_the_loss_is_another_one() -> None:
    values = losses(1200, lambda _x: 0.3)
    assert "stuck" not in told(values, family="flux1")
    for arguments in ({"min_snr_gamma": ("5",)}, {"loss_type": ("huber",)}):
        adviser = LossAdviser(LaunchedSettings(arguments=arguments), "sdxl")
        adviser.add(rows(values))
        assert not adviser.advice()


def test_that_a_loss_that_falls_below_what_is_realistic_is_told() -> None:
    found = told(losses(1500, lambda x: 0.08 * math.exp(-2 * x), 0.5))
    assert set(found) == {"too-low"}
    assert not told(losses(1500, lambda _x: 0.04, 0.5)), "low, and not falling"


def test_that_a_step_that_stands_out_is_told_with_its_number() -> None:
    values = losses(600, lambda _x: 0.1, 0.4)
    values[399] = 5.0
    found = told(values)
    assert (found["spikes"].step, found["spikes"].steps, found["spikes"].confidence) == (400, (400,), "low")
    values[449] = 7.0
    found = told(values)
    assert set(found) == {"spikes"}
    assert (found["spikes"].step, found["spikes"].steps) == (450, (400, 450))
    assert "step 450" in found["spikes"].sentence


@pytest.mark.parametrize(
    "values",
    [[0.0] * 3000, [0.1] * 3000, [math.nan] * 3000, [0.1, 0.2, 0.3]],
)
def test_that_a_curve_that_shows_no_learning_gives_no_advice(values: list[float]) -> None:
    assert not told(values, total=3000)


def test_that_a_loss_that_was_nothing_at_first_does_not_rise_from_it() -> None:
    assert not told([0.0] * 600 + [1e-9] + [0.0] * 600), "nor is anything many times of nothing"
    assert not told([0.0] * 500 + losses(1500, lambda _x: 0.1, 0.4))
    adviser = LossAdviser(LaunchedSettings(arguments={}), "sdxl")
    adviser.add([ValidationRow(step=step, loss=0.0) for step in range(100, 2000, 100)])
    assert not adviser.advice()


def test_that_spikes_are_told_some_at_most() -> None:
    values = losses(600, lambda _x: 0.1, 0.2)
    values[200::10] = [9.0] * len(values[200::10])
    assert len(told(values)["spikes"].steps) == loss_limits().spike.most


def validated(pairs: list[tuple[int, float]], values: list[float] | None = None) -> dict[str, LossAdvice]:
    adviser = LossAdviser(PLAIN, "sdxl")
    adviser.add(rows(values or []))
    adviser.add([ValidationRow(step=step, loss=loss) for step, loss in pairs])
    adviser.add([ValidationRow(step=9999, loss=None), GpuRow(index=0, uuid="GPU-1")])
    return {advice.id: advice for advice in adviser.advice(1000)}


def test_that_validation_that_has_turned_is_told_with_the_best_step() -> None:
    pairs = [(200, 0.2), (400, 0.15), (600, 0.16), (800, 0.17)]
    found = validated(pairs, losses(800, lambda x: 0.15 - 0.08 * x))
    assert (found["overfit"].step, found["overfit"].confidence) == (400, "high")
    assert validated(pairs)["overfit"].confidence == "medium"


@pytest.mark.parametrize(
    "pairs",
    [
        [(200, 0.2), (400, 0.15), (600, 0.16)],
        [(200, 0.2), (400, 0.18), (600, 0.17), (800, 0.16)],
        [(200, 0.2), (400, 0.15), (600, 0.151), (800, 0.152)],
        [(200, 0.2), (400, 0.15), (600, 0.2), (800, 0.16)],
        [(200, 0.2), (400, 0.19), (600, 0.15), (800, 0.2)],
    ],
)
def test_that_validation_that_may_still_turn_back_is_not_told(pairs: list[tuple[int, float]]) -> None:
    assert "overfit" not in validated(pairs)


def test_that_the_usual_part_is_named_once_the_run_is_there_and_nothing_tells_better() -> None:
    values = losses(1000, lambda _x: 0.1)
    found = told(values, 1000)
    assert (found["best-window"].confidence, found["best-window"].step) == ("low", 600)
    assert "600 to 800" in found["best-window"].sentence
    assert not told(values, 1500)
    assert not told(values[:300], 300)
    assert "best-window" not in validated([(500, 0.2)], values)


def test_that_only_a_moving_mean_needs_a_larger_difference() -> None:
    def told_of_mean(high: float) -> list[str]:
        adviser = LossAdviser(PLAIN, "sdxl")
        means = [0.1] * 600 + [high] * 200
        adviser.add([StepRow(step=n, avr_loss=mean) for n, mean in enumerate(means, start=1)])
        return [advice.id for advice in adviser.advice()]

    assert told_of_mean(0.4) == ["rising"]
    assert told_of_mean(0.16) == []


def test_that_losses_that_are_none_and_steps_that_come_again_are_passed_over() -> None:
    curve = LossCurve(loss_limits().spike)
    for step, loss in ((1, 0.1), (2, math.nan), (2, math.inf), (1, 0.9), (3, 0.3)):
        curve.add(step, loss)
    assert (curve.steps, curve.last_step) == (2, 3)
    assert curve.levels[0].variance == 0.0


@given(st.lists(st.floats(0.0, 10.0), min_size=1, max_size=400))
def test_that_levels_hold_every_step_in_little_room(values: list[float]) -> None:
    curve = LossCurve(loss_limits().spike.model_copy(update={"largest": 1e9}))
    for step, value in enumerate(values, start=1):
        curve.add(step, value)
    assert len(curve.levels) < MOST_LEVELS
    if curve.levels:
        whole = joined(curve.levels)
        part = values[: whole.steps]
        assert whole.mean == pytest.approx(sum(part) / len(part), abs=1e-9)
        assert whole.variance == pytest.approx(
            sum((v - whole.mean) ** 2 for v in part) / max(1, len(part) - 1), abs=1e-7
        )
        assert len({level.steps for level in curve.levels}) == 1


def test_that_a_runs_own_plan_says_what_its_losses_mean(tmp_path: Path) -> None:
    run = saved_run(Home(tmp_path / "home"), {"output_dir": str(tmp_path), "loss_type": "l2"})
    adviser = adviser_of(run)
    adviser.add(rows(losses(1200, lambda _x: 0.3)))
    assert not adviser.advice()
    run.plan.write_text('schema = 1\nfamily = "sdxl"\n')
    adviser = adviser_of(run)
    adviser.add(rows(losses(1200, lambda _x: 0.3)))
    assert [advice.id for advice in adviser.advice()] == ["stuck"]
    run.plan.unlink()
    assert not adviser_of(run).advice()


def test_that_how_sure_advice_is_has_words() -> None:
    assert confidence_words("high") == "Most likely"
    assert len({confidence_words(each) for each in ("high", "medium", "low")}) == 3
