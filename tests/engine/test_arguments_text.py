"""A list of arguments becomes the plan that was meant, and what was wrong with it is said."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.errors import CannotRead, ScriptNotUsable
from gui.engine.importers.arguments_text import looks_like_arguments, read_arguments
from gui.engine.trainer.catalogue import Catalogue

CATALOGUE = Catalogue.bundled()


def read(text: str, base: Path, script: str = "sdxl_train_network.py"):
    return read_arguments(text, script, CATALOGUE, base / "my settings.txt")


def test_that_arguments_and_dataset_options_find_their_places(tmp_path: Path) -> None:
    (tmp_path / "train" / "5_mira woman").mkdir(parents=True)
    imported = read(
        """
# a comment
--pretrained_model_name_or_path "my model.safetensors"
--train_data_dir=train
--resolution 1024,768 \\
--network_dim 16
--unet_lr 1e-4
--cache_latents
--optimizer_args weight_decay=0.01 betas=0.9,0.99
--flip_aug
""",
        tmp_path,
    )
    plan = imported.plan
    assert (plan.name, plan.family, plan.kind) == ("my settings", "sdxl", "lora")
    assert plan.arguments == {
        "pretrained_model_name_or_path": "my model.safetensors",
        "network_dim": 16,
        "unet_lr": 1e-4,
        "cache_latents": True,
        "optimizer_args": ["weight_decay=0.01", "betas=0.9,0.99"],
    }
    assert plan.dataset["resolution"] == [1024, 768]
    assert plan.dataset["flip_aug"] is True
    assert plan.dataset["subsets"][0]["num_repeats"] == 5


def test_that_a_folder_which_is_not_here_stays_as_it_was_written(tmp_path: Path) -> None:
    plan = read("--train_data_dir /data/train/img\n--color_aug", tmp_path).plan
    assert plan.arguments == {"train_data_dir": "/data/train/img"}
    assert plan.dataset == {"color_aug": True}


def test_that_beside_a_dataset_file_nothing_is_moved(tmp_path: Path) -> None:
    plan = read("--dataset_config d.toml\n--resolution 512", tmp_path).plan
    assert plan.arguments == {"dataset_config": "d.toml", "resolution": "512"}
    assert plan.dataset == {}


def test_that_an_argument_given_twice_is_said_and_the_last_counts(tmp_path: Path) -> None:
    imported = read("--seed 1\n--seed 2", tmp_path)
    assert imported.plan.arguments == {"seed": 2}
    assert [(finding.id, finding.arguments) for finding in imported.findings] == [("dup-arg", ("seed",))]


def test_that_unknown_and_badly_typed_words_are_kept_for_preflight(tmp_path: Path) -> None:
    plan = read("--my_own thing\n--seed five\n--v2=false\n--xformers=maybe\n--whatever", tmp_path).plan
    assert plan.arguments == {
        "my_own": "thing",
        "seed": "five",
        "v2": False,
        "xformers": "maybe",
        "whatever": True,
    }


@pytest.mark.parametrize(("text", "said"), [("--a 1\nnonsense", "line 2"), ("--x 'open", "quote")])
def test_that_a_line_that_cannot_be_read_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(CannotRead) as caught:
        read(text, tmp_path)
    assert said in str(caught.value)


def test_that_a_script_which_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScriptNotUsable):
        read("--seed 1", tmp_path, "nothing.py")


def test_that_a_script_of_no_family_gives_a_plan_without_one(tmp_path: Path) -> None:
    plan = read("--seed 1", tmp_path, "sdxl_train_control_net_lllite.py").plan
    assert plan.script == "sdxl_train_control_net_lllite.py"


@given(st.text())
def test_that_any_text_is_a_plan_or_a_clear_refusal(text: str) -> None:
    try:
        read_arguments(text, "train_network.py", CATALOGUE, Path("x.txt"))
    except CannotRead as error:
        assert "x.txt" in str(error)


def test_that_a_list_of_arguments_is_known_by_its_first_word() -> None:
    assert looks_like_arguments("# c\n\n  --seed 1")
    assert not looks_like_arguments("schema = 1")
    assert not looks_like_arguments("")


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("--output_name mira # the second", "mira"),
        ("--output_name mira#2", "mira#2"),
        ('--output_name "mira # 2"', "mira # 2"),
        ("--output_name my  old   name", "my  old   name"),
        ("--output_name it's mira", "it's mira"),
        ('--output_name="C:\\out\\"', "C:\\out\\"),
        ("--output_name 'C:\\new \"x\"'", 'C:\\new "x"'),
        ('--output_name "a=\\"x\\""', 'a="x"'),
        ("--output_name ''", ""),
        ("--output_name", ""),
        ("--output_name\\", ""),
    ],
)
def test_that_a_value_is_read_as_it_was_meant(tmp_path: Path, line: str, value: str) -> None:
    assert read(line, tmp_path).plan.arguments == {"output_name": value}


def test_that_several_values_keep_their_quotes_meaning(tmp_path: Path) -> None:
    plan = read('--lr_scheduler_args "step_rules=\'0.1:10,0.01\'" power="2" # end', tmp_path).plan
    assert plan.arguments == {"lr_scheduler_args": ["step_rules='0.1:10,0.01'", "power=2"]}


@pytest.mark.parametrize(
    ("script", "text", "family"),
    [
        ("train_network.py", "--seed 1", "sd15"),
        ("train_network.py", "--v2", "sd2"),
        ("train_network.py", "--v2\n--v_parameterization", "sd2-v"),
        ("train_network.py", "--v2=false", "sd15"),
        ("sdxl_train_network.py", "--v_parameterization\n--zero_terminal_snr", "noobai-vpred"),
        ("flux_train_network.py", "--model_type chroma\n--apply_t5_attn_mask", "chroma"),
        ("flux_train_network.py", "--model_type flux", "flux1"),
    ],
)
def test_that_the_arguments_tell_the_family(tmp_path: Path, script: str, text: str, family: str) -> None:
    assert read(text, tmp_path, script).plan.family == family


@pytest.mark.parametrize("script", ["train_control_net", "train_control_net.py"])
def test_that_the_scripts_name_means_the_same_with_and_without_its_ending(tmp_path: Path, script) -> None:
    plan = read("--train_data_dir images\n--conditioning_data_dir masks", tmp_path, script).plan
    (subset,) = plan.dataset["subsets"]
    assert (subset["image_dir"], subset["conditioning_data_dir"]) == ("images", "masks")
