"""What is trained is counted, and what optimizers keep of it is what was measured."""

from __future__ import annotations

import pytest
from memory_asked import answer, asked, full, named, parts, step

from gui.engine.hardware.memory.question import NetworkQuestion


@pytest.mark.parametrize(
    ("name", "arguments", "half", "each"),
    [
        ("adamw", {}, False, 8),
        ("adamw", {}, True, 4),
        ("adamw8bit", {}, False, 2.03),
        ("lion", {}, False, 4),
        ("lion8bit", {}, True, 1.016),
        ("adafactor", {}, False, 0.005),
        ("adafactor", {"beta1": "0.9"}, False, 4.005),
        ("came", {}, False, 4.01),
        ("prodigy", {}, False, 16),
        ("prodigy", {"slice_p": "11"}, False, 8.73),
        ("prodigy", {"slice_p": "11"}, True, 4.36),
        ("prodigyplusschedulefree", {}, True, 2.37),
        ("dadaptlion", {}, False, 8),
        ("sgdnesterov", {}, True, 2),
    ],
)
def test_that_an_optimizer_keeps_what_was_measured_of_it(name, arguments, half, each):
    question = asked(full_half=half, optimizer=named(name, **arguments))
    saving = answer(question).phase("saving").parts
    numbers = 16 * 2_659_840
    assert saving.optimizer == pytest.approx(numbers * each / 2**30, rel=0.01)


def test_that_an_unknown_optimizer_is_taken_for_adamw_and_doubted():
    known, unknown = (answer(full(optimizer=named(name))).phase("step") for name in ("lion", "my.newest"))
    assert unknown.high - unknown.low > 2 * (known.high - known.low)


def test_that_adamw_makes_a_list_of_its_own_in_its_step():
    listed = full(optimizer=named("adamw"))
    assert step(listed) - step(full(optimizer=named("adamw", fused="True"))) == pytest.approx(4.4, abs=0.8)


def test_that_adafactor_keeps_more_of_convolutions():
    kept = answer(full(optimizer=named("adafactor"))).phase("saving").parts.optimizer
    assert kept == pytest.approx(0.91, abs=0.03)


@pytest.mark.parametrize(
    ("family", "network", "numbers"),
    [
        ("sdxl", {"rank": 1}, 2_659_840),
        ("sdxl", {"rank": 1, "trains_text": True}, 2_659_840 + 903_168),
        ("sdxl", {"rank": 1, "trains_model": False, "trains_text": True}, 903_168),
        ("sdxl", {"rank": 2, "arguments": {"conv_dim": "3"}}, 2 * 2_718_400 + 3 * 355_840),
        ("sdxl", {"arguments": {"block_dims": ",".join(["2"] * 23)}}, 2 * 2_659_840),
        (
            "sdxl",
            {"rank": 1, "arguments": {"conv_block_dims": ",".join(["2"] * 23)}},
            2_659_840 + 2 * 355_840,
        ),
        ("flux1", {"rank": 1}, 4_786_176),
        ("flux1", {"rank": 1, "arguments": {"train_blocks": "single"}}, 2_101_248),
        ("flux1", {"rank": 1, "arguments": {"img_attn_dim": "3"}}, 4_786_176 + 2 * 350_208),
        ("flux1", {"rank": 1, "arguments": {"train_double_block_indices": "none"}}, 2_101_248),
        (
            "flux1",
            {"rank": 1, "arguments": {"train_blocks": "single", "train_single_block_indices": "0,2-3, 5-99"}},
            2_101_248 * 36 / 38,
        ),
        (
            "flux1",
            {"rank": 1, "arguments": {"train_blocks": "single", "train_single_block_indices": "x-y"}},
            2_101_248,
        ),
        ("flux1", {"rank": 1, "trains_text": True, "arguments": {"train_t5xxl": "True"}}, 6_770_688),
        ("sd3", {"rank": 1, "arguments": {"train_block_indices": "0-11"}}, 1_671_168 / 2),
        ("lumina2", {"rank": 1, "arguments": {"train_blocks": "refiners"}}, 111_104 + 90_624),
        (
            "sdxl",
            {"rank": 2, "module": "lycoris.kohya", "arguments": {"algo": "loha", "conv_dim": "0"}},
            4 * 2_718_400,
        ),
        ("sdxl", {"rank": 1, "module": "lycoris.kohya", "arguments": {"algo": "full"}}, 2_567_463_684),
    ],
)
def test_that_the_numbers_of_a_network_are_counted(family, network, numbers):
    network = NetworkQuestion(**{"module": "networks.lora", **network})
    assert parts(asked(family=family, network=network)).adapter == pytest.approx(
        numbers * 4 / 2**30, rel=0.001
    )


def test_that_half_of_lora_fa_is_not_trained():
    network = NetworkQuestion(module="networks.lora_fa", rank=128)
    plain = answer(asked(network=NetworkQuestion(rank=128))).phase("saving").parts
    frozen = answer(asked(network=network)).phase("saving").parts
    assert frozen.adapter == plain.adapter
    assert frozen.optimizer == pytest.approx(plain.optimizer / 2)


@pytest.mark.parametrize("module", ["networks.oft", "lycoris.kohya"])
def test_that_networks_whose_size_is_estimated_are_doubted(module):
    arguments = {"algo": "lokr", "factor": "8"} if module.startswith("lycoris") else {}
    found = answer(asked(network=NetworkQuestion(module=module, rank=8, arguments=arguments)))
    assert found.phase("step").high - found.phase("step").low > 1.2
    assert any("estimate" in said for said in found.basis)


def test_that_a_lokr_is_small():
    lokr = NetworkQuestion(module="lycoris.kohya", rank=10000, arguments={"algo": "lokr"})
    assert parts(asked(network=lokr)).adapter < 0.1
