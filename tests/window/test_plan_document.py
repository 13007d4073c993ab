"""The plan that is being edited: undo, presets, drafts, saving."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from gui.engine.errors import CannotRead, CannotWrite, NewerDocument, WrongUsage
from gui.engine.paths import Home
from gui.engine.plan.changes import same_value
from gui.engine.plan.drafts import Drafts
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.plan_file import load_plan
from gui.engine.plan.recents import Recents
from gui.engine.plan.saving import WouldOverwrite
from gui.engine.trainer.catalogue import Catalogue
from gui.window.models.plan_document import PlanDocument

PLAN = """# Mira, second try
schema = 1
name = "mira"
family = "sdxl"
presets = ["sdxl", "character", "safe"]
mystery = "of a newer version"

[arguments]
unet_lr = 8e-5  # gentle
output_dir = "out"

[dataset]
[[dataset.subsets]]
image_dir = "images/mira"
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def make(qtbot: QtBot, home: Home) -> Callable[..., PlanDocument]:
    catalogue = Catalogue.bundled()

    def document(**more: Any) -> PlanDocument:
        return PlanDocument(drafts=Drafts(home), recents=Recents(home), **({"catalogue": catalogue} | more))

    return document


@pytest.fixture
def document(make: Callable[..., PlanDocument]) -> PlanDocument:
    return make()


@pytest.fixture
def plan_path(tmp_path: Path) -> Path:
    path = tmp_path / "project" / "plan.toml"
    path.parent.mkdir()
    path.write_text(PLAN)
    return path


def _heard(document: PlanDocument) -> list[frozenset[str]]:
    heard: list[frozenset[str]] = []
    document.changed.connect(heard.append)
    return heard


def test_that_a_fresh_plan_is_of_use(document: PlanDocument) -> None:
    assert (document.plan.family, document.plan.kind) == ("sdxl", "lora")
    assert document.layer_on("caution") == "safe"
    assert document.filled.findings == ()
    assert not document.dirty
    assert document.path is None
    assert document.script == "sdxl_train_network.py"


def test_that_a_change_is_one_step_with_its_words_and_can_be_undone(document: PlanDocument) -> None:
    heard = _heard(document)
    assert document.change({"seed": 5, "dataset.batch_size": 2}, "Set two values") == ""
    assert document.undo_stack.undoText() == "Set two values"
    assert document.dirty
    document.undo_stack.undo()
    assert "seed" not in document.plan.arguments
    assert not document.dirty
    document.undo_stack.redo()
    assert document.plan.dataset["batch_size"] == 2
    assert heard == [frozenset({"seed", "dataset.batch_size"})] * 3


def test_that_typing_becomes_one_step_until_the_field_is_left(document: PlanDocument) -> None:
    for text in ("5", "5e", "5e-5"):
        document.change({"unet_lr": text}, f"Set {text}", merge="unet_lr")
    document.end_merge()
    for text in ("5e-6", "5e-7"):
        document.change({"unet_lr": text}, f"Set {text}", merge="unet_lr")
    assert document.undo_stack.count() == 2
    document.undo_stack.undo()
    assert document.plan.arguments["unet_lr"] == "5e-5"
    document.undo_stack.undo()
    assert "unet_lr" not in document.plan.arguments


def test_that_typing_back_to_what_it_was_leaves_no_step(document: PlanDocument) -> None:
    document.change({"seed": 1}, "Seed")
    document.end_merge()
    document.change({"seed": 12}, "Seed", merge="seed")
    document.change({"seed": 1}, "Seed", merge="seed")
    assert document.undo_stack.count() == 1
    assert document.plan.arguments["seed"] == 1
    document.undo_stack.undo()
    assert "seed" not in document.plan.arguments


def test_that_no_change_is_no_step(document: PlanDocument) -> None:
    document.change({"seed": None}, "Remove what is not there")
    document.undo_stack.clear()
    heard = _heard(document)
    document.change({"plan.kind": "lora"}, "The same again")
    assert document.undo_stack.count() == 0
    assert heard == []


def test_that_presets_tell_their_targets_and_values_tell_their_reasons(document: PlanDocument) -> None:
    heard = _heard(document)
    document.set_layer("memory", "12gib")
    assert document.plan.presets == ("sdxl", "character", "safe", "12gib")
    assert "gradient_accumulation_steps" in heard[0]
    assert "plan.presets" in heard[0]
    value, source, reason, preset_value = document.effective("gradient_accumulation_steps")
    assert (value, source, preset_value) == (4, "preset", 4)
    assert reason
    document.set_presets(["sdxl"])
    assert document.effective("gradient_accumulation_steps")[:2] == (1, "trainer")


