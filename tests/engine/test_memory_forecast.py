"""The memory forecast: each lever moves it as documented, nothing falls, and the unknown is called so."""

from __future__ import annotations

import json
import math
import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_asked import FIGURES, FLUX, PRIOR, TABLES, answer, asked, flux, full, named, parts, step

from gui.engine.errors import CannotRead
from gui.engine.hardware.memory.advice import high_of
from gui.engine.hardware.memory.correction import Estimate, MemoryCorrection
from gui.engine.hardware.memory.curves import between, beyond, rising
from gui.engine.hardware.memory.figures import load_figures
from gui.engine.hardware.memory.forecast import forecast, table_of, with_traced
from gui.engine.hardware.memory.question import (
    NetworkQuestion,
    OptimizerQuestion,
    SamplesQuestion,
)
from gui.engine.hardware.memory.tables import (
    PassResult,
    PassRow,
    PassSetting,
    StepSetting,
    load_tables,
)
from gui.engine.hardware.memory.words import parts_in_words, phase_words
from gui.engine.resources import resource_path

# Blocks, precision, what is trained


@pytest.mark.parametrize(("blocks", "gib"), [(16, 11.5), (22, 9.8), (28, 8.0)])
def test_that_swapped_blocks_leave_what_the_trainers_guide_says(blocks, gib):
    """Its tiers: 12, 10 and 8 GB for 16, 22 and 28 blocks of FLUX in fp8."""
    assert step(flux(blocks_to_swap=blocks)) == pytest.approx(gib, abs=0.6)


def test_that_a_swapped_block_of_flux_is_worth_what_was_counted():
    fp8 = step(flux()) - step(flux(blocks_to_swap=10))
    bf16 = step(flux(fp8=False)) - step(flux(fp8=False, blocks_to_swap=10))
    assert (fp8 / 10, bf16 / 10) == (pytest.approx(0.29, abs=0.01), pytest.approx(0.58, abs=0.01))
    assert FIGURES.families["flux1"].swapped_gib(35) < 22.17


@pytest.mark.parametrize(
    ("question", "gib"),
    [
        (flux(fp8=False, network=FLUX.model_copy(update={"rank": 4})), 26.1),
        (flux(batch=2), 18.9),
        (flux(), 16.2),
        (full(family="flux1", optimizer=OptimizerQuestion(name="adafactor", fused=True)), 27.0),
        (
            full(family="flux1", blocks_to_swap=8, optimizer=OptimizerQuestion(name="adafactor", fused=True)),
            22.5,
        ),
    ],
)
def test_that_known_trainings_of_flux_need_what_they_did(question, gib):
    assert step(question) == pytest.approx(gib, rel=0.05)


def test_that_fp8_halves_the_weights_of_a_lora_only():
    assert parts(asked(fp8=True)).weights == pytest.approx(parts(asked()).weights / 2, rel=0.02)
    assert parts(full(fp8=True)).weights == parts(full()).weights
    assert parts(asked(mixed_precision="no", fp8=True)).weights > parts(asked()).weights * 1.9


def test_that_fp8_without_checkpointing_is_worse_than_bf16():
    """Chroma 26.2 became 45.4 GiB, SDXL 13.0 became 26.2: each layer's copy is kept."""
    for question in (flux(width_px=512, height_px=512), asked()):
        stored = question.model_copy(update={"checkpointing": False})
        eight, sixteen = (step(stored.model_copy(update={"fp8": eight})) for eight in (True, False))
        assert eight > sixteen


def test_that_full_bf16_halves_the_adapter_and_removes_copies():
    single, half = (
        parts(asked(network=NetworkQuestion(rank=128))),
        parts(asked(network=NetworkQuestion(rank=128), full_half=True)),
    )
    assert half.adapter == pytest.approx(single.adapter / 2)
    assert step(full(full_half=True)) < step(full(full_half=False)) * 0.7


def test_that_autocast_copies_all_trained_weights():
    """SDXL with fused Adafactor: 11.8 GiB without autocast, 15.9 with it."""
    fused = OptimizerQuestion(name="adafactor", fused=True)
    mixed = step(full(full_half=False, optimizer=fused))
    single = step(full(full_half=False, mixed_precision="no", optimizer=fused))
    assert mixed - single == pytest.approx(4.05, abs=1.2)


def test_that_a_fused_backward_pass_keeps_no_gradients():
    """SDXL in bf16: 12.1 became 7.0 GiB, in fp32 21.6 became 16.6."""
    for half, saved in ((True, 4.9), (False, 5.0)):
        plain = step(full(full_half=half, optimizer=named("adafactor")))
        fused = step(full(full_half=half, optimizer=OptimizerQuestion(name="adafactor", fused=True)))
        assert plain - fused == pytest.approx(saved, abs=0.6)


