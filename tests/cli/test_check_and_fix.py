"""``check``, ``fix`` and ``rules`` from the command line."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from gui.cli.main import run
from gui.engine.plan.plan_file import load_plan
from gui.engine.preflight.rules import ALL_RULES

PLAN = """# my plan
schema = 1
name = "mira"
family = "sdxl"
[arguments]
pretrained_model_name_or_path = "model.safetensors"
output_dir = "out"
mixed_precision = "fp16"  # for the old card
max_train_steps = 500
[dataset]
resolution = [1024, 1024]
[[dataset.subsets]]
image_dir = "images"
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "내 plan.toml"
    path.write_text(PLAN, "utf-8")
    return path


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    path = tmp_path / "machine.toml"
    path.write_text('os = "linux"\n', "utf-8")
    return path


def test_that_check_prints_one_json_document_and_the_status_says_stop(plan, machine, capsys) -> None:
    assert run(["check", str(plan), "--machine", str(machine), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert set(report) == {"schema", "verdict", "script", "family", "findings", "steps", "forecast"}
    assert (report["schema"], report["verdict"]) == (1, "stop")
    finding = next(each for each in report["findings"] if each["id"] == "sdxl-vae")
    assert set(finding) == {"id", "severity", "title", "detail", "arguments", "where", "fixes", "sources"}
    assert finding["fixes"][0]["changes"] == {"no_half_vae": True}
    assert set(report["forecast"]) == {"vram_gib", "disk_gib", "seconds"}


def test_that_check_speaks_plainly(plan, machine, capsys) -> None:
    run(["check", str(plan), "--machine", str(machine)])
    out = capsys.readouterr().out
    assert "The SDXL VAE gives NaN in fp16." in out
    assert "--only sdxl-vae:no-half-vae" in out
    assert out.rstrip().endswith("The plan cannot be launched like this.")


def test_that_fix_mends_keeps_comments_and_prints_the_changes(plan, machine, tmp_path, capsys) -> None:
    out = tmp_path / "mended.toml"
    assert run(["fix", str(plan), "--machine", str(machine), "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert "no_half_vae: — → True" in said
    assert "# for the old card" in out.read_text("utf-8")
    assert load_plan(out).plan.arguments["no_half_vae"] is True
    assert plan.read_text("utf-8") == PLAN
    assert run(["check", str(out), "--machine", str(machine)]) == 0


def test_that_fix_takes_the_named_one_only(plan, machine, tmp_path) -> None:
    out = tmp_path / "mended.toml"
    arguments = ["fix", str(plan), "--machine", str(machine), "-o", str(out), "--only", "sdxl-vae:use-bf16"]
    assert run(arguments) == 0
    mended = load_plan(out).plan.arguments
    assert mended["mixed_precision"] == "bf16"
    assert "no_half_vae" not in mended


def test_that_a_fix_which_does_not_exist_is_wrong_usage(plan, machine, tmp_path, capsys) -> None:
    out = tmp_path / "mended.toml"
    arguments = ["fix", str(plan), "--machine", str(machine), "-o", str(out), "--only", "nothing"]
    assert run(arguments) == 2
    assert "nothing" in capsys.readouterr().err
    assert not out.exists()


def test_that_a_list_of_arguments_needs_its_script(tmp_path, machine, capsys) -> None:
    path = tmp_path / "settings.txt"
    path.write_text("--seed 1\n", "utf-8")
    assert run(["check", str(path), "--machine", str(machine)]) == 2
    assert "--script" in capsys.readouterr().err
    assert run(["check", str(path), "--machine", str(machine), "--script", "train_network"]) == 1


def test_that_without_a_trainer_the_bundled_arguments_serve(plan, home, monkeypatch, capsys) -> None:
    monkeypatch.setenv("KOHYA_PREFLIGHT_SD_SCRIPTS", str(home.root / "nothing here"))
    assert run(["check", str(plan), "--json"]) == 1
    printed = capsys.readouterr()
    assert "No trainer is used" in printed.err
    assert json.loads(printed.out)["script"] == "sdxl_train_network.py"


def test_that_a_missing_plan_is_one_line(tmp_path, capsys) -> None:
    assert run(["check", str(tmp_path / "no.toml")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_that_rules_are_listed_with_their_sources(capsys) -> None:
    assert run(["rules", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed["schema"] == 1
    assert [row["id"] for row in listed["rules"]] == [rule.id for rule in ALL_RULES]
    assert all(row["summary"] and row["sources"] for row in listed["rules"])
    assert run(["rules"]) == 0
    assert "cache-aug" in capsys.readouterr().out


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_that_a_plan_may_come_through_a_pipe(plan, machine, tmp_path, capsys) -> None:
    """As a shell's ``<(…)`` hands it over: what was read once is gone."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(plan.read_bytes(),))
    writer.start()
    run(["check", str(pipe), "--machine", str(machine), "--json"])
    writer.join()
    assert json.loads(capsys.readouterr().out)["family"] == "sdxl"
