"""The memory tables load, name what they were made with, and say in one sentence what is wrong with one."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from gui.engine.errors import CannotRead
from gui.engine.hardware.memory.tables import (
    FOLDER,
    MemoryTable,
    PassSetting,
    StepSetting,
    load_tables,
    read_table,
)
from gui.engine.plan.families import families, lineage
from gui.engine.resources import resource_path

STORED = sorted(resource_path(FOLDER).glob("*.json"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(resource_path(FOLDER, "sd15.json"), tmp_path)
    return tmp_path


def damage(folder: Path, change) -> Path:
    place = folder / "sd15.json"
    content = json.loads(place.read_text("utf-8"))
    change(content)
    place.write_text(json.dumps(content), "utf-8")
    return place


def reason_of_reading(place: Path) -> str:
    with pytest.raises(CannotRead) as caught:
        read_table(place)
    assert caught.value.path == place
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert str(place) in sentence
    return caught.value.reason


@pytest.mark.parametrize("place", STORED, ids=lambda place: place.stem)
def test_that_a_table_names_its_trainer_and_the_versions_it_was_made_with(place: Path):
    table = read_table(place)
    assert re.fullmatch(r"[0-9a-f]{40}", table.trainer_commit)
    assert re.match(r"\d+\.\d+", table.torch)
    assert re.match(r"\d+\.\d+", table.transformers)
    assert table.family in families()


@pytest.mark.parametrize("place", STORED, ids=lambda place: place.stem)
def test_that_a_table_holds_no_setting_twice_and_weighs_what_its_network_has(place: Path):
    table = read_table(place)
    for rows in (table.steps, table.passes):
        assert len({row.setting for row in rows}) == len(rows)
    assert table.steps
    bytes_each = {"fp32": 4, "bf16": 2, "fp8": 1}
    for row in table.steps:
        least = table.parameters["network"] * bytes_each[row.setting.weights]
        assert row.result.weights > least * 0.99
        assert row.setting.text_encoders or row.result.weights < least * 1.15, "position tables come on top"


def test_that_every_family_of_the_program_has_a_table():
    tables = load_tables()
    assert [name for name in families() if not lineage(name) & tables.keys()] == []


def test_that_the_tables_are_there_without_asking_for_a_folder():
    assert load_tables() == {place.stem: read_table(place) for place in STORED}


def test_that_a_folder_without_tables_is_one_sentence(tmp_path: Path):
    with pytest.raises(CannotRead, match="there are no memory tables"):
        load_tables(tmp_path)
    with pytest.raises(CannotRead, match="there are no memory tables"):
        load_tables(tmp_path / "none")


def test_that_one_damaged_table_is_named(folder: Path):
    place = folder / "sdxl.json"
    place.write_text('{"schema": 1', "utf-8")
    with pytest.raises(CannotRead, match="no memory table") as caught:
        load_tables(folder)
    assert caught.value.path == place


def test_that_a_missing_or_unreadable_table_is_one_sentence(tmp_path: Path):
    assert reason_of_reading(tmp_path / "sd15.json")
    (tmp_path / "sd15.json").write_bytes(b"\xff\xfe\x00")
    assert reason_of_reading(tmp_path / "sd15.json")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda table: table.update(schema=2), "schema"),
        (lambda table: table.pop("trainer_commit"), "trainer_commit"),
        (lambda table: table.update(more=1), "more"),
        (lambda table: table["steps"][0]["result"].update(weights=-1), "steps.0.result.weights"),
        (lambda table: table["steps"][0]["result"].update(peak=1), "the peak is not that of its phase"),
        (lambda table: table["steps"][0]["result"].update(reserved=1), "less was reserved than was live"),
        (lambda table: table["steps"][0]["setting"].update(weights="int3"), "steps.0.setting.weights"),
        (lambda table: table.update(family="sdxl"), "its family must be that of the file, sd15"),
    ],
)
def test_that_a_table_that_cannot_be_right_is_refused_with_the_place(folder: Path, change, words: str):
    assert words in reason_of_reading(damage(folder, change))


def test_that_a_table_is_the_same_after_writing_and_reading(folder: Path):
    table = read_table(folder / "sd15.json")
    again = MemoryTable.model_validate_json(table.model_dump_json(by_alias=True))
    assert again == table


def test_that_settings_are_keys_of_what_was_traced():
    setting = StepSetting(width_px=512, height_px=512, text_tokens=77)
    assert {setting: 1}[StepSetting(width_px=512, height_px=512, text_tokens=77, batch=1)] == 1
    assert PassSetting(part="vae_encode", width_px=8, height_px=8) != PassSetting(part="vae_encode")
