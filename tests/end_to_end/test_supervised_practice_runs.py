"""The whole way: a plan, the command line, the practice trainer, the verdict."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from practice_runs import BASE, make_images
from run_helper import ended, of_kind, status, wait_until

from gui.cli.main import run as cli
from gui.engine.paths import Home
from gui.engine.runs.events import Answered, Stopping
from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.runs.lock import is_held
from gui.engine.runs.metrics import StepRow, read_metrics
from gui.engine.runs.processes import tree_of
from gui.engine.runs.records import CommandRecord, Manifest
from gui.engine.trainer.events import Step

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("no_leftovers", "practice_is_known")]

SECRET = "hf_abcdefghijklmnopqrstuvwxyz"


@pytest.fixture
def plan(tmp_path: Path, home: Home) -> Callable[..., Path]:
    """Return what writes a plan for a few small images, with changed arguments."""
    make_images(tmp_path / "images" / "sks", count=6)

    def write(guard: str = "stop", **changes: object) -> Path:
        arguments = {
            "pretrained_model_name_or_path": str(BASE),
            "output_dir": "out",
            "output_name": "lora",
            "network_dim": 4,
            "network_alpha": 1,
            "learning_rate": 4e-4,
            "text_encoder_lr": 4e-5,
            "optimizer_type": "AdamW",
            "max_train_steps": 8,
            "save_every_n_steps": 4,
            "max_data_loader_n_workers": 0,
            "mixed_precision": "no",
            "seed": 1,
            **changes,
        }
        lines = ["schema = 1", 'name = "a plan"', 'family = "sd15"', "[arguments]"]
        lines += [f"{name} = {json.dumps(value)}" for name, value in arguments.items() if value is not None]
        lines += ["[dataset]", "resolution = [64, 64]", "batch_size = 2", 'caption_extension = ".txt"']
        lines += ["[[dataset.subsets]]", 'image_dir = "images/sks"', "num_repeats = 4"]
        lines += ["[guard]", f'nonfinite = "{guard}"']
        path = tmp_path / "plan.toml"
        path.write_text("\n".join(lines), "utf-8")
        return path

    return write


def only_run(home: Home) -> RunFolder:
    (name,) = run_names(home)
    return RunFolder(home.runs / name)


def started(home: Home) -> RunFolder:
    wait_until(lambda: len(run_names(home)) == 1)
    run = only_run(home)
    wait_until(lambda: run.status.exists() and status(run).trainer_pid is not None)
    return run


def launch(plan_file: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "gui", "run", str(plan_file), "--practice"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_that_a_plan_is_trained_and_told_about(
    plan: Callable[..., Path], home: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HF_TOKEN", SECRET)
    assert cli(["run", str(plan()), "--practice"]) == 0
    out = capfd.readouterr().out
    run = only_run(home)
    assert re.fullmatch(r"\d{8}-\d{6}-a_plan", run.name)
    assert "Practice" in out and "finished (practice)" in out and "lora-step00000004.safetensors" in out
    losses = [event.loss for event in of_kind(run, Step)]
    assert len(losses) == 8 and losses[-1] is not None
    rows = [row for row in read_metrics(run.metrics) if isinstance(row, StepRow)]
    assert [row.step for row in rows] == list(range(1, 9))
    assert all(row.loss is not None and row.lr for row in rows)
    manifest, command = Manifest.read(run.manifest), CommandRecord.read(run.command)
    assert manifest.practice and manifest.base_model is not None and manifest.torch
    assert command.expected_final is not None and command.expected_final.name == "lora.safetensors"
    assert tomllib.loads(run.plan.read_text("utf-8"))["name"] == "a plan"
    assert "image_dir" in run.dataset.read_text("utf-8")
    for path in run.path.rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes(), path
    assert cli(["runs", "--json"]) == 0
    (entry,) = json.loads(capfd.readouterr().out)["runs"]
    assert (entry["verdict"], entry["practice"], entry["name"]) == ("finished", True, run.name)
    assert cli(["runs"]) == 0
    assert "practice" in capfd.readouterr().out
    assert cli(["attach", run.name]) == 0
    assert "finished (practice)" in capfd.readouterr().out
    assert cli(["stop", run.name]) == 1
    assert "is over" in capfd.readouterr().err


def test_that_a_run_tells_how_long_the_next_one_takes(
    plan: Callable[..., Path], home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    def seconds(**changes: object) -> float | None:
        capsys.readouterr()
        assert cli(["estimate", str(plan(**changes)), "--practice", "--json"]) == 0
        return json.loads(capsys.readouterr().out)["forecast"]["seconds"]

    assert seconds(max_train_steps=24) is None
    assert cli(["run", str(plan(max_train_steps=24)), "--practice"]) == 0
    pace = 1 / status(only_run(home)).mean_rate
    assert seconds(max_train_steps=2400, learning_rate=1e-4) == pytest.approx(2400 * pace, abs=1)
    assert seconds(network_dim=8) is None, "that may take longer"


def test_that_a_mad_learning_rate_is_stopped(
    plan: Callable[..., Path], home: Home, capfd: pytest.CaptureFixture[str]
) -> None:
    mad = plan(learning_rate=1e30, max_train_steps=2000, save_every_n_steps=1)
    assert cli(["run", str(mad), "--practice", "--accept", "lr-range"]) == 1
    run = only_run(home)
    verdict = status(run).verdict
    assert verdict is not None and (verdict.verdict, verdict.reason) == ("stopped", "guard")
    assert verdict.clean == () and verdict.doubtful
    assert "stopped by the guard" in capfd.readouterr().out.lower()
    assert not tree_of(run.path).alive()


def test_that_a_danger_needs_a_yes_which_the_run_remembers(
    plan: Callable[..., Path], home: Home, capfd: pytest.CaptureFixture[str]
) -> None:
    risky = plan(text_encoder_lr=4e-4, max_train_steps=2)
    assert cli(["run", str(risky), "--practice"]) == 1
    assert "--accept lr-te" in capfd.readouterr().err
    assert run_names(home) == []
    assert cli(["run", str(risky), "--practice", "--accept", "lr-te"]) == 0
    assert Manifest.read(only_run(home).manifest).accepted == ("lr-te",)


def test_that_a_plan_with_mistakes_starts_nothing(
    plan: Callable[..., Path], home: Home, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli(["run", str(plan(network_dmi=4, max_train_steps="many")), "--practice"]) == 1
    told = capfd.readouterr().err
    assert "Nothing was started" in told and "network_dmi" in told and "max_train_steps" in told
    assert run_names(home) == []


def test_that_files_of_the_same_names_are_noticed(
    plan: Callable[..., Path], home: Home, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "lora.safetensors").write_bytes(b"precious")
    assert cli(["run", str(plan(max_train_steps=2)), "--practice"]) == 1
    assert "lora.safetensors" in capfd.readouterr().err
    assert (tmp_path / "out" / "lora.safetensors").read_bytes() == b"precious"
    assert cli(["run", str(plan(max_train_steps=2)), "--practice", "--accept", "output-exists"]) == 0
    manifest = Manifest.read(only_run(home).manifest)
    assert manifest.overwrites == ("lora.safetensors",) and manifest.accepted == ("output-exists",)
    assert [mark.size for mark in manifest.existing] == [8]


@pytest.mark.parametrize("times", [1, 2])
def test_that_ctrl_c_stops_once_and_leaves_twice(plan: Callable[..., Path], home: Home, times: int) -> None:
    process = launch(plan(max_train_steps=10_000, save_every_n_steps=500))
    run = started(home)
    wait_until(lambda: (status(run).step or 0) >= 2)
    if times == 2:
        # Stopped in the middle of a save, it lasts long enough to be left alone.
        os.kill(tree_of(run.path).members()[-1].pid, signal.SIGSTOP)
    process.send_signal(signal.SIGINT)
    if times == 2:
        wait_until((run.requests / "1.json").exists)
        process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    if times == 2:
        assert f"attach {run.name}" in out
    else:
        assert "stopped (practice)" in out
    wait_until(lambda: ended(run))
    verdict = status(run).verdict
    assert verdict is not None and verdict.verdict == "stopped"


def test_that_a_detached_run_is_paused_resumed_and_stopped_after_a_save(
    plan: Callable[..., Path], home: Home, capfd: pytest.CaptureFixture[str]
) -> None:
    endless = plan(max_train_steps=10_000, save_every_n_steps=50, save_state=True)
    assert cli(["run", str(endless), "--practice", "--detach"]) == 0
    run = only_run(home)
    assert run.name in capfd.readouterr().out
    wait_until(lambda: (status(run).step or 0) >= 1)
    assert cli(["pause", run.name]) == 0
    assert cli(["pause", run.name]) == 1
    assert cli(["resume", "a_plan"]) == 0
    assert cli(["stop", run.name, "--after-save"]) == 0
    assert cli(["attach", str(run.path)]) == 1
    verdict = status(run).verdict
    assert verdict is not None and verdict.reason == "after-save" and verdict.clean
    states = [file for file in status(run).files if file.kind == "state"]
    assert states and states[-1].complete


@pytest.mark.parametrize("phase", ["loading", "caching-latents", "training", "sampling"])
def test_that_stop_in_each_phase_leaves_nothing(
    plan: Callable[..., Path], home: Home, tmp_path: Path, phase: str
) -> None:
    (tmp_path / "prompts.txt").write_text("sks thing --w 64 --h 64 --s 200\n" * 20, "utf-8")
    endless = plan(
        max_train_steps=10_000,
        save_every_n_steps=None,
        cache_latents=True,
        sample_prompts="prompts.txt" if phase == "sampling" else None,
        sample_at_first=True if phase == "sampling" else None,
        sample_every_n_steps=1_000_000 if phase == "sampling" else None,
    )
    assert cli(["run", str(endless), "--practice", "--detach"]) == 0
    run = only_run(home)
    reached = re.compile(rf'"phase":"{phase}"')
    wait_until(lambda: run.events.exists() and reached.search(run.events.read_text("utf-8")))
    assert cli(["stop", run.name]) == 0
    assert not tree_of(run.path).alive()
    assert [event.stage for event in of_kind(run, Stopping)][-1] == "gone"
    verdict = status(run).verdict
    assert verdict is not None and verdict.verdict == "stopped"


def test_that_attach_takes_over_when_the_supervisor_was_killed(
    plan: Callable[..., Path], home: Home, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli(["run", str(plan(max_train_steps=60)), "--practice", "--detach"]) == 0
    run = only_run(home)
    wait_until(lambda: (status(run).step or 0) >= 1)
    pid = status(run).supervisor_pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_held(run.lock))
    assert cli(["attach", run.name]) == 0
    assert "finished (practice)" in capfd.readouterr().out
    assert [event.step for event in of_kind(run, Step)] == list(range(1, 61))


def test_that_a_stop_is_heard_though_the_supervisor_was_killed(plan: Callable[..., Path], home: Home) -> None:
    endless = plan(max_train_steps=10_000, save_every_n_steps=500)
    assert cli(["run", str(endless), "--practice", "--detach"]) == 0
    run = started(home)
    pid = status(run).supervisor_pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_held(run.lock))
    assert cli(["stop", run.name]) == 0
    assert [event.done for event in of_kind(run, Answered)] == [True]
    assert not tree_of(run.path).alive()


def test_that_unknown_runs_and_plans_are_told_in_one_line(
    home: Home, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli(["attach", "nothing"]) == 2
    assert cli(["run", str(tmp_path / "nothing.toml"), "--practice"]) == 2
    assert len(capfd.readouterr().err.splitlines()) == 2
    assert cli(["runs"]) == 0
    assert "No runs yet" in capfd.readouterr().out
