"""Plan files keep what the user wrote, name what is wrong, and never hold a token after saving."""

import os
import tomllib
from pathlib import Path

import pytest
import tomlkit
from hypothesis import given, settings
from hypothesis import strategies as st

from gui.engine.errors import CannotRead, CannotWrite, NewerDocument
from gui.engine.plan.changes import apply_changes
from gui.engine.plan.merging import merged_text, new_text
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.paths import absolute, is_hub_name
from gui.engine.plan.plan_file import PlanFile, load_plan, parse_plan

PLAN = """\
# Mira, second try
schema = 1
name = "mira"            # becomes the run's name
family = "sdxl"
favourite_colour = "red" # of no use to anybody

[arguments]
# models
pretrained_model_name_or_path = "models/sdxl.safetensors"   # the base
unet_lr = 8e-5
optimizer_args = [
  "weight_decay=0.01",   # small
]
output_dir = "out"

[dataset]
resolution = [1024, 1024]

[[dataset.subsets]]
# portraits
image_dir = "images/a"

[[dataset.subsets]]
# full body
image_dir = "images/b"

[[dataset.subsets]]
# from behind
image_dir = "images/c"

[guard]
nonfinite = "confirm"
"""


def written(folder: Path, text: str = PLAN) -> PlanFile:
    path = folder / "plan.toml"
    path.write_text(text, "utf-8")
    return load_plan(path)


def test_that_a_plan_is_read_as_it_stands(tmp_path):
    plan = written(tmp_path).plan
    assert plan.name == "mira"
    assert plan.arguments["unet_lr"] == 8e-5
    assert [subset["image_dir"] for subset in plan.dataset["subsets"]] == ["images/a", "images/b", "images/c"]
    assert plan.guard.nonfinite == "confirm"


def test_that_saving_without_a_change_keeps_every_byte(tmp_path):
    file = written(tmp_path)
    again = file.save(file.plan)
    assert (tmp_path / "plan.toml").read_text("utf-8") == PLAN
    assert again.plan == file.plan


def test_that_a_change_touches_only_its_own_line(tmp_path):
    file = written(tmp_path)
    file.save(apply_changes(file.plan, {"unet_lr": 1e-4}))
    lines = (tmp_path / "plan.toml").read_text("utf-8").splitlines()
    changed = [(old, new) for old, new in zip(PLAN.splitlines(), lines, strict=True) if old != new]
    assert changed == [("unet_lr = 8e-5", "unet_lr = 0.0001")]


def test_that_a_comment_behind_a_changed_value_stays(tmp_path):
    file = written(tmp_path)
    changes = {"plan.name": "mira3", "pretrained_model_name_or_path": "b.safetensors"}
    text = file.save(apply_changes(file.plan, changes)).text
    assert 'name = "mira3"            # becomes the run\'s name' in text
    assert 'pretrained_model_name_or_path = "b.safetensors"   # the base' in text


def test_that_each_subset_keeps_its_comment_when_one_goes(tmp_path):
    file = written(tmp_path)
    text = file.save(apply_changes(file.plan, {"dataset.subsets.1": None})).text
    assert "# full body" not in text
    assert (
        text.index("# portraits")
        < text.index("images/a")
        < text.index("# from behind")
        < text.index("images/c")
    )


def test_that_subsets_can_be_added_and_changed_at_once(tmp_path):
    file = written(tmp_path)
    subsets = [
        {"image_dir": "images/a", "num_repeats": 5},
        *file.plan.dataset["subsets"][1:],
        {"image_dir": "d"},
    ]
    changed = apply_changes(file.plan, {"dataset.subsets": subsets})
    saved = file.save(changed)
    assert saved.plan == changed
    assert "# portraits" in saved.text and "# from behind" in saved.text


def test_that_unknown_keys_are_kept_and_said(tmp_path):
    file = written(tmp_path)
    assert any("favourite_colour" in note for note in file.notes)
    assert 'favourite_colour = "red"' in file.save(apply_changes(file.plan, {"seed": 1})).text


def test_that_sections_appear_when_they_are_needed_and_go_when_empty_of_meaning(tmp_path):
    file = written(tmp_path, 'family = "sd15"\n')
    saved = file.save(apply_changes(file.plan, {"launch.num_processes": 2, "seed": 7}))
    assert saved.plan.launch.num_processes == 2
    assert tomllib.loads(saved.text) == {
        "family": "sd15",
        "arguments": {"seed": 7},
        "launch": {"num_processes": 2},
    }


