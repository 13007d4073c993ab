"""Advice on memory: for each machine and plan the changes that somebody who knows would choose."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gui.engine.hardware.memory.advice import Advice, Advised, advise, high_of, spend
from gui.engine.hardware.memory.figures import load_figures
from gui.engine.hardware.memory.forecast import forecast
from gui.engine.hardware.memory.forecasts import MemoryForecast
from gui.engine.hardware.memory.ladder import Ways, ladder
from gui.engine.hardware.memory.question import MemoryQuestion
from gui.engine.hardware.memory.room import Room
from gui.engine.hardware.memory.tables import load_tables

TABLES, PRIOR = load_tables(), load_figures().prior("linux")
PAIRS = yaml.safe_load((Path(__file__).parents[1] / "data" / "memory_advice.yaml").read_text("utf-8"))
ORDER = [step.id for step in ladder()]
LORA = {
    "family": "sdxl",
    "width_px": 1024,
    "height_px": 1024,
    "checkpointing": True,
    "mixed_precision": "bf16",
    "latents_cached": True,
    "text_cached": True,
    "optimizer": {"name": "adamw8bit"},
    "network": {"rank": 16},
}


def ask(question: MemoryQuestion) -> MemoryForecast:
    return forecast(question, TABLES, PRIOR)


def advised(pair: dict) -> Advised:
    prior = load_figures().prior(pair.get("system"))
    gpu = pair["gpu_gib"]
    question = MemoryQuestion(**{"width_px": 1024, "height_px": 1024, **pair["question"]})
    room = Room.of(gpu, pair.get("free_gib", 0.95 * gpu), pair.get("system", "linux"))
    ways = Ways(**pair.get("ways", {}))
    return advise(question, room, ways, lambda asked: forecast(asked, TABLES, prior))


def lora(**changes) -> MemoryQuestion:
    return MemoryQuestion(**{**LORA, **changes})


def replayed(question: MemoryQuestion, advice: list[Advice], ways: Ways) -> MemoryQuestion | None:
    """Take the advice step by step; None where a step is not possible without the others."""
    steps = {step.id: step for step in ladder()}
    for each in advice:
        fitting = [
            option.question
            for option in steps[each.id].options(question, ways)
            if dict(option.changes) == each.changes
        ]
        if not fitting:
            return None
        question = fitting[0]
    return question


def test_that_there_are_forty_pairs_and_each_is_justified():
    assert len(PAIRS) >= 40
    assert all(pair["because"] for pair in PAIRS)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["what"])
def test_that_the_advice_is_that_of_somebody_who_knows(pair):
    found = advised(pair)
    assert found.fits
    assert [advice.id for advice in found.advice] == pair["steps"]
    assert found.changes.keys() == pair["changes"].keys()
    for target, wanted in pair["changes"].items():
        if target == "blocks_to_swap":
            assert wanted[0] <= found.changes[target] <= wanted[1]
        else:
            assert found.changes[target] == wanted


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair["steps"]], ids=lambda pair: pair["what"])
def test_that_advice_comes_in_the_order_of_cost_and_says_what_it_saves(pair):
    found = advised(pair)
    places = [ORDER.index(advice.id) for advice in found.advice if advice.id != "others"]
    assert places == sorted(places)
    for advice in found.advice:
        assert advice.cost
        assert advice.source
        assert advice.saves_gib > 0
        assert advice.changes or advice.reason


def test_that_a_plan_that_fits_needs_no_advice():
    found = advise(lora(), Room.of(24, 23.9, "linux"), Ways(), ask)
    assert (found.fits, found.advice, found.changes) == (True, (), {})
    assert found.before_gib == found.after_gib


def test_that_nothing_is_advised_about_what_is_unknown():
    found = advise(lora(width_px=0), Room.of(24, 23.9, "linux"), Ways(), ask)
    assert (found.advice, found.fits) == ((), None)
    assert found.unknown
    assert spend(lora(width_px=0), Room.of(24, 23.9, "linux"), Ways(), ask).unknown


def test_that_what_cannot_fit_is_told_with_all_that_helps():
    found = advise(lora(), Room.of(2, 1.9, "linux"), Ways(), ask)
    assert not found.fits
    assert found.after_gib < found.before_gib
    assert {"fp8", "resolution"} <= {advice.id for advice in found.advice}


def test_that_only_arguments_that_the_script_has_are_advised():
    found = advise(
        lora(checkpointing=False, text_cached=False),
        Room.of(8, 7.9, "linux"),
        Ways(known=frozenset({"sdpa"})),
        ask,
    )
    assert not {"checkpointing", "captions", "fp8", "swap"} & {advice.id for advice in found.advice}


def test_that_a_fused_optimizer_gets_a_smaller_batch_without_accumulation():
    question = lora(
        kind="full", network=None, full_half=True, batch=8, optimizer={"name": "adafactor", "fused": True}
    )
    found = advise(question, Room.of(12, 11.9, "linux"), Ways(), ask)
    assert "gradient_accumulation_steps" not in found.changes
    assert found.changes["dataset.batch_size"] < 8


def test_that_a_fused_pass_ends_accumulation():
    question = lora(kind="full", network=None, accumulation=4)
    found = advise(question, Room.of(24, 23.9, "linux"), Ways(can_fuse=True), ask)
    assert found.changes["fused_backward_pass"] is True
    assert found.changes["gradient_accumulation_steps"] == 1


def test_that_old_arguments_of_the_optimizer_do_not_stay():
    question = lora(optimizer={"name": "prodigy", "arguments": {"d_coef": "2"}}, network={"rank": 256})
    changes = advise(question, Room.of(16, 15.9, "linux"), Ways(), ask).changes
    assert changes["optimizer_args"] is None


def test_that_the_vae_is_given_one_image_at_a_time_first():
    question = lora(vae_batch=8, vae_single=True)
    found = advise(question, Room.of(12, 11.9, "linux"), Ways(), ask)
    assert found.changes == {"vae_batch_size": 1}


def test_that_less_is_swapped_on_several_gpus_or_beside_offloading():
    for more in ({"gpus": 2}, {"offloads": True}):
        question = lora(
            family="flux1", fp8=True, network={"module": "networks.lora_flux", "rank": 16}, **more
        )
        found = advise(question, Room.of(8, 7.9, "linux"), Ways(most_swapped=35), ask)
        assert "blocks_to_swap" not in found.changes


def test_that_hunyuan_is_given_its_own_fp8_and_anima_none():
    steps = {step.id: step for step in ladder()}
    hunyuan, anima = lora(family="hunyuan-image"), lora(family="anima")
    assert [option.changes for option in steps["fp8"].options(hunyuan, Ways())] == [{"fp8_scaled": True}]
    assert list(steps["fp8"].options(anima, Ways())) == []


def test_that_room_that_is_left_goes_to_speed_or_larger_batches():
    found = spend(lora(), Room.of(48, 47.9, "linux"), Ways(), ask)
    kinds = {advice.id: advice for advice in found.advice}
    assert set(kinds) == {"no-checkpointing", "larger-batch"}
    assert kinds["no-checkpointing"].changes == {"gradient_checkpointing": None}
    batch = kinds["larger-batch"].changes["dataset.batch_size"]
    assert batch in (8, 16, 32)
    assert f"{(batch) ** 0.5:.2f}" in kinds["larger-batch"].reason
    assert all(advice.saves_gib < 0 for advice in found.advice)
    assert high_of(ask(lora(batch=batch))) <= Room.of(48, 47.9, "linux").usable


def test_that_no_room_is_spent_where_none_is_left():
    found = spend(lora(), Room.of(8, 7.9, "linux"), Ways(), ask)
    assert found.advice == ()
    assert spend(lora(batch=64), Room.of(2000, 2000, "linux"), Ways(), ask).advice[0].id == "no-checkpointing"


@settings(max_examples=40, deadline=None)
@given(
    gib=st.sampled_from([6, 8, 10, 12, 16, 24, 48]),
    batch=st.integers(1, 8),
    rank=st.sampled_from([4, 16, 64, 128]),
    family=st.sampled_from(["sd15", "sdxl", "flux1", "sd3", "lumina2"]),
    checkpointing=st.booleans(),
    text_cached=st.booleans(),
    name=st.sampled_from(["adamw", "prodigy"]),
)
def test_that_no_piece_of_advice_could_be_left_out(
    gib, batch, rank, family, checkpointing, text_cached, name
):
    """A set that fits is minimal: without any one step of it the plan does not fit."""
    question = lora(
        family=family,
        batch=batch,
        checkpointing=checkpointing,
        text_cached=text_cached,
        optimizer={"name": name},
        network={"rank": rank, "trains_text": not text_cached},
    )
    room = Room.of(gib, gib, "linux")
    found = advise(question, room, Ways(most_swapped=20), ask)
    assert found.fits == (found.after_gib <= room.usable)
    if not found.fits:
        return
    for left_out in found.advice:
        rest = [advice for advice in found.advice if advice is not left_out]
        now = replayed(question, rest, Ways(most_swapped=20))
        assert now is None or high_of(ask(now)) > room.usable, left_out.id
