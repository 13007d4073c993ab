"""The user's presets are files: kept, renamed, passed on, and named when they are wrong."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gui.engine.errors import CannotRead, CannotWrite, PresetNameRefused, UnknownPreset
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.preset_from_plan import preset_of_plan
from gui.engine.plan.preset_layer import Entry, Layer, Share
from gui.engine.plan.preset_library import (
    LARGEST_PRESET_BYTES,
    PresetLibrary,
    name_trouble,
    preset_text,
)
from gui.engine.plan.presets import effective_plan

MINE = """# rates that I like
schema: 1
title: Mine
layers: [sdxl, safe]   # from here
values:
  - set: {unet_lr: 6e-5, sdpa: null, optimizer_args: [weight_decay=0.01]}
    reason: It looked better.
"""


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "presets"


@pytest.fixture
def library(folder):
    folder.mkdir()
    (folder / "mine.yaml").write_text(MINE, "utf-8")
    return PresetLibrary(folder)


def test_that_a_folder_that_is_not_there_holds_no_presets(folder):
    library = PresetLibrary(folder)
    assert (library.own, library.broken) == ((), {})
    assert "safe" in library.layers


def test_that_the_users_presets_are_among_the_layers(library):
    assert library.own == ("mine",)
    layer = library.layers["mine"]
    assert (layer.axis, layer.title, layer.layers) == ("own", "Mine", ("sdxl", "safe"))
    assert layer.values[0].set["unet_lr"] == 6e-5
    assert library.on("own") == {"mine": layer}


def test_that_a_preset_takes_values_away(library):
    plan = effective_plan(TrainingPlan(family="sdxl", presets=("mine",)), library)
    assert "sdpa" not in plan.arguments
    assert plan.arguments["optimizer_args"] == ["weight_decay=0.01"]
    assert plan.arguments["text_encoder_lr"] == 6e-6


def test_that_saving_makes_a_file_that_reads_back(folder):
    layer = Layer(
        title="Rates",
        layers=("sdxl",),
        values=(Entry(set={"network_alpha": Share(of="network_dim", times=0.5), "seed": None}),),
    )
    library = PresetLibrary(folder).save("내 설정", layer)
    assert library.layers["내 설정"] == layer
    assert library.path_of("내 설정").is_file()


@given(
    st.dictionaries(
        st.sampled_from(["unet_lr", "seed", "sdpa", "optimizer_args", "lr_scheduler", "dataset.batch_size"]),
        st.one_of(
            st.none(),
            st.booleans(),
            st.integers(),
            st.floats(allow_nan=False),
            st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12),
            st.lists(st.one_of(st.booleans(), st.integers(), st.text("abc=#:- '\"", max_size=6)), max_size=3),
        ),
    ),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12),
)
@settings(max_examples=80)
def test_that_any_layer_survives_its_file(tmp_path_factory, values, reason):
    layer = Layer(title=reason, values=(Entry(set=values, reason=reason),))
    folder = tmp_path_factory.mktemp("presets")
    read = PresetLibrary(folder).save("one", layer).layers["one"]
    assert repr(read) == repr(layer)


def test_that_a_preset_is_not_overwritten_unasked(library):
    with pytest.raises(PresetNameRefused, match="already"):
        library.save("Mine", Layer(title="x"))
    replaced = library.save("Mine", Layer(title="x"), replace=True)
    assert replaced.layers["mine"].title == "x"


@pytest.mark.parametrize("name", ["safe", "SDXL", "12GiB"])
def test_that_names_of_the_program_are_not_taken(library, name):
    with pytest.raises(PresetNameRefused, match="program"):
        library.save(name, Layer(), replace=True)


@pytest.mark.parametrize(
    "name",
    ["", " ", " a", "a ", ".a", "a.", "a/b", "a\\b", "a:b", "CON", "nul.txt", "com1", "a\nb", "x" * 61],
)
def test_that_names_are_those_that_files_can_have_everywhere(library, name):
    assert name_trouble(name)
    with pytest.raises(PresetNameRefused):
        library.save(name, Layer())


@pytest.mark.parametrize("name", ["a", "Mira 2.0", "내 설정", "consul", "com10x"])
def test_that_other_names_are_fine(name):
    assert name_trouble(name) == ""


def test_that_without_a_folder_nothing_is_saved():
    with pytest.raises(PresetNameRefused, match="folder"):
        PresetLibrary().save("a", Layer())


def test_that_renaming_keeps_the_file_and_takes_along_what_stands_on_it(library, folder):
    upper = 'title: Upper # mine\nlayers:\n  - mine   # below\n  - "safe"\n'
    (folder / "upper.yaml").write_text(upper, "utf-8")
    renamed = PresetLibrary(folder).rename("mine", "better one")
    assert renamed.own == ("better one", "upper")
    assert (folder / "better one.yaml").read_text("utf-8") == MINE
    assert (folder / "upper.yaml").read_text("utf-8") == upper.replace("- mine", '- "better one"')
    assert renamed.layers["upper"].layers == ("better one", "safe")


def test_that_a_name_can_change_its_case(library):
    assert library.rename("mine", "MINE").own == ("MINE",)


def test_that_a_preset_is_not_renamed_over_another(library, folder):
    (folder / "other.yaml").write_text("title: Other", "utf-8")
    with pytest.raises(PresetNameRefused):
        PresetLibrary(folder).rename("mine", "other")
    with pytest.raises(UnknownPreset, match="safe"):
        library.rename("safe", "mine2")


def test_that_a_preset_is_deleted(library, folder):
    assert library.delete("mine").own == ()
    assert list(folder.iterdir()) == []
    with pytest.raises(UnknownPreset):
        library.delete("safe")
    with pytest.raises(CannotWrite):
        library.delete("mine")


def test_that_a_preset_passed_on_arrives_as_it_was(library, folder, tmp_path):
    sent = tmp_path / "sent" / "theirs.yaml"
    library.export("mine", sent)
    assert sent.read_text("utf-8") == MINE
    received, name = library.add(sent)
    assert (name, received.own) == ("theirs", ("mine", "theirs"))
    assert (folder / "theirs.yaml").read_text("utf-8") == MINE
    with pytest.raises(PresetNameRefused):
        received.add(sent)
    assert received.add(sent, name="theirs 2")[1] == "theirs 2"


def test_that_the_programs_presets_can_be_passed_on_as_well(library, tmp_path):
    library.export("safe", tmp_path / "careful.yaml")
    received, _name = library.add(tmp_path / "careful.yaml")
    assert received.layers["careful"].values == library.layers["safe"].values
    with pytest.raises(UnknownPreset):
        library.export("gone", tmp_path / "x.yaml")


BROKEN = {
    "a: [": ("line 2", "not YAML"),
    "a: 1\na: 2": ("line 2", "twice"),
    "- 1": ("", "no keys"),
    "": ("", "no keys"),
    "schema: 2": ("schema", "newer version"),
    "schema: one": ("schema", "1"),
    "wings: 2": ("wings", "no preset has such a key"),
    "title: [1]": ("title", "a text, not [1]"),
    "layers: safe": ("layers", "a list, not 'safe'"),
    "values: [{set: {config_file: x}}]": ("values.0.set", "config_file"),
    "values: [{set: {huggingface_token: x}}]": ("values.0.set", "huggingface_token"),
    "values: [{set: {dataset.wings: 2}}]": ("values.0.set", "dataset.wings"),
    "values: [{set: {dataset.image_dir: x}}]": ("values.0.set", "dataset.image_dir"),
    "values: [{set: {a b: 2}}]": ("values.0.set", "a b"),
    "values: [{scale: {unet_lr: much}}]": ("values.0.scale.unet_lr", "a number, not 'much'"),
    "values: [{set: {unet_lr: {of: x}}}]": ("values.0.set.unet_lr", ""),
    "values: [{when: 3}]": ("values.0.when", "a table, not 3"),
    "values: [{when: {family: [sdxl]}}]": ("values.0.when.family", "no preset has such a key"),
    "values: [3]": ("values.0", "a table, not 3"),
    "notes: [{when: {}}]": ("notes.0.note", "missing"),
    "order: 1.5": ("order", ""),
    "values: &a [*a]": ("line 1", "aliases"),
}


@pytest.mark.parametrize("text", BROKEN)
def test_that_a_broken_preset_is_named_with_file_key_and_reason_and_stays(folder, text):
    folder.mkdir()
    place = folder / "bad.yaml"
    place.write_text(text, "utf-8")
    library = PresetLibrary(folder)
    broken = library.broken["bad"]
    key, said = BROKEN[text]
    assert broken.key == key
    assert said in broken.reason
    assert str(place) in broken.sentence
    assert library.own == ()
    assert place.read_text("utf-8") == text
    with pytest.raises(CannotRead, match=r"bad\.yaml"):
        library.add(place, name="other")


def test_that_other_troubles_with_files_are_named(folder):
    folder.mkdir()
    (folder / "latin.yaml").write_bytes("title: Größe".encode("latin-1"))
    (folder / "large.yaml").write_text("#" * (LARGEST_PRESET_BYTES + 1), "utf-8")
    (folder / "safe.yaml").write_text("title: mine", "utf-8")
    (folder / "folder.yaml").mkdir()
    (folder / "notes.txt").write_text("no preset", "utf-8")
    library = PresetLibrary(folder)
    assert library.broken.keys() == {"latin", "large", "safe"}
    assert "UTF-8" in library.broken["latin"].reason
    assert "large" in library.broken["large"].reason
    assert "program" in library.broken["safe"].reason
    assert library.layers["safe"].title == "Safe"


def test_that_a_broken_preset_can_be_renamed_passed_on_and_deleted(folder, tmp_path):
    folder.mkdir()
    (folder / "bad.yaml").write_text("a: [", "utf-8")
    library = PresetLibrary(folder).rename("bad", "worse")
    library.export("worse", tmp_path / "out.yaml")
    assert (tmp_path / "out.yaml").read_text("utf-8") == "a: ["
    assert library.delete("worse").broken == {}


def test_that_a_file_that_is_gone_cannot_be_added(library, tmp_path):
    with pytest.raises(CannotRead, match=r"gone\.yaml"):
        library.add(tmp_path / "gone.yaml")


def test_that_what_is_in_the_way_of_a_new_name_is_said_and_nothing_lost(library, folder):
    (folder / "other.yaml").mkdir()
    (folder / "other.yaml" / "file").touch()
    with pytest.raises(CannotWrite, match=r"other\.yaml"):
        library.rename("mine", "other")
    assert PresetLibrary(folder).own == ("mine",)


# --- presets of plans ---------------


def test_that_a_plans_settings_become_a_preset_without_what_is_its_own():
    plan = TrainingPlan(
        name="mira",
        family="sdxl",
        presets=("sdxl", "safe"),
        without=("sdpa", "plan.script"),
        arguments={
            "pretrained_model_name_or_path": "m.safetensors",
            "output_dir": "out",
            "output_name": "mira",
            "metadata_author": "me",
            "huggingface_token": "hf_x",
            "wandb_run_name": "run",
            "unet_lr": 6e-5,
            "optimizer_args": ["weight_decay=0.01"],
            "odd": {"a": 1},
        },
        dataset={"batch_size": 2, "subsets": [{"image_dir": "a"}], "resolution": [1024, 1024]},
    )
    layer = preset_of_plan(plan, "Mine", "what I like")
    assert (layer.title, layer.description, layer.families) == ("Mine", "what I like", ("sdxl",))
    assert layer.layers == ("sdxl", "safe")
    assert layer.values[0].set == {
        "unet_lr": 6e-5,
        "optimizer_args": ["weight_decay=0.01"],
        "dataset.batch_size": 2,
        "dataset.resolution": [1024, 1024],
        "sdpa": None,
    }
    assert "hf_x" not in preset_text(layer)


def test_that_a_plan_with_nothing_of_its_own_gives_its_layers():
    layer = preset_of_plan(TrainingPlan(name="mira", family="sd9", presets=("safe",)))
    assert (layer.title, layer.families, layer.values) == ("mira", (), ())


def test_that_a_preset_of_a_plan_trains_like_the_plan(folder):
    plan = TrainingPlan(
        family="sdxl",
        presets=("sdxl", "style", "safe"),
        arguments={"unet_lr": 6e-5, "network_dim": 24},
        without=("sdpa",),
        dataset={"batch_size": 3},
    )
    library = PresetLibrary(folder).save("mine", preset_of_plan(plan))
    again = TrainingPlan(family="sdxl", presets=("mine",))
    assert effective_plan(again, library).arguments == effective_plan(plan, library).arguments
    assert effective_plan(again, library).dataset == effective_plan(plan, library).dataset