def test_that_an_integer_and_a_float_are_told_apart(tmp_path):
    file = written(tmp_path, "family = 'sd15'\n[arguments]\nlr_warmup_steps = 1\n")
    saved = file.save(apply_changes(file.plan, {"lr_warmup_steps": 1.0}))
    assert "lr_warmup_steps = 1.0" in saved.text


def test_that_a_new_plan_says_only_what_differs_from_the_defaults(tmp_path):
    plan = TrainingPlan(name="new", family="sdxl", arguments={"seed": 1})
    saved = PlanFile(plan).save(plan, tmp_path / "new.toml")
    assert tomllib.loads(saved.text) == {
        "schema": 1,
        "name": "new",
        "family": "sdxl",
        "kind": "lora",
        "arguments": {"seed": 1},
    }
    assert saved.plan == plan


def test_that_a_plan_without_a_place_cannot_be_saved():
    with pytest.raises(ValueError, match="path"):
        parse_plan("family = 'sd15'").save(TrainingPlan())


def test_that_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    file = written(tmp_path)
    with pytest.raises(CannotWrite):
        file.save(file.plan, tmp_path / "file" / "plan.toml")


# --- moving ----------------------------------------


def test_that_saving_elsewhere_keeps_the_paths_meaning_the_same_files(tmp_path):
    (tmp_path / "here").mkdir()
    file = written(tmp_path / "here")
    moved = file.save(file.plan, tmp_path / "there" / "plan.toml")
    assert moved.plan.arguments["output_dir"] == "../here/out"
    assert moved.plan.dataset["subsets"][0]["image_dir"] == "../here/images/a"
    assert "# portraits" in moved.text


def test_that_absolute_paths_and_hub_names_stay_when_a_plan_moves(tmp_path):
    text = (
        'family = "sd15"\n[arguments]\npretrained_model_name_or_path = "runwayml/stable-diffusion-v1-5"\n'
        f'vae = "~/vae.safetensors"\noutput_dir = "{(tmp_path / "out").as_posix()}"\n'
    )
    file = written(tmp_path, text)
    moved = file.save(file.plan, tmp_path / "sub" / "plan.toml")
    assert moved.plan.arguments == file.plan.arguments


@pytest.mark.parametrize("place", [r"C:\\models\\a.safetensors", r"\\\\server\\share\\a", "/models/a"])
def test_that_a_path_of_another_system_stays_as_it_is_when_a_plan_moves(tmp_path, place):
    text = f'family = "sd15"\n[arguments]\npretrained_model_name_or_path = "{place}"\n'
    file = written(tmp_path, text)
    moved = file.save(file.plan, tmp_path / "sub" / "plan.toml")
    assert moved.plan.arguments == file.plan.arguments


def test_that_a_plan_for_the_run_folder_stands_alone(tmp_path):
    text = parse_plan(written(tmp_path).standalone_text()).plan
    assert text.arguments["output_dir"] == str(tmp_path / "out")
    assert text.dataset["subsets"][2]["image_dir"] == str(tmp_path / "images" / "c")


def test_that_a_hub_name_is_told_from_a_folder(tmp_path):
    assert is_hub_name("stabilityai/sdxl", tmp_path)
    (tmp_path / "stabilityai" / "sdxl").mkdir(parents=True)
    assert not is_hub_name("stabilityai/sdxl", tmp_path)
    for path in ("models/x.safetensors", "./a/b", "../a", "/a/b", "a", "~/a", "a/b/c", "models/내 모델"):
        assert not is_hub_name(path, tmp_path), path


def test_that_a_resumed_hub_state_is_no_path(tmp_path):
    file = written(
        tmp_path, 'family = "sd15"\n[arguments]\nresume = "me/repo"\nresume_from_huggingface = true\n'
    )
    assert parse_plan(file.standalone_text()).plan.arguments["resume"] == "me/repo"


def test_that_the_home_folder_is_found_and_a_stranger_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("USERPROFILE" if os.name == "nt" else "HOME", str(tmp_path))
    assert absolute("~/models", tmp_path / "x") == str(tmp_path / "models")
    assert absolute("~nobody-of-this-name/x", tmp_path) == str(tmp_path / "~nobody-of-this-name" / "x")
    assert absolute("", tmp_path) == ""