def test_that_a_deviation_is_told_and_taken_back_with_one_click(document: PlanDocument) -> None:
    wanted = document.effective("network_dim").value
    document.change({"network_dim": 128}, "Rank")
    assert document.effective("network_dim") == (
        128,
        "user",
        document.effective("network_dim").reason,
        wanted,
    )
    assert document.effective("network_dim").reason
    assert document.deviates("network_dim")
    document.change({"network_dim": wanted}, "Rank")
    assert not document.deviates("network_dim")
    document.change({"network_dim": 64}, "Rank")
    document.take_back("network_dim")
    assert "network_dim" not in document.plan.arguments
    assert document.effective("network_dim")[:2] == (wanted, "preset")


def test_that_a_preset_value_that_was_taken_out_can_be_taken_back(document: PlanDocument) -> None:
    document.change({"lr_warmup_steps": None}, "No warm-up")
    assert document.effective("lr_warmup_steps").source == "trainer"
    assert document.deviates("lr_warmup_steps")
    document.take_back("lr_warmup_steps")
    assert document.effective("lr_warmup_steps").source == "preset"
    assert document.plan.without == ()


def test_that_dataset_values_are_found_wherever_the_plan_says_them(document: PlanDocument) -> None:
    document.new(
        TrainingPlan(
            family="sdxl",
            presets=("sdxl", "safe", "12gib"),
            arguments={"train_batch_size": 3},
            dataset={"general": {"resolution": 768}},
        )
    )
    assert document.effective("dataset.batch_size")[:2] == (3, "user")
    assert document.effective("dataset.resolution")[:2] == (768, "user")
    document.take_back("dataset.batch_size")
    document.take_back("dataset.resolution")
    assert document.effective("dataset.batch_size")[:2] == (1, "preset")
    assert document.effective("dataset.resolution")[:2] == ([1024, 1024], "preset")
    assert document.effective("dataset.min_bucket_reso").source == "preset"


def test_that_family_trainer_and_settings_answer_too(document: PlanDocument) -> None:
    assert document.effective("network_module")[:2] == ("networks.lora", "family")
    document.change({"network_module": "lycoris.kohya"}, "Network")
    assert document.effective("network_module")[3] == "networks.lora"
    assert document.effective("launch.num_processes") == (1, "trainer", "", None)
    document.change({"launch.num_processes": 2, "env.A": "b"}, "Launch")
    assert document.effective("launch.num_processes")[:2] == (2, "user")
    assert document.effective("env.A")[:2] == ("b", "user")
    document.take_back("launch.num_processes")
    assert document.plan.launch.num_processes == 1
    assert document.effective("guard.nonfinite")[:2] == ("stop", "trainer")


def test_that_another_family_leaves_layers_for_others_out(document: PlanDocument) -> None:
    document.set_family("flux1")
    assert document.plan.presets == ("flux1", "character", "safe")
    assert document.filled.findings == ()
    document.set_family("flux1", "full")
    assert document.plan.kind == "full"
    document.undo_stack.undo()
    document.undo_stack.undo()
    assert document.plan.family == "sdxl"


def test_that_what_a_plan_cannot_hold_is_said_and_changes_nothing(document: PlanDocument) -> None:
    before = document.plan
    sentence = document.change({"launch.num_processes": "many"}, "Processes")
    assert "launch.num_processes" in sentence
    assert document.refusal_of({"nowhere.at_all": 1})
    assert document.refusal_of({"seed": 1}) == ""
    assert document.refusal_of({"seed.deeper": 1})
    assert document.take_back("strange.place")
    assert document.plan is before
    assert document.undo_stack.count() == 0


def test_that_saving_keeps_comments_and_unknown_keys(document: PlanDocument, plan_path: Path) -> None:
    document.open(plan_path)
    document.change({"unet_lr": 5e-5}, "Rate")
    document.save()
    assert not document.dirty
    text = plan_path.read_text()
    assert text == PLAN.replace("8e-5", "5e-05")
    document.undo_stack.undo()
    assert document.dirty
    assert document.recents.entries()[0].name == "mira"