def test_that_gradients_by_groups_are_there_only_in_part():
    plain = full(optimizer=named("adafactor"))
    grouped = full(optimizer=OptimizerQuestion(name="adafactor", groups=10))
    assert step(grouped) < step(plain) - 3


# Attention, checkpointing, batch, caches


def test_that_scores_of_attention_are_kept_without_sdpa():
    """SDXL at 1024: 30.1 instead of 12.9 GiB without checkpointing, 7.4 instead of 5.7 with it."""
    for stored, more in ((True, 17.2), (False, 1.65)):
        question = asked(checkpointing=not stored)
        kept = step(question.model_copy(update={"attention": "none"})) - step(question)
        assert kept == pytest.approx(more, rel=0.2)


def test_that_scores_are_estimated_where_they_were_not_traced():
    plain = asked(family="sd15", width_px=512, height_px=512)
    found = answer(plain.model_copy(update={"attention": "none"}))
    assert found.phase("step").likely > step(plain) + 0.5


def test_that_checkpoints_on_the_cpu_save_a_part_of_the_activations():
    assert 0.5 < step(flux()) - step(flux(offloads=True)) < 1.6


def test_that_accumulated_gradients_stay_through_the_forward_pass():
    one = asked(checkpointing=False, network=NetworkQuestion(rank=128))
    assert step(one.model_copy(update={"accumulation": 4})) - step(one) == pytest.approx(1.27, abs=0.2)


def test_that_caches_take_text_encoders_and_vae_off_the_gpu():
    """SDXL 1.53, FLUX 9.1, Lumina 4.87 GiB for the text encoders in bf16."""
    for question, gib in ((asked(), 1.53), (flux(), 9.1), (asked(family="lumina2"), 4.87)):
        resident = question.model_copy(update={"text_cached": False})
        assert parts(resident).weights - parts(question).weights == pytest.approx(gib, abs=0.03)
    assert parts(asked(latents_cached=False)).weights > parts(asked()).weights + 0.1


def test_that_the_text_encoders_weigh_half_in_fp8():
    assert parts(flux(text_cached=False, fp8_text=True)).weights == pytest.approx(11.08 + 4.55, abs=0.05)


def test_that_only_the_small_text_encoder_stays_while_t5_is_cached():
    trained = FLUX.model_copy(update={"trains_text": True})
    assert parts(flux(network=trained)).weights - parts(flux()).weights == pytest.approx(0.23, abs=0.01)


def test_that_several_gpus_have_buckets_of_gradients():
    one = parts(asked(network=NetworkQuestion(rank=128)))
    two = parts(asked(network=NetworkQuestion(rank=128), gpus=2))
    assert two.gradients - one.gradients == pytest.approx(1.27 + 0.5, abs=0.05)


def test_that_training_text_encoders_counts_them_fully():
    more = step(full(text_trained=True)) - step(full())
    assert more == pytest.approx(0.818 * (2 + 2 + 2.03) * 1e9 / 2**30, abs=0.6)


# Phases


def test_that_each_phase_is_there_when_the_run_has_it():
    names = [phase.name for phase in answer(asked(samples=SamplesQuestion())).phases]
    assert names == ["latents", "text", "load", "step", "samples", "saving"]
    bare = answer(asked(latents_cached=False, text_cached=False))
    assert [phase.name for phase in bare.phases] == ["load", "step", "saving"]
    assert set(phase_words()) == set(names)


def test_that_caching_the_captions_of_flux_is_what_t5_weighs():
    """The guide: T5 needs about 10 GB, so that 10 GB is the floor."""
    phase = answer(flux(blocks_to_swap=28)).phase("text")
    assert phase.likely == pytest.approx(9.8, abs=0.3)
    assert answer(flux(blocks_to_swap=28)).peak.name == "text"
    assert answer(flux(fp8_t5_file=True)).phase("text").likely < 6


def test_that_captions_are_encoded_in_the_batch_of_the_training_unless_one_is_given():
    """Source: train_util.py:1304."""
    one, four = answer(flux()).phase("text"), answer(flux(batch=4)).phase("text")
    assert four.parts.activations > one.parts.activations + 0.5
    assert answer(flux(batch=4, text_batch=1)).phase("text").parts == one.parts


def test_that_latents_in_full_precision_and_by_fours_need_what_was_traced():
    """SDXL at 1024, without context: 1.7 and 3.4 GiB for one, 6.2 and 12.4 for four."""
    for single, images, gib in ((False, 1, 1.7), (True, 1, 3.4), (False, 4, 6.2), (True, 4, 12.4)):
        phase = answer(asked(vae_single=single, vae_batch=images)).phase("latents")
        assert phase.likely - phase.parts.context == pytest.approx(gib, rel=0.1)


