"""The wizard's data: folders by drop, what is in them, mistakes and their mending; sample prompts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sight
from plan_wizard import Wizard, make_folder
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QPlainTextEdit, QToolTip

from gui.engine.errors import Cancelled, CannotRead, CannotWrite
from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.report import Steps
from gui.window.pages.plan.drops import sorted_drop
from gui.window.pages.plan.folder_look import load_pictures, look_into
from gui.window.pages.plan.model_files import argument_for
from gui.window.pages.plan.picture_strip import PictureStrip
from gui.window.pages.plan.prompt_files import MARK, place_for_prompts, read_prompts, write_prompts
from gui.window.pages.plan.words import breakable, steps_sentence

HERE = "dataset.subsets.0"


@pytest.fixture
def wizard(qtbot, home: Home, tasks, theme, icons, show) -> Iterator[Wizard]:
    """Return the wizard with a fresh plan, shown."""
    made = Wizard(qtbot, home, tasks, theme, icons)
    show(made.page, 1010, 660)
    made.settle()
    yield made
    made.settle()
    made.close()


@pytest.fixture
def with_folder(wizard, drop, tmp_path) -> Path:
    """Return a folder of 6 images, 4 of them with captions, that was dropped on the page."""
    folder = make_folder(tmp_path / "10_mira", 6, captions=4)
    drop(wizard.page, [folder])
    wizard.wait_for("6 images")
    wizard.settle()
    return folder


def test_that_a_dropped_folder_becomes_data_with_what_its_name_says(wizard, with_folder):
    assert wizard.page.current == "data"
    subset = wizard.document.plan.dataset["subsets"][0]
    assert subset == {"image_dir": str(with_folder), "num_repeats": 10, "class_tokens": "mira"}
    assert wizard.text(f"field-{HERE}.class_tokens") == "mira"
    assert wizard.text(f"field-{HERE}.num_repeats") == "10"
    words = wizard.words(wizard.find(f"subset-{HERE}"))
    assert "6 images" in words
    assert "4 captions" in words


def test_that_the_steps_are_counted_in_a_sentence(wizard, with_folder):
    wizard.type(f"field-{HERE}.num_repeats", "20")
    wizard.settle()
    wizard.wait_for("6 images × 20 repeats ÷ batch 2 ÷ 2 gathered = 30 steps an epoch")


def test_that_the_same_folder_is_not_added_twice(wizard, with_folder, drop):
    drop(wizard.page, [with_folder])
    wizard.settle()
    assert len(wizard.document.plan.dataset["subsets"]) == 1


def test_that_several_folders_and_images_are_dropped_on_their_place(wizard, with_folder, drop, tmp_path):
    other = make_folder(tmp_path / "style", 2)
    drop(wizard.find("drop-folder"), [other / "00.png", other / "01.png"])
    wizard.wait_for("2 images")
    folders = [Path(subset["image_dir"]).name for subset in wizard.document.plan.dataset["subsets"]]
    assert folders == ["10_mira", "style"]
    assert "Add style" in wizard.find("undo").toolTip()


def test_that_a_folder_is_taken_out_and_brought_back(wizard, with_folder, qtbot):
    wizard.click(f"remove-{HERE}")
    assert wizard.document.plan.dataset["subsets"] == []
    assert not wizard.shown(f"subset-{HERE}")
    assert with_folder.is_dir()
    wizard.click("undo")
    wizard.wait_for("6 images")


def test_that_a_folder_that_left_while_it_was_read_is_no_trouble(wizard, with_folder, drop, tmp_path, theme):
    for number in range(4):
        folder = make_folder(tmp_path / f"more-{number}", 12)
        wizard.document.change({"dataset.subsets": [{"image_dir": str(folder)}]}, "another folder")
    wizard.document.change({"dataset.subsets": []}, "none")
    wizard.settle()
    theme.set_text_percent(125)
    theme.set_text_percent(100)
    wizard.qtbot.waitUntil(lambda: not wizard.shown(f"subset-{HERE}"))


def test_that_a_folder_is_chosen_in_the_systems_dialog(wizard, tmp_path, monkeypatch):
    folder = make_folder(tmp_path / "cat", 3)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_args: str(folder))
    wizard.page.show_step("data")
    wizard.click("choose-folder")
    wizard.wait_for("3 images")


def test_that_the_folder_above_is_named_and_the_right_one_offered(wizard, drop, tmp_path):
    make_folder(tmp_path / "set" / "5_mira", 4, captions=4)
    make_folder(tmp_path / "set" / "1_other", 2, captions=2)
    drop(wizard.page, [tmp_path / "set"])
    wizard.wait_for("only in its sub-folders")
    wizard.settle()
    wizard.click("use-inside-5_mira")
    wizard.wait_for("4 images")
    subsets = wizard.document.plan.dataset["subsets"]
    assert [Path(each["image_dir"]).name for each in subsets] == ["5_mira"]
    assert subsets[0]["num_repeats"] == 5
    wizard.click("undo")
    assert Path(wizard.document.plan.dataset["subsets"][0]["image_dir"]).name == "set"
    wizard.wait_for("only in its sub-folders")
    wizard.click(f"use-all-{HERE}")
    assert len(wizard.document.plan.dataset["subsets"]) == 2


def test_that_captions_of_another_ending_are_mended_with_one_click(wizard, drop, tmp_path):
    folder = make_folder(tmp_path / "images", 4, captions=3, ending=".caption")
    drop(wizard.page, [folder])
    wizard.wait_for("4 images")
    wizard.settle()
    ways = [
        name for name in wizard.names() if name.startswith(("use-captions-", "fix-")) and wizard.shown(name)
    ]
    mends = [name for name in ways if ".caption" in wizard.text(name)]
    assert mends, ways
    wizard.click(mends[0])
    wizard.wait_for("3 captions")
    wizard.settle()
    assert "stops" not in wizard.words(wizard.find(f"subset-{HERE}"))


def test_that_a_folder_that_is_gone_is_said(wizard, drop, tmp_path):
    plan = TrainingPlan(family="sdxl", dataset={"subsets": [{"image_dir": str(tmp_path / "gone")}]})
    wizard.document.new(plan, unsaved=True)
    wizard.page.show_step("data")
    wizard.wait_for("not there")
    wizard.wait_for("No such file or directory")


def test_that_ignored_and_broken_files_are_counted(wizard, drop, tmp_path):
    folder = make_folder(tmp_path / "images", 3)
    (folder / "anim.gif").write_bytes(b"GIF89a")
    (folder / "01.png").write_bytes(b"no image at all")
    drop(wizard.page, [folder])
    wizard.wait_for("1 passed over")
    wizard.wait_for("1 broken")
    strips = sight.visible(wizard.page, kind=PictureStrip)
    assert strips[0].broken == ["01.png"]
    assert "01.png" in strips[0].accessibleDescription()
    for place, words in ((10, "00.png"), (90, "01.png: cannot be read as an image"), (900, "")):
        spot = QPoint(place, 10)
        event = QHelpEvent(QEvent.Type.ToolTip, spot, strips[0].mapToGlobal(spot))
        QApplication.sendEvent(strips[0], event)
        wizard.qtbot.waitUntil(lambda words=words: QToolTip.text() == words)


def test_that_values_for_the_number_of_images_are_offered(wizard, with_folder):
    wizard.click("adapt-to-size")
    assert wizard.document.layer_on("dataset") == "under-15-images"
    assert not wizard.find("adapt-to-size").isVisible()


def test_that_a_resolution_is_typed_as_people_write_it(wizard):
    wizard.page.show_step("data")
    assert wizard.text("field-dataset.resolution") == "1024 × 1024"
    wizard.type("field-dataset.resolution", "768")
    assert wizard.document.plan.dataset["resolution"] == [768, 768]
    wizard.type("field-dataset.resolution", "512x768")
    assert wizard.document.plan.dataset["resolution"] == [512, 768]
    wizard.type("field-dataset.resolution", "large")
    assert wizard.text("field-dataset.resolution") == "large"


def test_that_model_files_are_dropped_anywhere_and_sorted_by_name(wizard, drop, tmp_path):
    wizard.click("family-flux1")
    files = [
        tmp_path / name for name in ("flux1-dev.safetensors", "t5xxl_fp16.safetensors", "ae.safetensors")
    ]
    for file in files:
        file.write_bytes(b"\0" * 100)
    wizard.page.show_step("training")
    drop(wizard.page, files)
    wizard.wait_for("Model files")
    wizard.settle()
    assert wizard.page.current == "what"
    assert wizard.text("field-pretrained_model_name_or_path") == str(files[0])
    assert wizard.text("field-t5xxl") == str(files[1])
    assert wizard.text("field-ae") == str(files[2])


def test_that_a_model_file_says_whether_it_is_there(wizard, tmp_path):
    wizard.type("field-pretrained_model_name_or_path", str(tmp_path / "gone.safetensors"))
    wizard.wait_for("× not there")
    wizard.type("field-pretrained_model_name_or_path", "stabilityai/stable-diffusion-xl-base-1.0")
    wizard.wait_for("from the hub")
    (tmp_path / "base.safetensors").write_bytes(b"\0" * 1_000_000)
    wizard.type("field-pretrained_model_name_or_path", str(tmp_path / "base.safetensors"))
    wizard.wait_for("× broken")
    (tmp_path / "base.ckpt").write_bytes(b"\x80\x02" + b"\0" * 1_000_000)
    wizard.type("field-pretrained_model_name_or_path", str(tmp_path / "base.ckpt"))
    wizard.wait_for("✓ 1 MiB")


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("T5XXL_fp16.safetensors", "t5xxl"),
        ("clip_l.safetensors", "clip_l"),
        ("ae.safetensors", "ae"),
        ("flux1-dev.safetensors", "pretrained_model_name_or_path"),
        ("flux_vae.safetensors", "ae"),
        ("reggae_flux.safetensors", "pretrained_model_name_or_path"),
    ],
)
def test_that_a_model_files_name_tells_its_use(name, argument):
    known = ("pretrained_model_name_or_path", "clip_l", "t5xxl", "ae")
    assert argument_for(f"/models/{name}", known) == argument


def test_that_typed_prompts_go_into_a_file_of_the_home_as_long_as_there_is_no_plan_file(wizard):
    wizard.page.show_step("saving")
    box = wizard.find("sample-prompts", QPlainTextEdit)
    box.setFocus()
    QTest.keyClicks(box, "sks on a bridge --w 512")
    wizard.find("field-output_name").setFocus()
    wizard.wait_for("Kept in")
    path = Path(wizard.document.plan.arguments["sample_prompts"])
    assert path.parent == wizard.home.root / "prompts"
    assert path.read_text("utf-8") == f"{MARK}\nsks on a bridge --w 512\n"
    QTest.keyClick(box, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(box, Qt.Key.Key_Delete)
    wizard.qtbot.waitUntil(lambda: "sample_prompts" not in wizard.document.plan.arguments)


def test_that_prompts_are_kept_without_leaving_the_field(wizard):
    wizard.page.show_step("saving")
    box = wizard.find("sample-prompts", QPlainTextEdit)
    box.setFocus()
    QTest.keyClicks(box, "a cat")
    wizard.qtbot.waitUntil(lambda: "sample_prompts" in wizard.document.plan.arguments)
    assert box.hasFocus()


def test_that_a_foreign_file_of_prompts_is_shown_and_never_written(wizard, tmp_path, drop):
    path = tmp_path / "mine.txt"
    path.write_text("a dog\n", encoding="utf-8")
    wizard.page.show_step("saving")
    drop(wizard.find("field-sample_prompts").parentWidget(), [path])
    wizard.wait_for("This file is yours and stays as it is")
    box = wizard.find("sample-prompts", QPlainTextEdit)
    assert box.toPlainText() == "a dog"
    assert box.isReadOnly()
    wizard.type("field-sample_prompts", str(tmp_path / "gone.txt"))
    wizard.wait_for("cannot be read")
    assert path.read_text("utf-8") == "a dog\n"


def test_that_prompt_files_do_not_write_over_what_is_foreign(tmp_path):
    path = tmp_path / "prompts.txt"
    write_prompts(path, "one")
    write_prompts(path, "two")
    assert read_prompts(path).text.strip() == "two"
    path.write_text("theirs", encoding="utf-8")
    with pytest.raises(CannotWrite):
        write_prompts(path, "three")
    path.write_bytes(b"\xff\xfe\xff" * 100_000)
    with pytest.raises(CannotRead):
        read_prompts(path)
    with pytest.raises(CannotWrite):
        write_prompts(path, "three")


def test_that_prompts_have_a_place_beside_the_plan_that_is_free(tmp_path, home):
    plan = tmp_path / "mira v2.toml"
    assert place_for_prompts(plan, "x", home) == tmp_path / "mira_v2-prompts.txt"
    (tmp_path / "mira_v2-prompts.txt").touch()
    assert place_for_prompts(plan, "x", home) == tmp_path / "mira_v2-prompts-2.txt"
    assert place_for_prompts(None, "../../a:b", home) == home.root / "prompts" / "a_b-prompts.txt"
    assert place_for_prompts(None, "...", home).name == "plan-prompts.txt"


def test_that_a_look_into_a_folder_tells_what_the_trainer_would_see(tmp_path):
    folder = make_folder(tmp_path / "set", 3, captions=1)
    make_folder(folder / "deep", 2)
    (folder / "empty").mkdir()
    look = look_into(folder, ".txt", lambda: False)
    assert (look.images, look.captioned) == (3, 1)
    assert [(each.path.name, each.images) for each in look.inside] == [("deep", 2)]
    with pytest.raises(CannotRead):
        look_into(tmp_path / "gone", ".txt", lambda: False)


def test_that_pictures_are_read_small_and_upright_whatever_their_kind(tmp_path):
    from PIL import Image

    Image.new("RGB", (400, 200), "red").save(tmp_path / "a.jpg", exif=_turned())
    Image.new("LA", (40, 20)).save(tmp_path / "b.png")
    Image.new("RGB", (300, 300), "blue").save(tmp_path / "c.webp")
    Image.new("CMYK", (64, 64)).save(tmp_path / "d.jpg")
    (tmp_path / "e.png").write_bytes(b"")
    names = ["a.jpg", "b.png", "c.webp", "d.jpg", "e.png", "gone.png"]
    pictures = load_pictures(tmp_path, names, 48, lambda: False)
    assert [None if each is None else (each.width(), each.height()) for each in pictures] == [
        *((48, 48) for _each in range(4)),
        None,
        None,
    ]


def test_that_kinds_of_images_that_only_pillow_reads_are_shown(tmp_path):
    from PIL import Image

    Image.new("RGB", (64, 32), "green").save(tmp_path / "a.png", format="PCX")
    (picture,) = load_pictures(tmp_path, ["a.png"], 16, lambda: False)
    assert picture is not None
    assert (picture.width(), picture.height()) == (16, 16)
    assert picture.pixelColor(8, 8).green() > 100


def test_that_looking_ends_when_it_is_no_longer_wanted(tmp_path):
    folder = make_folder(tmp_path / "set", 1)
    make_folder(folder / "deep", 1)
    with pytest.raises(Cancelled):
        load_pictures(folder, ["00.png"], 16, lambda: True)
    with pytest.raises(Cancelled):
        look_into(folder, ".txt", lambda: True)


def test_that_findings_lead_to_their_folder(wizard, with_folder, drop, tmp_path):
    wizard.page.show_field(f"{HERE}.num_repeats")
    assert wizard.page.focusWidget() is wizard.find(f"field-{HERE}.num_repeats")
    wizard.page.show_field(f"{HERE}.image_dir")
    assert wizard.page.focusWidget() is wizard.find(f"field-{HERE}.class_tokens")
    wizard.page.show_field("dataset.subsets")
    assert wizard.page.focusWidget() is wizard.find("choose-folder")


def _turned() -> bytes:
    from PIL import Image

    exif = Image.Exif()
    exif[0x0112] = 6
    return exif.tobytes()


def test_that_a_drop_is_sorted_by_what_it_is(tmp_path):
    folder = make_folder(tmp_path / "images", 1)
    paths = [folder, folder / "00.png", tmp_path / "x.safetensors", tmp_path / "plan.toml"]
    dropped = sorted_drop([str(path) for path in paths])
    assert dropped.folders == [folder]
    assert dropped.models == [str(tmp_path / "x.safetensors")]
    assert dropped.setups == [tmp_path / "plan.toml"]


def test_that_the_arithmetic_is_told_in_one_sentence():
    steps = Steps(images=24, repeats=10, batches_per_epoch=120, epochs=10, total_steps=1200)
    told = steps_sentence(steps, 2, 1)
    assert told == "24 images × 10 repeats ÷ batch 2 = 120 steps an epoch, 10 epochs: 1,200 steps"
    single = Steps(images=1, repeats=None, batches_per_epoch=1, epochs=1, total_steps=1)
    assert steps_sentence(single, "x", None) == "1 image = 1 step an epoch, 1 epoch: 1 step"
    assert "Once there are images" in steps_sentence(None, 1, 1)


def test_that_long_words_can_be_broken():
    path = "/home/somebody/models/sdxl_base.safetensors"
    assert "\u200b" in breakable(f"{path} is missing")
    assert breakable(f"{path} is missing").replace("\u200b", "") == f"{path} is missing"
    assert breakable("short/words stay") == "short/words stay"
