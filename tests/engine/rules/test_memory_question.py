"""A plan is read for the memory forecast as the trainer would read it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table import make_plan, make_view

from gui.engine.errors import CannotRead
from gui.engine.hardware.memory.correction import Estimate
from gui.engine.hardware.memory.fit import Fitted
from gui.engine.hardware.memory.learning import MemoryLearning
from gui.engine.hardware.memory.question import MemoryQuestion
from gui.engine.hardware.memory.room import Room
from gui.engine.plan.changes import apply_changes
from gui.engine.preflight.estimate import estimate_of, forecast_of
from gui.engine.preflight.facts import Facts
from gui.engine.preflight.rules import memory_forecast, memory_needs
from gui.engine.preflight.rules.memory_needs import advised, forecast_memory, room_of, ways_of
from gui.engine.preflight.rules.memory_question import largest_batch, question_of
from gui.engine.preflight.view import View
from gui.engine.trainer.catalogue import Catalogue

LORA = {
    "mixed_precision": "bf16",
    "network_module": "networks.lora",
    "gradient_checkpointing": True,
    "sdpa": True,
}
GPU = {"vram_gib": 12.0, "free_gib": 11.4, "uuid": "GPU-1"}


def asked(
    arguments=None, script="sdxl_train_network.py", dataset=None, family="sdxl", **facts
) -> MemoryQuestion:
    return question_of(make_view(make_plan(arguments, dataset, family=family), script, **facts))


@pytest.mark.parametrize(
    ("arguments", "script", "wanted"),
    [
        ({}, "sdxl_train_network.py", {"kind": "lora", "mixed_precision": "no", "attention": "none"}),
        ({}, "sdxl_train.py", {"kind": "full", "network": None, "text_trained": False}),
        ({"train_text_encoder": True}, "sdxl_train.py", {"text_trained": True}),
        ({}, "train_db.py", {"kind": "full", "text_trained": True}),
        ({"stop_text_encoder_training": -1}, "train_db.py", {"text_trained": False}),
        ({}, "sdxl_train_textual_inversion.py", {"kind": "textual_inversion", "network": None}),
        ({}, "sdxl_train_control_net.py", {"kind": "other"}),
        ({"mem_eff_attn": True}, "sdxl_train_network.py", {"attention": "sdpa"}),
        ({}, "flux_train_network.py", {"attention": "sdpa"}),
        ({"fp8_base": True}, "flux_train_network.py", {"fp8": True, "fp8_text": True}),
        ({"fp8_base_unet": True}, "flux_train_network.py", {"fp8": True, "fp8_text": False}),
        ({"fp8_scaled": True}, "hunyuan_image_train_network.py", {"fp8": True, "fp8_text": False}),
        ({"fp8_base": True}, "flux_train.py", {"fp8": False}),
        (
            {"full_fp16": True, "mixed_precision": "fp16"},
            "sdxl_train.py",
            {"full_half": True, "mixed_precision": "fp16"},
        ),
        ({"cache_latents_to_disk": True}, "sdxl_train.py", {"latents_cached": True}),
        ({"cache_text_encoder_outputs_to_disk": True}, "sdxl_train.py", {"text_cached": True}),
        ({"no_half_vae": True, "vae_batch_size": 4}, "sdxl_train.py", {"vae_single": True, "vae_batch": 4}),
        ({"gradient_accumulation_steps": 8}, "sdxl_train.py", {"accumulation": 8}),
        ({"gradient_accumulation_steps": -8}, "sdxl_train.py", {"accumulation": 1}),
        ({"cpu_offload_checkpointing": True}, "flux_train.py", {"offloads": True}),
        ({"blocks_to_swap": 12}, "flux_train.py", {"blocks_to_swap": 12}),
        ({"lowram": True}, "sdxl_train_network.py", {"lowram": True}),
        ({"blocks_to_swap": 1e300}, "flux_train.py", {"blocks_to_swap": 10**9}),
    ],
)
def test_that_arguments_are_read_as_the_trainer_reads_them(arguments, script, wanted):
    family = "flux1" if script.startswith("flux") else "hunyuan-image" if "hunyuan" in script else "sdxl"
    family = "sd15" if script == "train_db.py" else family
    found = asked(arguments, script, family=family)
    assert {name: getattr(found, name) for name in wanted} == wanted


@pytest.mark.parametrize(
    ("arguments", "name", "fused", "groups"),
    [
        ({}, "adamw", False, 0),
        ({"use_8bit_adam": True}, "adamw8bit", False, 0),
        ({"optimizer_type": "bitsandbytes.optim.Lion8bit"}, "lion8bit", False, 0),
        ({"optimizer_type": "Adafactor", "fused_backward_pass": True}, "adafactor", True, 0),
        ({"fused_optimizer_groups": 10}, "adamw", False, 10),
    ],
)
def test_that_the_optimizer_is_known_by_its_last_name(arguments, name, fused, groups):
    optimizer = asked(arguments, "sdxl_train.py").optimizer
    assert (optimizer.name, optimizer.fused, optimizer.groups) == (name, fused, groups)


def test_that_a_lora_does_nothing_fused():
    assert not asked({"fused_backward_pass": True}).optimizer.fused


def test_that_the_network_is_what_the_plan_says():
    network = asked(
        {**LORA, "network_dim": 32, "network_args": ["conv_dim=4", "algo"], "network_train_unet_only": True}
    ).network
    assert (network.rank, network.arguments, network.trains_text) == (32, {"conv_dim": "4"}, False)
    assert asked({"network_train_text_encoder_only": True}).network.trains_model is False
    assert asked(LORA).network.rank == 4


def test_that_cached_captions_leave_only_families_with_a_second_encoder_training_it():
    cached = {**LORA, "cache_text_encoder_outputs": True}
    assert not asked(cached).network.trains_text
    assert asked(
        {**cached, "network_module": "networks.lora_flux"}, "flux_train_network.py", family="flux1"
    ).network.trains_text
    assert not asked(cached, "flux_train_network.py", family="chroma").network.trains_text


def test_that_the_bucket_with_most_pixels_counts():
    known = {"image_dir": "/images/mira", "images": 4, "sizes": {"400x300": 3, "3000x1000": 1}}
    dataset = {"enable_bucket": True, "bucket_no_upscale": True, "max_bucket_reso": 2048, "batch_size": 3}
    view = make_view(make_plan(LORA, dataset), dataset={"subsets": [known]})
    (width, height), batch = largest_batch(view)
    assert batch == 3
    assert (width, height) != (1024, 1024)
    assert 900_000 < width * height <= 1024 * 1024


def test_that_small_images_need_less_where_nothing_is_enlarged():
    known = {"image_dir": "/images/mira", "images": 3, "sizes": {"512x512": 3}}
    dataset = {"enable_bucket": True, "bucket_no_upscale": True}
    view = make_view(make_plan(LORA, dataset), dataset={"subsets": [known]})
    assert largest_batch(view) == ((512, 512), 1)


def test_that_the_largest_of_several_datasets_counts_and_impossible_buckets_are_no_obstacle():
    subset = {"image_dir": "/images/mira"}
    datasets = [
        {"resolution": 512, "batch_size": 8, "subsets": [subset]},
        {"resolution": 1024, "batch_size": 1, "subsets": [subset]},
    ]
    assert largest_batch(make_view(make_plan(LORA, {"datasets": datasets, "resolution": None}))) == (
        (512, 512),
        8,
    )
    known = {"image_dir": "/images/mira", "images": 1, "sizes": {"512x512": 1}}
    dataset = {"enable_bucket": True, "min_bucket_reso": 2048}
    view = make_view(make_plan(LORA, dataset), dataset={"subsets": [known]})
    assert largest_batch(view) == ((1024, 1024), 1)


def test_that_the_argument_counts_beside_a_dataset_file():
    arguments = {**LORA, "dataset_config": "data.toml", "train_batch_size": 5, "resolution": "768,512"}
    view = make_view(make_plan(arguments, {"resolution": None, "subsets": []}))
    assert largest_batch(view) == ((768, 512), 5)
    assert largest_batch(make_view(make_plan(LORA, {"resolution": "wide"}))) == ((0, 0), 1)


@pytest.mark.parametrize(
    ("arguments", "fact", "fp8"),
    [
        ({"fp8_base": True}, {"F8_E4M3": 200}, True),
        ({"fp8_base": True}, {"F16": 200}, False),
        ({"fp8_base": True}, None, False),
        ({"fp8_base": True, "fp8_base_unet": True}, {"F8_E4M3": 200}, False),
        ({}, {"F8_E4M3": 200}, False),
        ({"fp8_vl": True}, None, True),
    ],
)
def test_that_t5_stays_in_fp8_when_its_file_is(arguments, fact, fp8):
    facts = {"model": [{"argument": "t5xxl", "dtypes": fact}]} if fact else {}
    assert asked(arguments, "flux_train_network.py", family="flux1", **facts).fp8_t5_file is fp8


def test_that_samples_are_of_the_size_of_the_training():
    wanted = {**LORA, "sample_prompts": "p.txt", "sample_every_n_epochs": 1}
    assert asked(wanted).samples.width_px == 1024
    assert asked(wanted).samples.guided
    assert not asked(wanted, "flux_train_network.py", family="flux1").samples.guided
    assert asked({**LORA, "sample_prompts": "p.txt"}).samples is None


@pytest.mark.parametrize(
    ("sizes", "family", "size"),
    [
        ([(768, 1024), (1152, 896), (None, 64)], "sdxl", (1152, 896)),
        ([(None, None)], "sdxl", (512, 512)),
        ([(None, 2048)], "sdxl", (512, 2048)),
        ([(None, None)], "lumina2", (1024, 1024)),
    ],
)
def test_that_samples_are_of_the_largest_size_that_a_prompt_names(sizes, family, size):
    wanted = {**LORA, "sample_prompts": "/p.txt", "sample_every_n_steps": 10}
    script = {"sdxl": "sdxl_train_network.py", "lumina2": "lumina_train_network.py"}[family]
    found = asked(
        wanted, script, family=family, text=[{"argument": "sample_prompts", "sizes_px": sizes}]
    ).samples
    assert (found.width_px, found.height_px) == size


@pytest.mark.parametrize("more", [{"deepspeed": True}, {"torch_compile": True}])
def test_that_what_was_not_traced_is_said(more):
    view = make_view(make_plan({**LORA, **more}, family="sdxl"), gpu=[GPU])
    assert forecast_memory(view).unknown
    assert forecast_of(view).vram_gib is None


def test_that_nothing_is_forecast_without_a_gpu_or_for_the_practice_trainer():
    plan = make_plan(LORA, family="sdxl")
    for facts in ({"gpu": []}, {"gpu": [GPU], "trainer": {"practice": True}}):
        assert forecast_memory(make_view(plan, **facts)).unknown
        assert forecast_of(make_view(plan, **facts)).vram_gib is None
    assert forecast_of(make_view(plan)).vram_gib is not None  # on whatever machine


@pytest.mark.parametrize(
    ("arguments", "dataset", "why"),
    [
        ({}, {"batch_size": "two"}, "batch"),
        ({}, {"batch_size": 1.5}, "batch"),
        ({}, {"resolution": [10**6, 10**6]}, "resolution"),
        ({}, {"resolution": "wide"}, "resolution"),
        ({"network_dim": 0}, {}, "network_dim"),
        ({"network_dim": "many"}, {}, "network_dim"),
        ({"gradient_accumulation_steps": -1}, {}, "gradient_accumulation_steps"),
        ({"vae_batch_size": 0}, {}, "vae_batch_size"),
    ],
)
def test_that_of_numbers_that_no_trainer_takes_nothing_is_made_up(arguments, dataset, why):
    view = make_view(make_plan({**LORA, **arguments}, dataset, family="sdxl"), gpu=[GPU])
    found = estimate_of(view)
    assert why in found.unknown and not found.phases
    assert (found.forecast.vram_gib, found.advice, found.left_over) == (None, None, None), "nothing fits"


def test_that_no_more_blocks_are_swapped_than_can_be():
    arguments = {**LORA, "network_module": "networks.lora_flux", "blocks_to_swap": 99}
    view = make_view(make_plan(arguments, family="flux1"), "flux_train_network.py", gpu=[GPU])
    assert "at most 35 blocks" in forecast_memory(view).unknown


SWITCHES = st.dictionaries(
    st.sampled_from(
        ["gradient_checkpointing", "sdpa", "cache_latents", "network_train_unet_only", "fp8_base"]
    ),
    st.just(True),
)


@settings(max_examples=30, deadline=None)
@given(
    SWITCHES,
    st.sampled_from(["AdamW", "AdamW8bit", "Prodigy"]),
    st.sampled_from([512, 768, 1024]),
    st.integers(1, 8),
    st.sampled_from([4.0, 8.0, 12.0, 24.0, 192.0]),
    st.sampled_from([0.3, 0.95, 1.0]),
)
def test_that_estimate_check_and_advice_say_the_same(switches, optimizer, side, batch, gib, share):
    arguments = {"mixed_precision": "bf16", "network_module": "networks.lora", "network_dim": 32}
    arguments |= {**switches, "optimizer_type": optimizer}
    plan = make_plan(arguments, {"resolution": [side, side], "batch_size": batch}, family="sdxl")
    gpu = {"vram_gib": gib, "free_gib": gib * share}
    view = make_view(plan, os="linux", gpu=[gpu])
    found, peak, room = estimate_of(view), forecast_memory(view).peak, room_of(view)
    told = found.forecast.vram_gib
    assert (told.low, told.likely, told.high) == tuple(
        round(each, 2) for each in (peak.low, peak.likely, peak.high)
    )
    checks = (memory_forecast.check_vram, memory_forecast.check_before, memory_forecast.check_samples)
    assert any(list(check(view)) for check in checks) is (peak.high > room.usable)
    if found.advice is None:
        return
    assert found.advice.before_gib == peak.high > room.usable
    usable = room.total - room.reserve if found.advice.advice[0].id == "others" else room.usable
    after = forecast_memory(make_view(apply_changes(plan, found.advice.changes), os="linux", gpu=[gpu])).peak
    assert after.high == pytest.approx(found.advice.after_gib)
    assert found.advice.fits is (after.high <= usable)


def test_that_damaged_figures_leave_the_memory_unknown(monkeypatch):
    def damaged() -> None:
        raise CannotRead("figures.yaml", "it is damaged")

    monkeypatch.setattr(memory_needs, "load_figures", damaged)
    view = make_view(make_plan(LORA, family="sdxl"), gpu=[GPU])
    assert "figures.yaml" in estimate_of(view).unknown
    assert not list(memory_forecast.check_vram(view))


def test_that_the_gpu_with_least_room_decides_of_those_that_train():
    large, small = {"vram_gib": 24.0, "uuid": "GPU-1"}, {"index": 1, "vram_gib": 8.0, "uuid": "GPU-2"}

    def total(launch, **facts) -> float | None:
        plan = make_plan(LORA, family="sdxl", launch=launch)
        room = room_of(make_view(plan, gpu=[large, small], **facts))
        return room.total if room else None

    assert total({"gpu_ids": [0]}) == 24.0
    assert total({"gpu_ids": [1]}) == 8.0
    assert total({"gpu_ids": [0, 1]}) == 24.0, "one process trains on one GPU"
    assert total({"gpu_ids": [0, 1], "num_processes": 2}) == 8.0
    assert total({"num_processes": 2}) == 8.0
    assert total({"env": {"CUDA_VISIBLE_DEVICES": "GPU-2"}}) == 8.0
    assert total({}, gpu_choice={"CUDA_VISIBLE_DEVICES": "GPU-2"}) == 8.0
    assert total({"gpu_ids": [0]}, gpu_choice={"CUDA_VISIBLE_DEVICES": "GPU-2"}) == 24.0
    assert total({}, gpu_choice={"CUDA_VISIBLE_DEVICES": ""}) is None
    large["lost"] = True
    assert total({"num_processes": 2}) is None, "nothing fits a GPU that does not answer"


def test_that_room_is_what_nobody_uses():
    plan = make_plan(LORA, family="sdxl")
    assert room_of(make_view(plan, gpu=[GPU])) == Room(total=12.0, free=11.4, reserve=1.0)
    assert room_of(make_view(plan, gpu=[{"vram_gib": 80.0}])).reserve == pytest.approx(2.4)
    assert room_of(make_view(plan, os="windows", gpu=[{"vram_gib": 8.0, "free_gib": 9.0}])).free == 8.0
    for facts in ({}, {"gpu": []}, {"gpu": [{"name": "unknown"}]}, {"gpu": [{"vram_gib": 0.0}]}):
        view = make_view(plan, **facts)
        assert room_of(view) is None
        assert advised(view) is None


def test_that_ways_are_those_of_the_plan():
    ways = ways_of(
        make_view(
            make_plan(LORA, {"shuffle_caption": True}, family="sdxl"), gpu=[{"compute_capability": "7.5"}]
        )
    )
    assert (ways.caption_changes, ways.image_changes, ways.bf16, ways.most_swapped) == (True, False, False, 0)
    assert ways.batch_target == "dataset.batch_size"
    assert not ways.knows("blocks_to_swap")
    flux = ways_of(make_view(make_plan(family="flux1"), "flux_train.py"))
    assert (flux.most_swapped, flux.can_fuse, flux.bf16) == (35, True, None)
    one = {"datasets": [{"resolution": 512, "random_crop": True, "subsets": [{"image_dir": "/a"}]}]}
    single = ways_of(make_view(make_plan(LORA, one)))
    assert (single.batch_target, single.image_changes) == ("dataset.datasets.0.batch_size", True)


def test_that_measured_runs_correct_the_forecast():
    plan = make_plan(LORA, family="sdxl")
    plain = make_view(plan, os="linux", gpu=[GPU])
    fitted = Fitted(fragmentation=Estimate(mean=3.0, deviation=0.1))
    view = View(
        plan,
        Facts.model_validate({"os": "linux", "gpu": [GPU]}),
        "sdxl_train_network.py",
        Catalogue.bundled().script("sdxl_train_network.py"),
        learning=MemoryLearning(schema=1, gpu="GPU-1", fitted=fitted),
    )
    assert forecast_memory(view).phase("step").likely > forecast_memory(plain).phase("step").likely + 0.3


def test_that_an_estimate_has_all_that_is_known():
    arguments = {**LORA, "cache_latents": True, "max_train_epochs": 2, "network_dim": 8}
    facts = {"os": "linux", "gpu": [GPU], "dataset": {"images": 10, "repeats": 10}, "seconds_per_step": 2.0}
    found = estimate_of(make_view(make_plan(arguments, family="sdxl"), **facts))
    assert found.unknown is None
    assert found.peak == "step"
    assert found.forecast.vram_gib.low < found.forecast.vram_gib.likely < found.forecast.vram_gib.high
    assert found.forecast.seconds == 2.0 * found.steps.total_steps
    assert found.basis
    assert found.room.total == 12.0
    assert found.advice is None


def test_that_an_estimate_of_what_does_not_fit_has_advice():
    arguments = {**LORA, "gradient_checkpointing": None, "cache_latents": True, "network_dim": 16}
    found = estimate_of(make_view(make_plan(arguments, family="sdxl"), os="linux", gpu=[GPU]))
    assert found.advice.fits
    assert found.advice.changes["gradient_checkpointing"] is True
    assert found.forecast.seconds is None


def test_that_damaged_tables_make_the_forecast_unknown_and_nothing_fail(tmp_path, monkeypatch):
    def damaged():
        raise CannotRead(tmp_path / "sdxl.json", "it is damaged")

    monkeypatch.setattr(memory_needs, "load_tables", damaged)
    for dataset in (None, {"resolution": None}):
        view = make_view(make_plan(LORA, dataset, family="sdxl"), gpu=[GPU])
        assert "sdxl.json" in estimate_of(view).unknown
        assert estimate_of(view).advice is None
        assert not any(finding for rule in memory_forecast.RULES for finding in rule.check(view))