def test_that_saving_elsewhere_keeps_paths_pointing_where_they_did(
    document: PlanDocument, plan_path: Path, tmp_path: Path
) -> None:
    document.open(plan_path)
    document.change({"seed": 7}, "Seed")
    document.save_as(tmp_path / "copy.toml")
    assert document.path == tmp_path / "copy.toml"
    assert document.plan.dataset["subsets"][0]["image_dir"] == "project/images/mira"
    assert not document.dirty
    document.undo_stack.undo()
    assert document.plan.dataset["subsets"][0]["image_dir"] == "project/images/mira"
    assert "seed" not in document.plan.arguments


def test_that_a_file_that_another_program_changed_is_not_overwritten(
    document: PlanDocument, plan_path: Path
) -> None:
    document.open(plan_path)
    document.change({"seed": 7}, "Seed")
    assert not document.look_at_disk()
    theirs = PLAN.replace("8e-5", "1e-3")
    plan_path.write_text(theirs)
    assert document.look_at_disk()
    assert document.disk_changed
    with pytest.raises(WouldOverwrite) as caught:
        document.save()
    assert caught.value.disk is not None
    assert caught.value.disk.plan.arguments["unet_lr"] == 1e-3
    assert caught.value.ours.arguments["seed"] == 7
    assert caught.value.same_file
    assert "another program" in str(caught.value)
    assert plan_path.read_text() == theirs
    document.save(overwrite=True)
    assert load_plan(plan_path).plan.arguments == {"unet_lr": 8e-5, "output_dir": "out", "seed": 7}
    assert not document.disk_changed


def test_that_another_file_is_not_overwritten_unasked(
    document: PlanDocument, plan_path: Path, tmp_path: Path
) -> None:
    with pytest.raises(WouldOverwrite) as caught:
        document.save_as(plan_path)
    assert not caught.value.same_file
    assert "already exists" in str(caught.value)
    (tmp_path / "no plan.toml").write_bytes(b"\xff")
    with pytest.raises(WouldOverwrite) as caught:
        document.save_as(tmp_path / "no plan.toml")
    assert caught.value.disk is None
    document.save_as(plan_path, overwrite=True)
    assert load_plan(plan_path).plan.family == "sdxl"


def test_that_a_file_that_was_deleted_meanwhile_is_written_anew(
    document: PlanDocument, plan_path: Path
) -> None:
    document.open(plan_path)
    document.change({"seed": 7}, "Seed")
    plan_path.unlink()
    document.save()
    assert load_plan(plan_path).plan.arguments["seed"] == 7


def test_that_what_cannot_be_saved_is_an_error_with_words(document: PlanDocument, tmp_path: Path) -> None:
    with pytest.raises(WrongUsage):
        document.save()
    with pytest.raises(CannotRead):
        document.open(tmp_path / "nowhere.toml")
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotWrite):
        document.save_as(tmp_path / "file" / "plan.toml")
    document.change({"output_name": "bad \udcff sign", "optimizer_args": [None]}, "Strange values")
    with pytest.raises(CannotWrite):
        document.save_as(tmp_path / "plan.toml")
    document.change({"optimizer_args": None}, "Less strange")
    with pytest.raises(CannotWrite):
        document.save_as(tmp_path / "plan.toml")
    assert document.dirty


def test_that_a_plan_of_a_newer_version_is_only_looked_at(document: PlanDocument, tmp_path: Path) -> None:
    path = tmp_path / "newer.toml"
    path.write_text('schema = 99\nname = "later"\nfamily = "sdxl"\n')
    document.open(path)
    assert document.read_only
    assert "newer" in document.change({"seed": 1}, "Seed")
    assert not document.dirty
    with pytest.raises(NewerDocument):
        document.save()
    document.new()
    assert not document.read_only


def test_that_unsaved_work_survives_the_program(
    qtbot: QtBot, make: Callable[..., PlanDocument], plan_path: Path
) -> None:
    first = make()
    first.open(plan_path)
    first.change({"seed": 7}, "Seed")
    draft = first.drafts.folder / f"{first.drafts.instance}.json"
    qtbot.waitUntil(draft.exists)
    first.drafts.close()  # as the system does when the program dies

    second = make()
    (left,) = second.drafts.left_behind()
    second.reopen(left)
    assert second.path == plan_path
    assert second.plan.arguments["seed"] == 7
    assert second.dirty
    assert not second.disk_changed
    second.save()
    assert "# gentle" in plan_path.read_text()
    assert second.drafts.left_behind() == []
    second.close()
    assert list(second.drafts.folder.iterdir()) == []


