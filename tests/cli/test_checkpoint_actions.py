"""``checkpoints`` beside looking: card, hash, comparison, copy, the plan that goes on."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from saved_runs import saved, saved_run, write_weights

from gui.cli import main
from gui.engine.paths import Home


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_weights(tmp_path / "out" / "mira-000004.safetensors", metadata={"ss_steps": "40"})


def test_that_blocks_are_shown_with_their_growth_within_a_series(file: Path, capsys) -> None:
    write_weights(file.with_name("mira.safetensors"), 0.02, metadata={"ss_steps": "100"})
    write_weights(file.with_name("other.safetensors"), 0.5)
    assert main.run(["checkpoints", str(file.parent), "--blocks"]) in (0, 1)
    told = capsys.readouterr().out
    assert "unet down_blocks_0: 0.01\n" in told
    assert "unet down_blocks_0: 0.01 → 0.02 (2×)" in told
    assert "unet down_blocks_0: 0.5\n" in told


def test_that_a_card_is_printed_for_people_and_for_programs(file: Path, capsys) -> None:
    assert main.run(["checkpoints", str(file), "--card"]) == 0
    assert "- Steps: 40\n" in capsys.readouterr().out
    assert main.run(["checkpoints", str(file), "--card", "--json"]) == 0
    assert ["Steps", "40"] in json.loads(capsys.readouterr().out)["rows"]


def test_that_a_hash_is_written_beside(file: Path, capsys) -> None:
    assert main.run(["checkpoints", str(file), "--sha256"]) == 0
    assert file.with_name(file.name + ".sha256").read_text().split()[0] in capsys.readouterr().out


def test_that_two_files_are_compared(file: Path, capsys) -> None:
    other = write_weights(file.with_name("b.safetensors"), 0.03, metadata={"ss_steps": "80"})
    assert main.run(["checkpoints", str(file), "--compare", str(other)]) == 0
    told = capsys.readouterr().out
    assert "Steps: 40 → 80" in told
    assert "unet up_blocks_1: 0.01 → 0.03 (3×)" in told
    assert main.run(["checkpoints", str(file), "--compare", str(other), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["differences"]
    other.write_bytes(b"")
    assert main.run(["checkpoints", str(file), "--compare", str(other)]) == 0
    assert "b.safetensors: it is empty" in capsys.readouterr().out


def test_that_a_copy_goes_where_the_last_one_went(file: Path, home: Home, tmp_path: Path, capsys) -> None:
    assert main.run(["checkpoints", str(file), "--copy-to"]) == 2
    folder = tmp_path / "loras"
    folder.mkdir()
    assert main.run(["checkpoints", str(file), "--copy-to", str(folder)]) == 0
    assert (folder / file.name).read_bytes() == file.read_bytes()
    other = write_weights(file.with_name("b.safetensors"))
    assert main.run(["checkpoints", str(other), "--copy-to"]) == 0
    assert str(folder / "b.safetensors") in capsys.readouterr().out


def test_that_the_plan_is_written_that_goes_on_from_a_file(
    file: Path, home: Home, tmp_path: Path, capsys
) -> None:
    plan = tmp_path / "on.toml"
    assert main.run(["checkpoints", str(file), "--continue", str(plan)]) == 2
    assert "no run that is kept here" in capsys.readouterr().err
    arguments = {"output_dir": str(file.parent), "output_name": "mira", "network_module": "networks.lora"}
    saved_run(home, arguments, files=[saved(file)])
    assert main.run(["checkpoints", str(file), "--continue", str(plan)]) == 0
    told = capsys.readouterr().out
    assert "60 of 100 steps remain" in told
    written = tomllib.loads(plan.read_text("utf-8"))["arguments"]
    assert written["network_weights"] == str(file)
    assert (written["max_train_steps"], written["output_name"]) == (60, "mira-from40")
    assert main.run(["checkpoints", str(file), "--continue", str(plan)]) == 2
    assert "--overwrite replaces it" in capsys.readouterr().err
    assert main.run(["checkpoints", str(file), "--continue", str(plan), "--overwrite"]) == 0