def test_that_a_sample_is_decoded_beside_the_training():
    question = asked(samples=SamplesQuestion(width_px=1024, height_px=1024))
    small = asked(samples=SamplesQuestion(width_px=512, height_px=512, guided=False))
    assert answer(question).phase("samples").likely > answer(small).phase("samples").likely + 1
    assert answer(question).phase("samples").likely > answer(question).phase("saving").likely + 2.5


def test_that_models_loaded_straight_to_the_gpu_arrive_in_16_bit():
    assert answer(flux(lowram=True)).phase("load").parts.weights > 22
    assert answer(flux()).phase("load").parts.weights < 12


def test_that_the_parts_make_the_whole_and_are_told():
    for phase in answer(asked(samples=SamplesQuestion())).phases:
        assert phase.parts.total == pytest.approx(phase.likely)
        assert phase.low <= phase.likely <= phase.high
    assert "weights 4.8" in parts_in_words(parts(asked()))


def test_that_a_correction_moves_the_forecast_by_its_sensitivity():
    before = answer(asked()).phase("step")
    measured = MemoryCorrection(
        context_gib=Estimate(mean=0.7, deviation=0.02),
        activation=Estimate(mean=1.2, deviation=0.02),
        fragmentation=Estimate(mean=1.5, deviation=0.1),
        runs=5,
    )
    after = forecast(asked(), TABLES, measured).phase("step")
    slope = before.sensitivity
    assert after.likely - before.likely == pytest.approx(
        0.2 + 0.2 * slope.activation + 0.5 * slope.fragmentation
    )
    assert after.high - after.low < before.high - before.low


def test_that_windows_is_taken_to_need_more_context():
    windows = forecast(asked(), TABLES, FIGURES.prior("windows")).phase("step")
    assert windows.parts.context > PRIOR.context_gib.mean
    assert FIGURES.prior(None) == PRIOR


# Unknown


@pytest.mark.parametrize(
    "changes",
    [
        {"family": "no-such-family"},
        {"width_px": 0},
        {"height_px": -5},
        {"width_px": 10**6},
        {"samples": SamplesQuestion(width_px=10**6)},
        {"batch": 0},
        {"batch": 10**9},
        {"vae_batch": 10**9},
        {"kind": "other"},
        {"obstacle": "because"},
        {"network": NetworkQuestion(module="my.module")},
        {"network": NetworkQuestion(module="lycoris.kohya", arguments={"algo": "boft"})},
    ],
)
def test_that_what_is_not_known_is_called_unknown(changes):
    found = forecast(asked(**changes), TABLES, PRIOR)
    assert found.unknown
    assert found.phases == ()
    assert found.peak is None
    assert found.phase("step") is None


def test_that_a_table_without_fitting_rows_is_unknown():
    bare = TABLES["sdxl"].model_copy(update={"steps": ()})
    assert forecast(asked(), {"sdxl": bare}, PRIOR).unknown
    assert forecast(asked(), {}, PRIOR).unknown


def test_that_families_share_the_table_of_what_they_extend_when_the_network_is_the_same():
    for name, whose in (("pony", "sdxl"), ("flux1-schnell", "flux1"), ("sdxl", "sdxl")):
        assert table_of(name, TABLES).family == whose
    other = TABLES["flux1"].model_copy(update={"parameters": {"network": 5}})
    assert table_of("flux1", {"flux1": other}) is None


@pytest.mark.parametrize("text", ["", "{", "schema: 1", "schema: 1\nschema: 1"])
def test_that_damaged_figures_are_named(tmp_path: Path, text):
    file = tmp_path / "figures.yaml"
    file.write_text(text, "utf-8")
    with pytest.raises(CannotRead, match=r"figures\.yaml"):
        load_figures(file)


def test_that_every_text_encoder_and_vae_of_a_family_has_figures():
    for shape in FIGURES.families.values():
        assert set(shape.text_encoders) <= set(FIGURES.text_encoders)
        assert shape.vae is None or shape.vae in FIGURES.vaes
        assert set(shape.swap) == set(shape.blocks)


# Curves, and that nothing falls when more is asked


@given(st.lists(st.tuples(st.integers(1, 50), st.floats(0, 100)), min_size=1))
def test_that_the_line_through_points_rises(points):
    line = rising(points)
    values = [beyond(line, place / 2) for place in range(1, 140)]
    assert all(low <= high + 1e-9 for low, high in pairwise(values))
    assert between(line, -1) == line[0][1]
    assert between(line, 1e9) == line[-1][1]