def test_that_reopened_work_does_not_overwrite_what_changed_meanwhile(
    make: Callable[..., PlanDocument], plan_path: Path
) -> None:
    first = make()
    first.open(plan_path)
    first.change({"seed": 7}, "Seed")
    first.close()
    plan_path.write_text(PLAN.replace("8e-5", "1e-3"))
    second = make()
    second.reopen(second.drafts.left_behind()[0])
    assert second.disk_changed
    with pytest.raises(WouldOverwrite):
        second.save()


def test_that_reopened_work_whose_file_is_gone_can_be_saved_again(
    make: Callable[..., PlanDocument], plan_path: Path
) -> None:
    first = make()
    first.open(plan_path)
    first.change({"seed": 7}, "Seed")
    first.close()
    plan_path.unlink()
    second = make()
    left = second.drafts.left_behind()[0]
    assert second.reopen(left)
    assert second.dirty
    second.save()
    assert load_plan(plan_path).plan.arguments["seed"] == 7
    assert not second.reopen(left)


def test_that_opening_another_plan_keeps_unsaved_work_as_a_draft(
    document: PlanDocument, plan_path: Path
) -> None:
    document.change({"seed": 7}, "Seed")
    document.open(plan_path)
    assert document.name == "mira"
    assert not document.undo_stack.canUndo()
    (left,) = document.drafts.left_behind()
    document.change({"seed": 8}, "Seed")
    document.reopen(left)
    assert document.plan.arguments["seed"] == 7
    assert document.path is None
    assert [found.draft.plan.arguments["seed"] for found in document.drafts.left_behind()] == [8]


def test_that_work_that_cannot_be_kept_is_not_left(qtbot: QtBot, tmp_path: Path, plan_path: Path) -> None:
    root = tmp_path / "no home"
    root.write_text("")
    document = PlanDocument(drafts=Drafts(Home(root)), recents=Recents(Home(root)))
    document.change({"seed": 7}, "Seed")
    qtbot.waitUntil(lambda: bool(document.draft_problem))
    with pytest.raises(CannotWrite):
        document.open(plan_path)
    assert document.plan.arguments["seed"] == 7
    document.save_as(tmp_path / "saved.toml")
    document.open(plan_path)
    assert document.draft_problem == ""
    document.close()


def test_that_an_imported_plan_is_unsaved_work(document: PlanDocument) -> None:
    opened: list[str] = []
    document.opened.connect(lambda: opened.append(document.name))
    document.new(TrainingPlan(name="imported"), unsaved=True)
    assert opened == ["imported"]
    assert document.dirty
    assert document.script == ""
    assert document.script_arguments is None


def test_that_another_trainers_arguments_decide_what_is_filled_in(make: Callable[..., PlanDocument]) -> None:
    document = make(catalogue=None)
    assert document.effective("seed").source == "preset"
    document.use_catalogue(Catalogue({}))
    assert document.script_arguments is None
    document.use_catalogue(Catalogue.bundled())
    assert document.default("lr_scheduler") == "constant"
    document.use_library(document.library)


TARGETS = st.sampled_from(
    """
    unet_lr network_dim optimizer_args dataset.batch_size dataset.general env.A plan.name launch.num_processes
    guard.nonfinite plan.presets dataset.subsets dataset.subsets.0.num_repeats lr_scheduler optimizer_type
    learning_rate plan.family plan.kind nowhere.at dataset.datasets
    """.split()  # noqa: SIM905 - easier to read
)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.text(max_size=3), max_size=2),
    st.just([{"image_dir": "a"}]),
    st.just({"resolution": 512}),
    st.sampled_from(["sdxl", "flux1", "lora", "full", ("sdxl", "safe"), ("nowhere", "flux1")]),
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(TARGETS, VALUES, st.sampled_from(["", "", "a", "back"])), max_size=12))
def test_that_undoing_everything_ends_where_it_began(document: PlanDocument, steps: list[Any]) -> None:
    document.new()
    document.undo_stack.clear()
    first = document.plan
    for target, value, merge in steps:
        if merge == "back":
            document.take_back(target)
        else:
            document.change({target: value}, "Change", merge=merge)
        document.effective(target)
        document.deviates(target)
    last = document.plan
    while document.undo_stack.canUndo():
        document.undo_stack.undo()
    assert same_value(document.plan.data(), first.data())
    while document.undo_stack.canRedo():
        document.undo_stack.redo()
    assert same_value(document.plan.data(), last.data())
    document.undo_stack.setIndex(0)
