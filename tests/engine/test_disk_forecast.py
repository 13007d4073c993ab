"""What a run would write to disk."""

import pytest

from gui.engine.errors import CannotRead
from gui.engine.plan.families import families
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.model_sizes import model_size
from gui.engine.preflight.disk import forecast_disk
from gui.engine.preflight.facts import Facts
from gui.engine.preflight.view import View
from gui.engine.quantities import GIB
from gui.engine.trainer.catalogue import Catalogue

CATALOGUE = Catalogue.bundled()
MIB = 2**20
LORA = {"network_module": "networks.lora", "network_dim": 32, "save_precision": "fp16"}
UNET = {"network_train_unet_only": True}


def forecast(arguments, script="sdxl_train_network.py", images=None, **dataset):
    plan = TrainingPlan.model_validate(
        {"arguments": arguments, "dataset": {"resolution": 1024, "subsets": [{"image_dir": "/a"}], **dataset}}
    )
    facts = {"dataset": {"images": images, "repeats": 1}} if images else {}
    known = CATALOGUE.script(script) if script in CATALOGUE.scripts else None
    return forecast_disk(View(plan, Facts.model_validate(facts), script, known))


def test_that_every_family_has_sizes() -> None:
    assert all(model_size(name) is not None for name in families())
    assert model_size("no-such-family") is None


@pytest.mark.parametrize(
    ("script", "arguments", "expected"),
    [
        # Known from files that were published: rank 128 of SD 1.5 is 144 MiB, rank 32 of SDXL 218 MiB.
        ("train_network.py", {**LORA, "network_dim": 128}, 144 * MIB),
        ("sdxl_train_network.py", LORA, 218 * MIB),
        ("sdxl_train_network.py", {**LORA, **UNET}, 162 * MIB),
        ("sdxl_train_network.py", {**LORA, **UNET, "network_args": ["conv_dim=32"]}, 188 * MIB),
        ("sdxl_train_network.py", {**LORA, "network_train_text_encoder_only": True}, 55 * MIB),
        ("flux_train_network.py", {**LORA, **UNET, "network_module": "networks.lora_flux"}, 292 * MIB),
        ("sdxl_train.py", {"save_precision": "fp16"}, int(6.46 * GIB)),
        ("sdxl_train.py", {"full_bf16": True}, int(6.46 * GIB)),
        ("flux_train.py", {"save_precision": "bf16"}, int(22.2 * GIB)),
        ("train_control_net.py", {}, 1378 * MIB),
        ("sdxl_train_network.py", {"network_module": "networks.oft", "network_dim": 4}, 781 * MIB),
    ],
)
def test_that_a_save_is_as_large_as_such_files_are(script, arguments, expected) -> None:
    found = forecast(arguments, script)
    assert found is not None and found.save_bytes == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("script", "arguments"),
    [
        ("sdxl_train_network.py", {"network_module": "lycoris.kohya"}),
        ("sdxl_train_network.py", {"network_module": "networks.lora", "network_dim": -4}),
        ("sdxl_train_network.py", {"network_module": "networks.lora", "network_dim": "many"}),
        ("sdxl_train_control_net_lllite.py", {}),
    ],
)
def test_that_what_was_not_counted_is_not_known(script, arguments) -> None:
    found = forecast(arguments, script)
    assert found is not None and found.save_bytes is None and found.output_bytes == found.log_bytes


def test_that_a_new_word_is_tiny() -> None:
    found = forecast({}, "train_textual_inversion.py")
    assert found is not None and found.save_bytes == 0


def test_that_an_unknown_script_gives_no_forecast() -> None:
    assert forecast({}, "my_own_script.py") is None


