"""How a model file was made is read from its metadata, whatever somebody wrote there."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.trainer.model_metadata import ModelFacts, model_facts, number_of

FROM_THE_COMMAND_LINE = {
    "modelspec.title": "demo",
    "modelspec.architecture": "stable-diffusion-v1/lora",
    "ss_base_model_version": "sd_v1",
    "ss_batch_size_per_device": "1",
    "ss_dataset_dirs": '{"1_sks thing": {"n_repeats": 1, "img_count": 10}}',
    "ss_enable_bucket": "False",
    "ss_epoch": "3",
    "ss_learning_rate": "0.0001",
    "ss_max_bucket_reso": "None",
    "ss_max_train_steps": "30",
    "ss_mixed_precision": "no",
    "ss_network_alpha": "1.0",
    "ss_network_dim": "4",
    "ss_network_module": "networks.lora",
    "ss_new_sd_model_hash": "6102de1013fa",
    "ss_num_train_images": "10",
    "ss_optimizer": "torch.optim.adamw.AdamW",
    "ss_output_name": "other",
    "ss_resolution": "(64, 64)",
    "ss_sd_model_name": "sd15-random.safetensors",
    "ss_seed": "42",
    "ss_steps": "30",
    "ss_tag_frequency": '{"1_sks thing": {"sks thing": 10, "circles": 10}}',
    "ss_training_comment": "None",
    "ss_training_finished_at": "1796004519.38",
    "ss_unet_lr": "None",
}


def test_that_what_a_real_trainer_writes_is_read() -> None:
    facts = model_facts(FROM_THE_COMMAND_LINE)
    assert facts == ModelFacts(
        title="demo",
        architecture="stable-diffusion-v1/lora",
        base_model="sd15-random.safetensors",
        base_sha256="6102de1013fa",
        base_version="sd_v1",
        resolution="64x64",
        buckets="off",
        network_module="networks.lora",
        network_dim="4",
        network_alpha="1.0",
        learning_rate="0.0001",
        optimizer="torch.optim.adamw.AdamW",
        precision="no",
        seed="42",
        steps=30,
        epoch=3,
        max_steps=30,
        images=10,
        batch_size="1",
        finished="2026-11-30T02:08:39+00:00",
        caption_words=2,
        folders=("1_sks thing",),
    )


def test_that_several_datasets_are_summed_up() -> None:
    datasets = [
        {"resolution": [1024, 1024], "enable_bucket": True, "min_bucket_reso": 256, "max_bucket_reso": 2048},
        {"resolution": [768, 768], "enable_bucket": False, "batch_size_per_device": 2},
        "no dataset",
    ]
    facts = model_facts(
        {"ss_datasets": json.dumps(datasets), "ss_resolution": "512", "ss_output_name": "mira"}
    )
    assert facts.resolution == "1024x1024, 768x768"
    assert facts.buckets == "256-2048, off"
    assert facts.batch_size == "2"
    assert facts.title == "mira"


@pytest.mark.parametrize(
    ("text", "shown"), [("512", "512"), ("512,768", "512x768"), ("[512, 768]", "512x768"), ("large", "large")]
)
def test_that_a_resolution_is_shown_in_one_form(text: str, shown: str) -> None:
    assert model_facts({"ss_resolution": text}).resolution == shown


keys = st.sampled_from([*FROM_THE_COMMAND_LINE, "ss_datasets", "anything"])
scraps = st.sampled_from(
    ["[[[[", '{"a":', "[null]", '[{"resolution": 5}]', "1e400", "-1", "nan", "٣", '{"a": 1}']
)


@given(st.dictionaries(keys, scraps | st.text(max_size=30), max_size=12))
def test_that_nothing_that_stands_there_is_an_error(metadata: dict[str, str]) -> None:
    facts = model_facts(metadata)
    assert ModelFacts.model_validate_json(facts.model_dump_json()) == facts


def test_that_a_deeply_nested_value_is_no_error() -> None:
    assert model_facts({"ss_datasets": "[" * 200_000}).resolution is None


@pytest.mark.parametrize(
    ("text", "number"), [("7", 7), ("", None), ("-7", None), ("9" * 30, None), ("٣", None)]
)
def test_that_counts_are_counts(text: str, number: int | None) -> None:
    assert number_of({"ss_steps": text}, "ss_steps") == number
