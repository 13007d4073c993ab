"""``import`` and ``export`` on the command line."""

from __future__ import annotations

import io
import json
import sys

import pytest

from gui.cli.main import run
from gui.engine.plan.plan_file import load_plan

LINE = "accelerate launch sdxl_train_network.py --seed 1 --seed 2 --xformers=true --wandb_api_key abcdef123\n"


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "train.sh"
    file.write_text(LINE)
    return file


def test_that_a_plan_is_printed_and_the_notes_go_elsewhere(script, capsys) -> None:
    assert run(["import", str(script)]) == 0
    printed = capsys.readouterr()
    assert "seed = 2" in printed.out
    assert "dup-arg" in printed.err
    assert "--xformers=true" in printed.err
    assert "abcdef123" not in printed.out + printed.err


def test_that_a_plan_is_written_but_never_over_another_file(script, tmp_path, capsys) -> None:
    target = tmp_path / "plan.toml"
    assert run(["import", str(script), "-o", str(target)]) == 0
    assert load_plan(target).plan.arguments == {"seed": 2, "xformers": True}
    before = target.read_bytes()
    assert run(["import", str(script), "-o", str(target)]) == 2
    assert "already exists" in capsys.readouterr().err
    assert target.read_bytes() == before
    assert run(["import", str(script), "-o", str(target), "--overwrite"]) == 0


def test_that_one_document_tells_all_but_the_token(script, capsys) -> None:
    assert run(["import", str(script), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["kind"], report["secrets"]) == ("script", ["wandb_api_key"])
    assert report["plan"]["arguments"] == {"seed": 2, "xformers": True}
    assert "abcdef123" not in json.dumps(report)


def test_that_the_standard_input_is_read(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"--seed 5 --xformers\n")))
    assert run(["import", "-", "--script", "train_network.py"]) == 0
    assert "seed = 5" in capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"#" * (5 * 1024 * 1024))))
    assert run(["import", "-"]) == 2
    assert "too large" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b'{"a": 1}', b"\xff\xfe", b'python train_network.py "', b""])
def test_that_what_cannot_be_read_writes_nothing(tmp_path, content, capsys) -> None:
    source, target = tmp_path / "odd.txt", tmp_path / "plan.toml"
    source.write_bytes(content)
    assert run(["import", str(source), "-o", str(target)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "odd.txt" in line
    assert not target.exists()


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (["--as", "command", "--shell", "cmd"], "sdxl_train_network.py ^"),
        (["--as", "toml"], "# script: sdxl_train_network.py"),
        (["--as", "kohya"], '"sdxl": true'),
    ],
)
def test_that_a_plan_is_exported(script, tmp_path, form, words, capsys) -> None:
    assert run(["export", str(script), *form]) == 0
    assert words in capsys.readouterr().out
    target = tmp_path / "out"
    assert run(["export", str(script), *form, "-o", str(target)]) == 0
    assert words in target.read_text()
    assert run(["export", str(script), *form, "-o", str(target)]) == 2


def test_that_a_dataset_of_its_own_needs_a_place(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    plan = tmp_path / "plan.toml"
    plan.write_text('family = "sdxl"\n[dataset]\nsubsets = [{image_dir = "i", num_repeats = 2}]\n')
    assert run(["export", str(plan), "--as", "toml"]) == 2
    assert "-o" in capsys.readouterr().err
    assert run(["export", str(plan), "--as", "toml", "-o", "bare.toml"]) == 0
    assert (tmp_path / "bare.dataset.toml").is_file()
    assert run(["import", "bare.toml"]) == 0
    assert "num_repeats = 2" in capsys.readouterr().out