# --- tokens ----------------------------------------

TOKEN = "hf_" + "a" * 20
WITH_TOKENS = f"""\
family = "sd15"
[arguments]
huggingface_token = "{TOKEN}"
seed = 1
[launch.env]
WANDB_API_KEY = "{TOKEN}"
HF_HOME = "/cache"
"""


def test_that_tokens_are_noticed_and_never_written(tmp_path):
    file = written(tmp_path, WITH_TOKENS)
    assert len([note for note in file.notes if "token" in note]) == 2
    assert file.plan.arguments["huggingface_token"] == TOKEN
    assert not any(TOKEN in note for note in file.notes)
    assert TOKEN not in file.standalone_text()
    saved = file.save(apply_changes(file.plan, {"seed": 2}))
    assert TOKEN not in (tmp_path / "plan.toml").read_text()
    assert saved.plan.launch.env == {"HF_HOME": "/cache"}
    assert saved.plan.arguments == {"seed": 2}


# --- newer ----------------------------------------


def test_that_a_newer_plan_opens_read_only_with_a_note(tmp_path):
    text = 'schema = 7\nname = "x"\nfamily = "sdxl"\nwings = 2\n[guard]\nnonfinite = "ask-a-friend"\n'
    file = written(tmp_path, text)
    assert file.read_only
    assert "newer version" in file.notes[0]
    assert file.plan.family == "sdxl"
    assert any("wings" in note and "guard" in note for note in file.notes)
    with pytest.raises(NewerDocument) as caught:
        file.save(file.plan)
    assert (caught.value.schema, caught.value.known) == (7, 1)
    with pytest.raises(NewerDocument):
        file.require_known()
    assert (tmp_path / "plan.toml").read_text() == text


def test_that_a_newer_plan_whose_schema_cannot_be_left_out_is_refused(tmp_path):
    with pytest.raises(CannotRead):
        written(tmp_path, "schema = 7.5\nfamily = 'x'\n")


# --- bad files ----------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no plan"),
        ("a = [", "not TOML"),
        ("name = 'a'\nname = 'b'", "not TOML"),
        ("[model]\nx = 1", "no plan"),
        ("name = 3", "name must be a text, not 3"),
        ("family = true", "family must be a text, not true"),
        ("schema = 'one'\nname = 'x'", "schema"),
        ("schema = 0\nname = 'x'", "schema"),
        ("schema = true\nname = 'x'", "schema"),
        ("arguments = 3", "arguments must be a table, not 3"),
        ("dataset = []", "dataset must be a table"),
        ("presets = 'safe'", "presets must be a list, not 'safe'"),
        ("presets = [1]", "presets.0 must be a text"),
        ("launch = 1", "launch must be a table"),
        ("[launch]\nnum_processes = 'two'", "launch.num_processes must be a whole number, not 'two'"),
        ("[launch]\nnum_processes = 1.5", "launch.num_processes must be a whole number"),
        ("[launch]\nnum_processes = true", "launch.num_processes must be a whole number, not true"),
        ("[launch]\ngpu_ids = 0", "launch.gpu_ids must be a list, not 0"),
        ("[launch]\nspeed = 9", "launch.speed is not known here"),
        ("[launch.env]\nA = 1", "launch.env.A must be a text, not 1"),
        ("[guard]\nnonfinite = 'never'", "guard.nonfinite must be one of stop, confirm, warn"),
        ("name = '" + "x" * 10 + "'\nscript = " + "[" * 3 + "]" * 3, "script must be a text"),
    ],
)
def test_that_what_is_no_plan_is_named_with_file_and_key(tmp_path, text, said):
    with pytest.raises(CannotRead) as caught:
        written(tmp_path, text)
    assert said in str(caught.value)
    assert "plan.toml" in str(caught.value)
    assert "\n" not in caught.value.reason


def test_that_deep_nesting_is_refused(tmp_path):
    with pytest.raises(CannotRead):
        written(tmp_path, "name = " + "[" * 5000 + "]" * 5000)


