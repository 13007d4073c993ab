"""The wizard: steps, choices, values, and the way back; by clicking and typing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fake_nvml import FakeNvml
from plan_wizard import Wizard
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from gui.engine.hardware.gpu import GpuSample
from gui.engine.paths import Home
from gui.engine.plan.model import LaunchSettings, TrainingPlan
from gui.engine.quantities import GIB
from gui.window.pages.plan.memory import found_gpus
from gui.window.pages.plan.places import STEPS, step_of
from gui.window.pages.plan.rows import FieldRow
from gui.window.pages.plan.step import Step
from gui.window.theme.theme import Theme


@pytest.fixture
def wizard(qtbot, home: Home, tasks, theme, icons, show) -> Iterator[Wizard]:
    """Return the wizard with a fresh plan, shown."""
    made = Wizard(qtbot, home, tasks, theme, icons)
    show(made.page, 1010, 660)
    made.settle()
    yield made
    made.settle()
    made.close()


def test_that_a_family_is_picked_by_its_card_and_undone(wizard):
    assert "Stable Diffusion XL · LoRA · Character · Safe" in wizard.words()
    wizard.click("family-flux1")
    assert wizard.document.plan.family == "flux1"
    assert "FLUX.1 · LoRA" in wizard.text("plan-about")
    assert {"field-clip_l", "field-t5xxl", "field-ae"} <= wizard.names()
    assert "Choose FLUX.1" in wizard.find("undo").toolTip()
    wizard.click("undo")
    assert wizard.document.plan.family == "sdxl"
    assert "Stable Diffusion XL" in wizard.text("plan-about")
    wizard.click("redo")
    assert wizard.document.plan.family == "flux1"


def test_that_a_kind_that_a_family_has_not_says_why(wizard):
    card = wizard.find("kind-dreambooth")
    assert not card.isEnabled()
    assert "DreamBooth script is for Stable Diffusion 1 and 2" in wizard.words(card)
    wizard.click("family-sd15")
    assert wizard.find("kind-dreambooth").isEnabled()


def test_that_another_kind_shows_its_own_fields(wizard):
    wizard.click("kind-textual_inversion")
    wizard.page.show_step("training")
    assert wizard.shown("field-token_string")
    assert not wizard.shown("field-network_dim")
    assert wizard.shown("field-learning_rate")
    assert not wizard.shown("field-unet_lr")


def test_that_a_purpose_changes_the_presets_and_not_the_users_values(wizard):
    wizard.page.show_step("training")
    wizard.type("field-max_train_steps", "777")
    wizard.page.show_step("what")
    wizard.click("purpose-style")
    wizard.page.show_step("training")
    assert wizard.text("field-max_train_steps") == "777"
    assert wizard.text("field-network_dim") == "16"
    assert "changed from 2500" in wizard.words()


def test_that_a_typed_number_is_kept_marked_and_taken_back(wizard):
    wizard.page.show_step("training")
    assert wizard.text("field-unet_lr") == "8e-5"
    wizard.type("field-unet_lr", "1e-4")
    assert wizard.document.plan.arguments["unet_lr"] == 1e-4
    row = wizard.find("row-unet_lr")
    assert "changed from 8e-5" in wizard.words(row)
    wizard.click("take-back-unet_lr")
    assert "unet_lr" not in wizard.document.plan.arguments
    assert wizard.text("field-unet_lr") == "8e-5"
    assert "changed from" not in wizard.words(row)
    assert wizard.find("field-unet_lr").hasFocus()


def test_that_every_value_says_why_it_is_so(wizard):
    wizard.page.show_step("training")
    row = wizard.find("row-lr_scheduler")
    assert "The rate falls gently to zero" in wizard.words(row)
    assert "lr_scheduler" in wizard.words(row)


def test_that_what_is_no_number_stays_to_be_seen_and_is_a_finding(wizard):
    wizard.page.show_step("training")
    wizard.type("field-seed", "many")
    wizard.settle()
    assert wizard.text("field-seed") == "many"
    row = wizard.find("row-seed")
    wizard.qtbot.waitUntil(lambda: "seed" in wizard.words(row) and "stops" in wizard.words(row))
    wizard.qtbot.waitUntil(lambda: "stop" in wizard.find("go-training").accessibleName())


def test_that_a_finding_is_mended_beside_its_field(wizard):
    wizard.page.show_step("training")
    wizard.type("field-seed", "many")
    wizard.settle()
    row = wizard.find("row-seed")
    fixes = [each for each in wizard.names() if each.startswith("fix-") and "seed" in wizard.text(each)]
    assert fixes
    wizard.click(fixes[0])
    wizard.settle()
    assert "stops" not in wizard.words(row)


def test_that_an_unusual_value_is_told_calmly(wizard):
    wizard.page.show_step("training")
    wizard.type("field-network_dim", "9999")
    assert "Usual is 1 to 256." in wizard.words(wizard.find("row-network_dim"))


def test_that_steps_become_epochs(wizard):
    wizard.page.show_step("training")
    wizard.choose("unit-max_train_steps", "epochs")
    assert "max_train_steps" not in wizard.document.filled.plan.arguments
    wizard.type("field-max_train_steps", "12")
    assert wizard.document.plan.arguments["max_train_epochs"] == 12
    wizard.page.show_step("what")
    wizard.page.show_step("training")
    assert wizard.text("field-max_train_steps") == "12"


def test_that_a_switch_is_turned_by_the_space_bar(wizard):
    wizard.page.show_step("training")
    switch = wizard.find("field-network_train_unet_only")
    switch.setFocus()
    QTest.keyClick(switch, Qt.Key.Key_Space)
    assert wizard.document.plan.arguments["network_train_unet_only"] is True
    assert switch.text() == "on"
    switch = wizard.find("field-gradient_checkpointing")
    QTest.keyClick(switch, Qt.Key.Key_Space)
    assert "changed from on" in wizard.words(wizard.find("row-gradient_checkpointing"))


def test_that_two_text_encoders_may_have_two_rates(wizard):
    wizard.page.show_step("training")
    wizard.type("field-text_encoder_lr", "1e-5 2e-6")
    assert wizard.document.plan.arguments["text_encoder_lr"] == [1e-5, 2e-6]
    assert wizard.text("field-text_encoder_lr") == "1e-5 2e-6"


def test_that_caution_is_chosen_by_a_card_that_says_what_it_changes(wizard):
    wizard.page.show_step("careful")
    words = wizard.words(wizard.find("caution-standard"))
    assert "U-Net learning rate" in words
    assert "2e-4" in words
    wizard.click("caution-standard")
    assert wizard.document.layer_on("caution") == "standard"
    assert wizard.page.focusWidget() is wizard.find("caution-standard")
    assert "Standard" in wizard.text("plan-about")
    wizard.click("undo")
    assert wizard.document.layer_on("caution") == "safe"


def test_that_the_guard_is_chosen_in_words(wizard):
    wizard.page.show_step("careful")
    wizard.click("guard-confirm")
    assert wizard.document.plan.guard.nonfinite == "confirm"
    card = wizard.find("guard-warn")
    card.setFocus()
    QTest.keyClick(card, Qt.Key.Key_Return)
    assert wizard.document.plan.guard.nonfinite == "warn"


def test_that_tries_without_anybody_there_are_typed_and_a_number_that_does_not_count_says_so(wizard):
    wizard.page.show_field("guard.memory_retries")
    assert wizard.page.current == "careful"
    wizard.type("field-guard.memory_retries", "9")
    assert wizard.document.plan.guard.memory_retries == 9
    wizard.wait_for("tried again by itself 5 times at most, not 9.")
    assert "Usual is 0 to 5." in wizard.words(wizard.find("row-guard.memory_retries"))
    wizard.click("fix-tries-write")
    assert wizard.document.plan.guard.memory_retries == 5
    wizard.qtbot.waitUntil(lambda: "at most, not 9" not in wizard.words())
    wizard.type("field-guard.recoveries", "2")
    wizard.type("field-guard.memory_retries", "")
    assert (wizard.document.plan.guard.memory_retries, wizard.document.plan.guard.recoveries) == (0, 2)
    wizard.type("field-guard.recoveries", "often")
    assert wizard.document.plan.guard.recoveries == 2


def test_that_a_machine_without_gpu_is_told_calmly_and_a_size_is_chosen(wizard):
    wizard.page.show_step("memory")
    assert "No NVIDIA GPU seen: there is no driver. The plan can be made all the same" in wizard.words()
    wizard.click("memory-8gib")
    assert wizard.document.layer_on("memory") == "8gib"
    wizard.wait_for("What 8 GB changes")
    wizard.click("memory-none")
    assert wizard.document.layer_on("memory") is None


def test_that_of_a_divided_gpu_only_the_part_that_would_train_can_be_chosen():
    parts = [("MIG-0", 0), ("MIG-1", 0), ("GPU-1", 1)]
    samples = [
        GpuSample(index=index, uuid=uuid, free_bytes=number) for number, (uuid, index) in enumerate(parts)
    ]
    assert [(gpu.index, gpu.free_bytes) for gpu in found_gpus(samples, [])] == [(0, 0), (1, 2)]


def test_that_a_found_gpu_sets_memory_and_precision_in_one_step(wizard):
    wizard.hardware.plug_in(("Tesla T4", 14.8, "7.5"), ("GeForce RTX 3060", 12, "8.6"))
    wizard.page.show_step("memory")
    wizard.wait_for("GPU 1 · 11.0 GiB of 12.0 GiB free")
    wizard.click("gpu-0")
    assert wizard.document.plan.launch.gpu_ids == (0,)
    assert wizard.document.layer_on("memory") == "16gib"
    assert wizard.document.layer_on("gpu") == "no-bf16"
    wizard.click("gpu-1")
    assert wizard.document.layer_on("memory") == "12gib"
    assert wizard.document.layer_on("gpu") is None
    wizard.click("undo")
    wizard.click("undo")
    assert wizard.document.plan.launch.gpu_ids == ()
    assert wizard.document.layer_on("memory") is None
    wizard.click("gpu-1")
    wizard.click("gpu-any")
    assert wizard.document.plan.launch.gpu_ids == ()


def test_that_gpus_that_come_later_are_shown(wizard):
    wizard.page.show_step("memory")
    assert "GeForce" not in wizard.words()
    wizard.hardware.plug_in(("GeForce RTX 3060", 12, "8.6"))
    assert "GeForce RTX 3060" in wizard.words()


def test_that_next_and_back_go_through_all_steps(wizard):
    seen = [wizard.page.current]
    while wizard.shown("next"):
        wizard.click("next")
        seen.append(wizard.page.current)
    assert tuple(seen) == STEPS[:-1]
    assert wizard.review.isVisible()
    wizard.click("back")
    assert wizard.page.current == "saving"


def test_that_steps_are_reached_by_keys(wizard, qtbot):
    wizard.page.activateWindow()
    qtbot.waitUntil(wizard.page.isActiveWindow)
    QTest.keyClick(wizard.page, Qt.Key.Key_5, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: wizard.page.current == "training")
    button = wizard.find("go-training")
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Down)
    assert wizard.page.current == "saving"
    QTest.keyClick(wizard.find("go-saving"), Qt.Key.Key_Up)
    QTest.keyClick(wizard.find("go-training"), Qt.Key.Key_Up)
    assert wizard.page.current == "memory"


def test_that_untouched_steps_are_not_blamed(wizard):
    assert "not looked at yet" in wizard.find("go-data").accessibleName()
    wizard.click("go-data")
    wizard.qtbot.waitUntil(lambda: "stop" in wizard.find("go-data").accessibleName())
    assert "not looked at yet" in wizard.find("go-saving").accessibleName()
    wizard.click("review")
    wizard.qtbot.waitUntil(lambda: "stop the run" in wizard.find("go-review").accessibleName())


def test_that_a_field_is_found_wherever_it_is(wizard):
    targets = {
        "unet_lr": "training",
        "output_dir": "saving",
        "dataset.resolution": "data",
        "vae": "what",
        "sample_prompts": "saving",
    }
    for target, step in targets.items():
        wizard.page.show_field(target)
        assert wizard.page.current == step == step_of(target)
        focused = QApplication.focusWidget() or wizard.page.focusWidget()
        assert target in focused.objectName() or focused.objectName() == "sample-prompts"
    for target, step in {
        "guard.nonfinite": "careful",
        "launch.gpu_ids": "memory",
        "plan.kind": "what",
    }.items():
        wizard.page.show_field(target)
        assert wizard.page.current == step
    wizard.page.show_field("ip_noise_gamma")
    assert wizard.page.current == "arguments"
    assert wizard.arguments.asked == ["ip_noise_gamma"]


def test_that_a_field_that_does_not_count_is_shown_in_the_table(wizard):
    wizard.page.show_field("learning_rate_te")
    assert wizard.page.current == "arguments"
    assert wizard.arguments.asked == ["learning_rate_te"]


def test_that_the_review_is_one_click_away(wizard, qtbot):
    with qtbot.waitSignal(wizard.page.review_wanted):
        wizard.click("review")
    assert wizard.review.isVisible()


def test_that_a_plan_is_renamed_in_place(wizard):
    wizard.type("plan-name", "mira")
    assert wizard.document.name == "mira"
    wizard.type("plan-name", "")
    assert wizard.text("plan-name") == "mira"


STRANGE = (None, 3.5, "yes", 10**30, float("nan"), True, [], ["a", {"b": 1}], {"c": [1]}, "\x00\ud800")


def strange_plan(family: str, names: set[str], value: object) -> TrainingPlan:
    """Return a plan that says the same strange thing everywhere."""
    dataset = {name.removeprefix("dataset."): value for name in names if name.startswith("dataset.")}
    subset = {"image_dir": value, "num_repeats": value, "class_tokens": value}
    return TrainingPlan(
        family=family,
        presets=("safe", "nowhere"),
        arguments={name: value for name in names if "." not in name},
        dataset={**dataset, "subsets": [subset, value]},
    )


@pytest.mark.parametrize("family", ["sdxl", "flux1", "unheard-of"])
def test_that_plans_with_values_of_any_type_are_shown_and_can_be_mended(wizard, family):
    for step in STEPS:
        wizard.page.show_step(step)
    rows = wizard.page.findChildren(FieldRow)
    names = {target for row in rows for target in row.field.targets}
    names |= {"pretrained_model_name_or_path", "vae", "t5xxl", "sample_prompts"}
    for value in STRANGE:
        wizard.document.new(strange_plan(family, names, value), unsaved=True)
        for step in STEPS:
            wizard.page.show_step(step)
        wizard.page.show_step("training")
        wizard.type("field-seed", "5")
        assert wizard.document.plan.arguments["seed"] == 5
    wizard.settle()


ODD_SECTIONS = ({"subsets": 3}, {"datasets": "x"}, {"datasets": [1, {"subsets": 2}]}, {"subsets": {}})


@pytest.mark.parametrize("section", ODD_SECTIONS, ids=str)
def test_that_a_dataset_of_any_shape_is_shown(wizard, section, tmp_path, drop):
    wizard.document.new(TrainingPlan(family="sdxl", dataset=section), unsaved=True)
    wizard.page.show_step("data")
    drop(wizard.page, [tmp_path])
    wizard.wait_for(str(tmp_path))
    wizard.settle()


@pytest.fixture
def small_gpu(nvml_libraries, tmp_path, monkeypatch) -> None:
    """Let this machine have a GPU on which little fits, so that long ways out are offered."""
    gpus = FakeNvml(nvml_libraries["new"], tmp_path / "gpus")
    gpus.set(count=1, total=6 * GIB, used=0)
    gpus.inside(monkeypatch)


@pytest.mark.usefixtures("small_gpu")
@pytest.mark.parametrize("percent", [100, 150])
def test_that_nothing_is_wider_than_its_place(
    theme: Theme, pseudo_language, show, icons, percent, home, tasks, qtbot
):
    theme.set_text_percent(percent)
    made = Wizard(qtbot, home, tasks, theme, icons)
    made.hardware.plug_in(("GeForce RTX 3060", 12, "8.6"))
    changed = {"unet_lr": 3e-4, "seed": "many", "network_dim": 999, "max_train_steps": 123456}
    missing = {"vae": "/no/such/folder/at/all/vae.safetensors", "save_every_n_steps": 77}
    folder = {"dataset.subsets": [{"image_dir": "/no/such/folder/of/images"}], "dataset.batch_size": 4}
    made.document.change({**changed, **missing, **folder}, "change")
    made.settle()
    show(made.page, 1012, 664)  # what is left of 1100×700 beside the side bar
    try:
        for name in STEPS[:6]:
            made.page.show_step(name)
            QApplication.processEvents()
            made.settle()
            step = made.page.findChild(Step, f"step-{name}")
            inner, room = step.scroller.widget(), step.scroller.viewport().width()
            assert inner.minimumSizeHint().width() <= room, name
        assert made.page.minimumSizeHint().width() <= 1012
        made.settle()
    finally:
        made.close()
        theme.set_text_percent(100)


def test_that_a_plan_of_a_newer_version_can_only_be_looked_at(wizard, tmp_path):
    path = tmp_path / "new.toml"
    path.write_text('schema = 99\nname = "newer"\nfamily = "sdxl"\n', encoding="utf-8")
    wizard.document.open(path)
    wizard.page.show_step("training")
    assert wizard.text("plan-state") == "! to look at only"
    assert not wizard.find("field-unet_lr").isEnabled()
    assert not wizard.find("save-plan").isEnabled()
    wizard.page.show_step("what")
    wizard.click("family-flux1")
    assert "can only be looked at" in wizard.words()


def test_that_cards_are_reached_by_arrow_keys(wizard):
    wizard.page.show_step("careful")
    wizard.find("caution-stable-first").setFocus()
    QTest.keyClick(wizard.find("caution-stable-first"), Qt.Key.Key_Right)
    assert wizard.page.focusWidget() is wizard.find("caution-safe")
    QTest.keyClick(wizard.find("caution-safe"), Qt.Key.Key_Left)
    QTest.keyClick(wizard.find("caution-stable-first"), Qt.Key.Key_Left)
    assert wizard.page.focusWidget() is wizard.find("caution-stable-first")


def test_that_several_gpus_of_a_plan_are_named(wizard):
    launch = LaunchSettings(gpu_ids=(0, 3))
    wizard.document.new(TrainingPlan(family="sdxl", launch=launch), unsaved=True)
    wizard.hardware.plug_in(("GeForce RTX 3060", 12, "8.6"))
    wizard.page.show_step("memory")
    assert "The plan trains on: GPU 0, GPU 3." in wizard.words()


def test_that_a_gpu_serves_plans_of_families_that_are_not_known(wizard):
    wizard.hardware.plug_in(("GeForce RTX 3060", 12, "8.6"))
    wizard.document.new(TrainingPlan(family="unheard-of"), unsaved=True)
    assert "“unheard-of”, which is not known here" in wizard.words()
    wizard.page.show_step("memory")
    wizard.click("gpu-0")
    assert wizard.document.layer_on("memory") == "12gib"


def test_that_a_choice_can_be_typed_where_names_are_open(wizard):
    wizard.page.show_step("training")
    line = wizard.find("field-optimizer_type").lineEdit()
    line.setFocus()
    line.selectAll()
    QTest.keyClicks(line, "my.own.Optimizer")
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert wizard.document.plan.arguments["optimizer_type"] == "my.own.Optimizer"
    QTest.keyClick(wizard.find("field-optimizer_type"), Qt.Key.Key_Down)
    assert wizard.document.plan.arguments["optimizer_type"] == "AdamW"


def test_that_launching_stands_where_the_way_to_the_review_was(qtbot, home, tasks, theme, icons, show):
    class Review(QLabel):
        def __init__(self) -> None:
            super().__init__("review")
            self.launch_buttons = QPushButton("Launch safely")

    made = Wizard(qtbot, home, tasks, theme, icons, review=Review())
    show(made.page, 1010, 660)
    assert not made.review.launch_buttons.isVisible()
    made.click("review")
    assert made.review.launch_buttons.isVisible()
    assert not made.find("review").isVisible()
    made.settle()
    made.close()


def test_that_a_number_is_undone_as_one_step(wizard):
    before = wizard.document.undo_stack.count()
    wizard.page.show_step("training")
    wizard.type("field-seed", "1234")
    assert wizard.document.undo_stack.count() == before + 1