FAMILIES = sorted(TABLES)
questions = st.builds(
    lambda family, **changes: asked(
        **{"family": family, "network": NetworkQuestion(module="networks.lora", rank=changes.pop("rank"))}
        | changes
    ),
    family=st.sampled_from(FAMILIES),
    rank=st.integers(1, 256),
    batch=st.integers(1, 16),
    width_px=st.integers(256, 2048),
    height_px=st.integers(256, 2048),
    full_half=st.booleans(),
    fp8=st.booleans(),
    latents_cached=st.booleans(),
    text_cached=st.booleans(),
    attention=st.sampled_from(["sdpa", "none"]),
    optimizer=st.sampled_from(["adamw", "adamw8bit", "prodigy"]).map(named),
    accumulation=st.integers(1, 4),
)


@settings(max_examples=150, deadline=None)
@given(questions, st.sampled_from(["batch", "width_px", "height_px", "rank"]), st.integers(1, 300))
def test_that_more_of_anything_never_needs_less(question, lever, more):
    if lever == "rank":
        network = question.network.model_copy(update={"rank": question.network.rank + more})
        larger = question.model_copy(update={"network": network})
    else:
        larger = question.model_copy(update={lever: getattr(question, lever) + more})
    before, after = answer(question), answer(larger)
    for small, large in zip(before.phases, after.phases, strict=True):
        assert large.likely >= small.likely - 1e-9, (small.name, lever)
        assert small.low <= small.likely <= small.high
    peak = before.peak
    assert peak.low <= peak.likely <= peak.high < math.inf
    assert peak.high == high_of(before), "no phase needs more than is told of the whole run"


def test_that_a_forecast_is_a_document_that_can_be_read_again():
    found = answer(asked())
    assert type(found).model_validate_json(found.model_dump_json()) == found
    assert json.loads(found.model_dump_json())["family"] == "sdxl"


def test_that_tables_that_are_damaged_are_named(tmp_path: Path):
    folder = tmp_path / "memory"
    shutil.copytree(resource_path("memory"), folder)
    (folder / "sdxl.json").write_text("{}", "utf-8")
    with pytest.raises(CannotRead, match=r"sdxl\.json"):
        load_tables(folder)


def test_that_a_training_that_was_just_traced_takes_the_place_of_what_is_like_it():
    row = next(
        row
        for row in TABLES["sdxl"].steps
        if row.setting == StepSetting(width_px=1024, height_px=1024, text_tokens=77)
    )
    phases = {name: 2 * peak for name, peak in row.result.phases.items()}
    doubled = row.result.model_copy(
        update={"phases": phases, "peak": 2 * row.result.peak, "reserved": 2 * row.result.reserved}
    )
    tables = with_traced(TABLES, "sdxl", row.model_copy(update={"result": doubled}))
    question = asked(batch=row.setting.batch)
    traced = forecast(question, tables, PRIOR).phase("step").parts.activations
    assert traced > parts(question).activations + 1.5
    assert len(tables["sdxl"].steps) <= len(TABLES["sdxl"].steps)
    assert tables["flux1"] is TABLES["flux1"]


def test_that_passes_that_were_traced_count_instead_of_figures():
    def row(part: str, pixels: int | None, gib: float) -> PassRow:
        size = int(gib * 2**30)
        return PassRow(
            setting=PassSetting(part=part, width_px=pixels, height_px=pixels),
            result=PassResult(
                weights=2**20, peak=size, peak_operation="x", reserved=size + 2**20, operations=1
            ),
        )

    rows = (row("vae_encode", 512, 5.0), row("vae_encode", 1024, 20.0), row("vae_decode", 1024, 40.0))
    rows += (row("text_encode", None, 3.0),)
    table = TABLES["sdxl"].model_copy(update={"passes": rows})
    found = forecast(asked(samples=SamplesQuestion(width_px=1024, height_px=1024)), {"sdxl": table}, PRIOR)
    assert found.phase("latents").parts.activations == pytest.approx(20.0, rel=0.01)
    assert found.phase("samples").parts.activations == pytest.approx(40.0, rel=0.01)
    assert found.phase("text").parts.activations == pytest.approx(3.0, rel=0.01)
    without_vae = FIGURES.model_copy(
        update={"families": {"sdxl": FIGURES.families["sdxl"].model_copy(update={"vae": None})}}
    )
    bare = forecast(asked(latents_cached=False), TABLES, PRIOR, without_vae)
    assert bare.phase("latents") is None
    assert any("caching" in said for said in bare.basis)
