"""The dataset options of the command line and the dataset file say the same thing in two ways."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gui.engine.plan.changes import apply_changes
from gui.engine.plan.dataset_judging import judge_dataset
from gui.engine.plan.dataset_options import (
    OPTIONS,
    arguments_from_dataset,
    dataset_from_arguments,
    folder_name_parts,
)
from gui.engine.plan.dataset_toml import dataset_document, dataset_toml, is_writable
from gui.engine.plan.model import TrainingPlan
from gui.engine.trainer.catalogue import Catalogue


def folders(parent: Path, *names: str) -> Path:
    for name in names:
        (parent / name).mkdir(parents=True)
    return parent


# --- from the command line --------------------


def test_that_names_that_differ_are_translated(tmp_path):
    mapping = dataset_from_arguments({"train_batch_size": 2, "dataset_repeats": 3, "seed": 1}, tmp_path)
    assert mapping.dataset == {"batch_size": 2, "num_repeats": 3}
    assert mapping.arguments == {"seed": 1}


@pytest.mark.parametrize(
    ("name", "value", "key", "wanted"),
    [
        ("resolution", "768", "resolution", 768),
        ("resolution", "768, 512", "resolution", [768, 512]),
        ("resolution", 512, "resolution", 512),
        ("resolution", "wide", "resolution", "wide"),
        ("face_crop_aug_range", "2.0,4.0", "face_crop_aug_range", [2.0, 4.0]),
        ("validation_split", 0, "validation_split", 0.0),
        ("validation_split", "0.1", "validation_split", 0.1),
        ("token_warmup_step", "10", "token_warmup_step", 10.0),
        ("enable_bucket", True, "enable_bucket", True),
        ("flip_aug", "true", "flip_aug", True),
        ("flip_aug", "maybe", "flip_aug", "maybe"),
        ("keep_tokens", "2", "keep_tokens", 2),
        ("keep_tokens", "two", "keep_tokens", "two"),
        ("caption_extention", ".cap", "caption_extension", ".cap"),
        ("alpha_mask", True, "alpha_mask", True),
    ],
)
def test_that_values_become_what_the_dataset_file_takes(name, value, key, wanted):
    dataset = dataset_from_arguments({name: value}).dataset
    assert dataset == {key: wanted}
    assert type(dataset[key]) is type(wanted)


def test_that_the_misspelt_caption_extension_wins_as_in_the_trainer():
    arguments = {"caption_extension": ".txt", "caption_extention": ".cap"}
    assert dataset_from_arguments(arguments).dataset == {"caption_extension": ".cap"}


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("10_sks cat", (10, "sks cat")),
        ("5", (5, "")),
        ("3_a_b_c", (3, "a_b_c")),
        (" 7_x", (7, "x")),
        ("0_x", None),
        ("-2_x", None),
        ("x_10", None),
        ("_10", None),
        ("1.5_x", None),
    ],
)
def test_that_folder_names_are_read_as_the_trainer_reads_them(name, parts):
    assert folder_name_parts(name) == parts


def test_that_folders_become_subsets(tmp_path):
    folders(tmp_path / "train", "10_sks cat", "2_dog", "notes", "0_never")
    (tmp_path / "train" / "5_file").write_text("")
    folders(tmp_path / "reg", "1_cat")
    mapping = dataset_from_arguments({"train_data_dir": "train", "reg_data_dir": "reg"}, tmp_path)
    assert mapping.dataset["subsets"] == [
        {"image_dir": str(Path("train/10_sks cat")), "num_repeats": 10, "class_tokens": "sks cat"},
        {"image_dir": str(Path("train/2_dog")), "num_repeats": 2, "class_tokens": "dog"},
        {"image_dir": str(Path("reg/1_cat")), "num_repeats": 1, "class_tokens": "cat", "is_reg": True},
    ]
    assert any("notes" in note for note in mapping.notes)


def test_that_a_missing_folder_gives_no_subsets_and_a_note(tmp_path):
    mapping = dataset_from_arguments({"train_data_dir": "nowhere"}, tmp_path)
    assert mapping.dataset == {"subsets": []}
    assert "nowhere" in mapping.notes[0]


def test_that_a_metadata_file_makes_one_subset(tmp_path):
    arguments = {"train_data_dir": "images", "in_json": "meta.json"}
    subset = {"image_dir": "images", "metadata_file": "meta.json"}
    assert dataset_from_arguments(arguments, tmp_path).dataset == {"subsets": [subset]}
    only = dataset_from_arguments({"in_json": "m.json"}, tmp_path, "fine_tune.py")
    assert only.dataset == {"subsets": [{"metadata_file": "m.json"}]}


def test_that_control_nets_pair_images_with_conditions(tmp_path):
    arguments = {"train_data_dir": "images", "conditioning_data_dir": "edges"}
    subset = {"image_dir": "images", "conditioning_data_dir": "edges", "num_repeats": 1}
    mapping = dataset_from_arguments(arguments, tmp_path, "train_control_net.py")
    assert mapping.dataset == {"subsets": [subset]}
    elsewhere = dataset_from_arguments(arguments, folders(tmp_path, "images"), "train_network.py")
    assert elsewhere.arguments == {"conditioning_data_dir": "edges"}


def test_that_a_dataset_class_reads_its_arguments_itself():
    arguments = {"dataset_class": "my.Data", "train_data_dir": "x", "resolution": "512"}
    mapping = dataset_from_arguments(arguments)
    assert (mapping.dataset, mapping.arguments) == ({}, arguments)


def test_that_every_option_of_the_command_line_is_one_of_the_trainer():
    scripts = Catalogue.bundled()
    known = {name for script in scripts.scripts for name in scripts.script(script).arguments}
    assert {option.argument for option in OPTIONS.values() if option.argument} <= known


# --- back to the command line --------------------


def test_that_a_dataset_comes_back_as_arguments(tmp_path):
    folders(tmp_path / "train", "10_sks cat", "2_dog")
    folders(tmp_path / "reg", "1_cat")
    arguments = {
        "train_data_dir": "train",
        "reg_data_dir": "reg",
        "resolution": "768,512",
        "train_batch_size": 2,
        "face_crop_aug_range": "2.0,4.0",
        "enable_bucket": True,
    }
    dataset = dataset_from_arguments(arguments, tmp_path).dataset
    mapping = arguments_from_dataset(dataset, tmp_path)
    assert mapping.arguments == arguments
    assert mapping.left == ()


def test_that_what_the_command_line_cannot_say_is_named(tmp_path):
    folders(tmp_path / "train", "10_sks cat", "2_dog")
    one = {"image_dir": "train/10_sks cat", "num_repeats": 10, "class_tokens": "sks cat"}
    assert arguments_from_dataset({"subsets": [one]}, tmp_path).left == ("subsets",)  # 2_dog would come too
    assert arguments_from_dataset({"subsets": [one | {"flip_aug": True}]}, tmp_path).left == ("subsets",)
    assert arguments_from_dataset({"network_multiplier": 1.0}, tmp_path).left == ("network_multiplier",)
    two = {"datasets": [{"subsets": [one]}, {"subsets": [one]}]}
    assert arguments_from_dataset(two, tmp_path).left == ("datasets",)
    apart = [{"image_dir": "a/1_x"}, {"image_dir": "b/1_y"}]
    assert arguments_from_dataset({"subsets": apart}, tmp_path).left == ("subsets",)
    assert arguments_from_dataset({"subsets": [{"image_dir": "a"}]}, tmp_path).left == ("subsets",)


def test_that_one_dataset_of_several_levels_is_flattened(tmp_path):
    subset = {"image_dir": "i", "metadata_file": "m.json"}
    mapping = arguments_from_dataset({"datasets": [{"batch_size": 4, "subsets": [subset]}]}, tmp_path)
    assert mapping.arguments == {"train_batch_size": 4, "train_data_dir": "i", "in_json": "m.json"}
    assert arguments_from_dataset({"resolution": 512}, tmp_path).arguments == {"resolution": "512"}


# --- the file --------------------


def test_that_settings_go_above_and_paths_become_absolute(tmp_path):
    dataset = {
        "resolution": [768, 512],
        "network_multiplier": 1,
        "validation_split": 0,
        "alpha_mask": True,
        "subsets": [
            {"image_dir": "images/내 그림", "face_crop_aug_range": [2, 4]},
            {"image_dir": "b", "alpha_mask": False},
        ],
    }
    text = dataset_toml(dataset, tmp_path)
    assert tomllib.loads(text) == {
        "general": {"resolution": [768, 512], "network_multiplier": 1.0, "validation_split": 0.0},
        "datasets": [
            {
                "subsets": [
                    {
                        "alpha_mask": True,
                        "image_dir": str(tmp_path / "images" / "내 그림"),
                        "face_crop_aug_range": [2.0, 4.0],
                    },
                    {"alpha_mask": False, "image_dir": str(tmp_path / "b")},
                ]
            }
        ],
    }
    assert isinstance(tomllib.loads(text)["general"]["network_multiplier"], float)


def test_that_several_datasets_keep_their_own_settings(tmp_path):
    dataset = {
        "general": {"keep_tokens": 1},
        "batch_size": 2,
        "datasets": [
            {"resolution": 512, "alpha_mask": True, "subsets": [{"image_dir": "/a"}]},
            {"resolution": 1024, "subsets": [{"image_dir": "/a", "num_repeats": None}]},
        ],
    }
    document = dataset_document(dataset, tmp_path)
    assert document["general"] == {"keep_tokens": 1, "batch_size": 2}
    assert [entry["resolution"] for entry in document["datasets"]] == [512, 1024]
    assert document["datasets"][0]["subsets"][0]["alpha_mask"] is True
    assert "num_repeats" not in document["datasets"][1]["subsets"][0]
    assert tomllib.loads(dataset_toml(dataset, tmp_path)) == document


def test_that_attributes_become_tables_and_figures_stay_figures(tmp_path):
    attributes = {"diff": True, "deep": {"a": 1.5, "b": ["x", "y"]}, "inf": float("inf")}
    dataset = {"subsets": [{"image_dir": "/a", "custom_attributes": attributes}]}
    read = tomllib.loads(dataset_toml(dataset, tmp_path))
    assert read["datasets"][0]["subsets"][0]["custom_attributes"] == attributes


@given(st.text(max_size=30))
@settings(max_examples=300, deadline=None)
def test_that_every_text_that_is_allowed_comes_back(text):
    if is_writable(text):
        read = tomllib.loads(dataset_toml({"caption_prefix": text}, Path("/")))
        assert read["general"]["caption_prefix"] == text


@pytest.mark.parametrize(
    "value",
    ["a\x07", "a\x00", '""it\'s', {"a b": 1}, {"a": [1, [2]]}, {"a": [{"b": 1}]}, {1: 2}, None, {"a": None}],
)
def test_that_what_the_trainers_reader_garbles_is_not_written(value):
    assert not is_writable(value)


# --- judging --------------------


def ids(dataset, script="train_network.py", **options):
    return [(finding.id, finding.where) for finding in judge_dataset(dataset, script, **options)]


def test_that_a_sound_dataset_has_no_findings():
    dataset = {
        "resolution": [1024, 1024],
        "batch_size": 2,
        "alpha_mask": True,
        "class_tokens": "x",
        "subsets": [{"image_dir": "a", "is_reg": False, "flip_aug": True, "token_warmup_step": 0.5}],
    }
    assert ids(dataset) == []
    assert ids({"datasets": [dataset | {"subsets": dataset["subsets"]}]}) == []


@pytest.mark.parametrize(
    ("dataset", "kind", "where"),
    [
        ({"batchsize": 1}, "dataset-unknown", "dataset.batchsize"),
        ({"prior_loss_weight": 1.0}, "dataset-unknown", "dataset.prior_loss_weight"),
        ({"enable_bucket": 1}, "dataset-type", "dataset.enable_bucket"),
        ({"batch_size": 2.0}, "dataset-type", "dataset.batch_size"),
        ({"batch_size": True}, "dataset-bool", "dataset.batch_size"),
        ({"resolution": "768,wide"}, "dataset-type", "dataset.resolution"),
        ({"resolution": [768]}, "dataset-type", "dataset.resolution"),
        ({"resolution": [768.0, 512]}, "dataset-type", "dataset.resolution"),
        ({"face_crop_aug_range": [1, 2, 3]}, "dataset-type", "dataset.face_crop_aug_range"),
        ({"caption_prefix": 3}, "dataset-type", "dataset.caption_prefix"),
        ({"custom_attributes": "x"}, "dataset-type", "dataset.custom_attributes"),
        ({"caption_prefix": "a\x00"}, "dataset-type", "dataset.caption_prefix"),
        ({"image_dir": "a"}, "dataset-level", "dataset.image_dir"),
        ({"subsets": [{"image_dir": "a", "batch_size": 1}]}, "dataset-level", "dataset.subsets.0.batch_size"),
        (
            {"subsets": [{"image_dir": "a", "validation_split": 0.1}]},
            "dataset-level",
            "dataset.subsets.0.validation_split",
        ),
        ({"subsets": [{"num_repeats": 1}]}, "dataset-missing", "dataset.subsets.0.image_dir"),
        ({"subsets": [{"image_dir": ""}]}, "dataset-missing", "dataset.subsets.0.image_dir"),
        (
            {"subsets": [{"image_dir": "a"}, {"metadata_file": "m", "image_dir": "a"}]},
            "dataset-level",
            "dataset.subsets.1.metadata_file",
        ),
        (
            {"subsets": [{"image_dir": "a", "conditioning_data_dir": "c"}]},
            "dataset-level",
            "dataset.subsets.0.conditioning_data_dir",
        ),
        ({"subsets": 3}, "dataset-type", "dataset.subsets"),
        ({"subsets": ["a"]}, "dataset-type", "dataset.subsets"),
        ({"datasets": {}}, "dataset-type", "dataset.datasets"),
        ({"general": 1}, "dataset-type", "dataset.general"),
        ({"general": {"x": 1}}, "dataset-unknown", "dataset.general.x"),
        ({"datasets": [{"subsets": 1}]}, "dataset-type", "dataset.datasets.0.subsets"),
        ({"datasets": [{"x": 1}]}, "dataset-unknown", "dataset.datasets.0.x"),
    ],
)
def test_that_what_the_trainers_schema_refuses_is_named(dataset, kind, where):
    assert (kind, where) in ids(dataset)


def test_that_masked_loss_lets_subsets_name_conditions():
    dataset = {"subsets": [{"image_dir": "a", "conditioning_data_dir": "c"}]}
    assert ids(dataset, masked_loss=True) == []
    mixed = {"subsets": [*dataset["subsets"], {"image_dir": "b"}]}
    assert ("dataset-level", "dataset.subsets.0.conditioning_data_dir") in ids(mixed, masked_loss=True)
    folder = {"subsets": [{"image_dir": "b", "is_reg": True}]}
    assert ("dataset-level", "dataset.subsets.0.is_reg") in ids(folder, "train_db.py", masked_loss=True)


def test_that_scripts_with_one_kind_of_dataset_know_only_its_keys():
    meta = {"subsets": [{"metadata_file": "m.json"}]}
    assert ids(meta, "fine_tune.py") == []
    assert ids(meta) == []
    assert ids(meta | {"class_tokens": "x"}, "fine_tune.py") == [("dataset-level", "dataset.class_tokens")]
    assert ("dataset-missing", "dataset.subsets.0.metadata_file") in ids(
        {"subsets": [{"image_dir": "a"}]}, "fine_tune.py"
    )
    assert ids({"subsets": [{"image_dir": "a"}]}, "train_control_net.py") == [
        ("dataset-missing", "dataset.subsets.0.conditioning_data_dir")
    ]
    paired = {"subsets": [{"image_dir": "a", "conditioning_data_dir": "c"}], "alpha_mask": True}
    assert ids(paired, "train_control_net.py") == [("dataset-level", "dataset.alpha_mask")]
    assert ("dataset-level", "dataset.subsets.0.metadata_file") in ids(meta, "train_db.py")


def test_that_textual_inversion_knows_no_caption_dropout():
    dataset = {"caption_dropout_rate": 0.1, "subsets": [{"image_dir": "a"}]}
    assert ids(dataset, "train_textual_inversion.py") == [("dataset-unknown", "dataset.caption_dropout_rate")]


@pytest.mark.parametrize(
    ("key", "value", "meant"),
    [
        ("enable_bucket", 1, True),
        ("batch_size", 2.0, 2),
        ("batch_size", "4", 4),
        ("flip_aug", "false", False),
        ("validation_split", "0.1", 0.1),
    ],
)
def test_that_a_fix_writes_what_was_meant_and_ends_the_finding(key, value, meant):
    plan = TrainingPlan(dataset={key: value, "subsets": [{"image_dir": "a"}]})
    (finding,) = judge_dataset(plan.dataset, "train_network.py")
    fixed = apply_changes(plan, finding.fixes[0].changes)
    assert fixed.dataset[key] == meant
    assert judge_dataset(fixed.dataset, "train_network.py") == []


def test_that_a_misspelt_key_can_be_renamed():
    plan = TrainingPlan(dataset={"subsets": [{"image_dir": "a", "num_repeat": 3}]})
    (finding,) = judge_dataset(plan.dataset, "train_network.py")
    fixed = apply_changes(plan, finding.fixes[0].changes)
    assert fixed.dataset["subsets"] == [{"image_dir": "a", "num_repeats": 3}]
