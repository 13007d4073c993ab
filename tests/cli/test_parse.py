"""``kohya-preflight parse`` shows the events of a log, from a file or a pipe."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from gui.cli.main import run
from gui.engine.trainer.events import TRAINER_EVENT

RECORDING = Path(__file__).parents[1] / "data" / "recordings" / "b_nan_lr1e3" / "combined.bin"


class _Input:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


def test_that_json_lines_are_events_and_nothing_else(capsys):
    assert run(["parse", str(RECORDING), "--json-lines"]) == 0
    out, err = capsys.readouterr()
    events = [TRAINER_EVENT.validate_json(line) for line in out.splitlines()]
    assert err == ""
    assert [event.step for event in events if event.event == "step"] == list(range(1, 15))
    blown = [json.loads(line) for line in out.splitlines() if '"loss-nonfinite"' in line]
    assert blown == [{"t": None, "event": "loss-nonfinite", "step": 3, "source": "bar", "value": "nan"}]


def test_that_a_step_is_written_as_the_interface_says(capsys):
    run(["parse", str(RECORDING), "--json-lines"])
    step = next(json.loads(line) for line in capsys.readouterr().out.splitlines() if '"step",' in line)
    assert list(step) == ["t", "event", "step", "total", "avr_loss", "loss", "rate", "epoch"]
    assert (step["step"], step["total"], step["avr_loss"], step["loss"]) == (1, 14, 1.14, None)


def test_that_without_json_people_can_read_it(capsys):
    assert run(["parse", str(RECORDING)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert "step 3: the loss is nan" in out
    assert "training …" in out


def test_that_a_pipe_reads_as_the_file_does(capsys, monkeypatch):
    run(["parse", str(RECORDING), "--json-lines"])
    by_file = capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", _Input(RECORDING.read_bytes()))
    assert run(["parse", "-", "--json-lines"]) == 0
    assert capsys.readouterr().out == by_file


def test_that_events_come_while_the_pipe_is_open():
    command = [sys.executable, "-m", "gui", "parse", "-", "--json-lines"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write(b"\nsaving checkpoint: out/a.safetensors\n")
        child.stdin.flush()
        assert json.loads(child.stdout.readline())["phase"] == "loading"
        assert json.loads(child.stdout.readline())["phase"] == "saving"
        assert json.loads(child.stdout.readline())["path"] == "out/a.safetensors"
        child.stdin.close()
        assert child.wait(30) == 0


@pytest.mark.parametrize("name", ["no such file", "."])
def test_that_a_log_that_cannot_be_read_is_named_in_one_line(name, tmp_path, capsys):
    assert run(["parse", str(tmp_path / name)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and len(err.splitlines()) == 1 and str(tmp_path) in err


def test_that_an_empty_log_has_no_events(tmp_path, capsys):
    (tmp_path / "empty").touch()
    assert run(["parse", str(tmp_path / "empty"), "--json-lines"]) == 0
    assert capsys.readouterr().out == ""