@pytest.mark.parametrize(
    ("arguments", "images", "saves"),
    [
        ({"max_train_epochs": 10, "save_every_n_epochs": 1}, None, 10),
        ({"max_train_epochs": 10, "save_every_n_epochs": 3}, None, 4),
        ({"max_train_epochs": 10, "save_n_epoch_ratio": 5}, 7, 5),
        ({"max_train_epochs": 10, "save_every_n_epochs": 1, "save_last_n_epochs": 2}, None, 3),
        ({"max_train_steps": 1000, "save_every_n_steps": 100}, None, 11),
        ({"max_train_steps": 1000, "save_every_n_steps": 100, "save_last_n_steps": 200}, None, 5),
        ({"max_train_epochs": 10, "save_every_n_steps": 100}, 1000, 101),
        ({"max_train_epochs": 10, "save_every_n_steps": 100}, None, 1),
        ({"max_train_steps": 1000}, None, 1),
    ],
)
def test_that_saves_are_counted_as_the_trainer_makes_them(arguments, images, saves) -> None:
    found = forecast({**LORA, **arguments}, images=images)
    assert found is not None and found.saves == saves


@pytest.mark.parametrize(
    ("arguments", "states"),
    [
        ({}, 0),
        ({"save_state": True}, 10),
        ({"save_state": True, "save_last_n_epochs_state": 2}, 3),
        ({"save_state_on_train_end": True}, 1),
    ],
)
def test_that_states_are_counted(arguments, states) -> None:
    found = forecast({**LORA, "max_train_epochs": 10, "save_every_n_epochs": 1, **arguments})
    assert found is not None and found.states == states


def test_that_a_state_holds_what_the_optimizer_keeps() -> None:
    eight, full = (forecast({**LORA, "optimizer_type": name}) for name in ("AdamW8bit", "AdamW"))
    assert eight is not None and full is not None
    assert full.state_bytes == 2 * eight.state_bytes


def test_that_caches_on_disk_go_by_images() -> None:
    to_disk = {"cache_latents_to_disk": True, "cache_text_encoder_outputs_to_disk": True}
    found = forecast({**LORA, **to_disk}, images=100)
    assert found is not None
    assert found.caches_bytes == 100 * (128 * 128 * 4 + 158976) * 4
    flipped = forecast({**LORA, "cache_latents_to_disk": True}, images=100, flip_aug=True)
    assert flipped is not None and flipped.caches_bytes == 100 * 128 * 128 * 4 * 4 * 2
    memory = forecast({**LORA, "cache_latents": True}, images=100)
    assert memory is not None and memory.caches_bytes == 0
    flux = forecast({"cache_text_encoder_outputs_to_disk": True}, "flux_train_network.py", images=1000)
    assert flux is not None and flux.caches_bytes / GIB == pytest.approx(7.8, abs=0.1)
    long = forecast(
        {"cache_text_encoder_outputs_to_disk": True, "max_token_length": 225, "mixed_precision": "fp16"},
        images=1,
    )
    assert long is not None and long.caches_bytes == 158976 * 2 * 3


def test_that_samples_and_log_are_counted() -> None:
    arguments = {**LORA, "max_train_steps": 1000, "sample_prompts": "/p.txt", "sample_every_n_steps": 100}
    found = forecast({**arguments, "sample_at_first": True})
    assert found is not None
    assert found.samples_bytes == 11 * 4 * 512 * 512 * 1.5
    assert found.log_bytes == 1_000_000
    assert found.total_gib == pytest.approx((found.output_bytes + found.caches_bytes) / GIB)
    by_epochs = forecast({**arguments, "sample_every_n_epochs": 1}, images=500)
    assert by_epochs is not None and by_epochs.samples_bytes == 2 * 4 * 512 * 512 * 1.5


@pytest.mark.parametrize(("text", "reason"), [("a: [", "did not find"), ("schema: 1\nfamilies: {x: 1}", "x")])
def test_that_a_broken_file_of_sizes_is_named(tmp_path, text, reason) -> None:
    path = tmp_path / "sizes.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CannotRead, match=reason):
        model_size("sdxl", path)