def test_that_missing_and_binary_and_huge_files_are_said(tmp_path):
    with pytest.raises(CannotRead, match=r"nothing\.toml"):
        load_plan(tmp_path / "nothing.toml")
    with pytest.raises(CannotRead):
        load_plan(tmp_path)
    (tmp_path / "b.toml").write_bytes(b"\x89PNG\xff\xfe\x00n")
    with pytest.raises(CannotRead, match="UTF-8"):
        load_plan(tmp_path / "b.toml")
    (tmp_path / "c.toml").write_bytes(b"#" * (4 * 1024 * 1024 + 1))
    with pytest.raises(CannotRead, match="too large"):
        load_plan(tmp_path / "c.toml")


def test_that_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_bytes(b"\xef\xbb\xbf" + PLAN.replace("\n", "\r\n").encode())
    file = load_plan(path)
    assert file.plan == parse_plan(PLAN).plan
    saved = file.save(apply_changes(file.plan, {"seed": 4}))
    assert saved.plan.arguments["seed"] == 4
    content = path.read_bytes()
    assert content.count(b"\n") == content.count(b"\r\n") == PLAN.count("\n") + 1


def test_that_wrong_values_of_arguments_and_dataset_are_kept_for_preflight(tmp_path):
    plan = written(tmp_path, "[arguments]\nseed = 'x'\nodd = 1979-05-27\n[dataset]\nsubsets = 3\n").plan
    assert plan.arguments["seed"] == "x"
    assert plan.dataset == {"subsets": 3}


# --- round trips ----------------------------------------

NAMES = st.text("abcdefghij_", min_size=1, max_size=8) | st.sampled_from(
    ["a.b", "with space", "한글", "q'\"q"]
)
SCALARS = (
    st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.floats(allow_nan=False)
    | st.text(max_size=12).filter(lambda text: text.isprintable())
)
VALUES = SCALARS | st.lists(SCALARS, max_size=3)
TABLES = st.dictionaries(NAMES, VALUES, max_size=4)
PLANS = st.builds(
    lambda name, arguments, dataset, subsets, count: TrainingPlan(
        name=name,
        arguments=arguments,
        dataset=dataset | ({"subsets": subsets} if subsets else {}),
        launch={"num_processes": count},
    ),
    st.text(max_size=8).filter(str.isprintable),
    TABLES,
    st.dictionaries(NAMES.filter(lambda name: name != "subsets"), VALUES | TABLES, max_size=3),
    st.lists(TABLES, max_size=4),
    st.integers(1, 4),
)


@given(PLANS, PLANS)
@settings(max_examples=80, deadline=None)
def test_that_every_plan_comes_back_and_becomes_every_other(first, second):
    text = new_text(first.data())
    assert exact(parse_plan(text).plan) == exact(first)
    changed = merged_text(text, first.data(), second.data())
    assert exact(parse_plan(changed).plan) == exact(second)


def exact(plan):
    """Tell 1 from 1.0 and true, and take no notice of the order of keys."""
    return repr(_sorted(plan.data()))


def _sorted(value):
    if isinstance(value, dict):
        return {key: _sorted(child) for key, child in sorted(value.items())}
    if isinstance(value, list | tuple):
        return [_sorted(child) for child in value]
    return value


def test_that_a_file_that_cannot_be_changed_in_place_is_written_anew(tmp_path, monkeypatch):
    text = "[[dataset.subsets]]\nimage_dir='a'\n[arguments]\nseed=1\n[[dataset.subsets]]\nimage_dir='b'\n"
    file = written(tmp_path, text)
    changed = apply_changes(file.plan, {"dataset.subsets": [{"image_dir": "q"}]})
    assert file.save(changed).plan == changed

    def broken(_text):
        raise tomlkit.exceptions.TOMLKitError

    monkeypatch.setattr(tomlkit, "parse", broken)
    changed = apply_changes(file.plan, {"seed": 2})
    assert file.save(changed).plan == changed


def test_that_deeply_nested_tables_are_written_as_tables(tmp_path):
    file = written(tmp_path, "family = 'sd15'\n")
    dataset = {
        "datasets": [{"batch_size": 1, "subsets": [{"image_dir": "a", "custom_attributes": {"x": {"y": 1}}}]}]
    }
    saved = file.save(apply_changes(file.plan, {"dataset.datasets": dataset["datasets"]}))
    assert saved.plan.dataset == dataset
    assert "[[dataset.datasets.subsets]]" in saved.text
