"""The ``memory`` command: what was learned, and forgetting it."""

from __future__ import annotations

import json

import pytest
from memory_scene import teach

from gui.cli.main import run as cli
from gui.engine.paths import Home


def test_that_nothing_learned_is_said(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["memory"]) == 0
    assert "Nothing was learned yet" in capsys.readouterr().out


def test_that_what_was_learned_can_be_read(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    teach(home, "GPU-1", "NVIDIA RTX 3060")
    assert cli(["memory"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("NVIDIA RTX 3060  GPU-1  1 run\n")
    assert "torch 2.6.0, driver 580: 0.5" in out
    assert "activations of sdxl, checkpointing, sdpa: 1.0" in out and "spare: 1.2" in out
    assert cli(["memory", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["gpus"][0]["gpu"]) == (1, "GPU-1")


def test_that_it_can_be_forgotten(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    for gpu in ("GPU-1", "GPU-2"):
        teach(home, gpu)
    assert cli(["memory", "--forget", "GPU-1"]) == 0
    assert "GPU-2" in capsys.readouterr().out
    assert cli(["memory", "--forget", "GPU-1"]) == 1, "it is not known any more"
    (home.memory / "GPU-3.json").write_text("damaged", "utf-8")
    assert cli(["memory"]) == 0
    assert "GPU-3.json" in capsys.readouterr().err, "it is said that it counts for nothing"
    assert cli(["memory", "--forget", "GPU-3"]) == 0
    assert capsys.readouterr().err == ""
    assert cli(["memory", "--forget"]) == 0
    assert "Nothing was learned yet" in capsys.readouterr().out.splitlines()[-1]
