"""A plan rehearsed with the practice trainer: a few steps, a folder of its own, and what it says."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest
from practice_runs import BASE, make_images
from run_helper import status, wait_until

from gui.cli.main import run as cli
from gui.engine.errors import CannotRead, RunRefused
from gui.engine.paths import Home
from gui.engine.plan.plan_file import load_plan
from gui.engine.preflight.checking import checker_for
from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.runs.listing import list_runs
from gui.engine.runs.prepare import Prepared
from gui.engine.runs.records import Manifest
from gui.engine.runs.rehearsal import Rehearsals, rehearse, remove_rehearsal
from gui.engine.runs.rehearsal_reading import rehearsal_result, rehearsals_in
from gui.engine.runs.rehearsal_result import RehearsalKind
from gui.engine.trainer.choosing import open_trainer
from gui.engine.trainer.installs import practice_install

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("no_leftovers", "practice_is_known")]

PLAN = """
schema = 1
name = "mira"
family = "sd15"
[arguments]
pretrained_model_name_or_path = "{base}"
output_dir = "out"
output_name = "lora"
network_dim = 4
learning_rate = 4e-4
text_encoder_lr = 4e-5
max_train_epochs = 20
max_data_loader_n_workers = 0
mixed_precision = "no"
seed = 1
lr_scheduler = "constant_with_warmup"
lr_warmup_steps = 0.1
save_every_n_epochs = 5
save_state = true
cache_latents = true
cache_latents_to_disk = true
sample_prompts = "prompts.txt"
sample_every_n_epochs = 5
logging_dir = "logs"
log_with = "tensorboard"
[dataset]
resolution = [96, 96]
max_bucket_reso = 256
batch_size = 2
enable_bucket = true
min_bucket_reso = 64
caption_extension = ".txt"
[[dataset.subsets]]
image_dir = "images/small"
num_repeats = 10
[[dataset.subsets]]
image_dir = "images/wide"
num_repeats = 5
"""


def written_plan(folder: Path, text: str = PLAN) -> Path:
    make_images(folder / "images" / "small", count=4)
    make_images(folder / "images" / "wide", count=3, size=(128, 64))
    (folder / "prompts.txt").write_text("# prompts\na cat --w 64 --h 64\na dog --w 96 --h 96\n", "utf-8")
    (folder / "plan.toml").write_text(text.format(base=BASE.as_posix()), "utf-8")
    return folder / "plan.toml"


def prepared(plan: Path, home: Home, kind: RehearsalKind = "rehearsal") -> Prepared:
    file = load_plan(plan)
    trainer = open_trainer(home, practice_install())
    checker = checker_for(file.base, trainer, home)
    return Rehearsals(home, trainer, checker).prepare(file, kind)


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_that_a_rehearsal_says_what_the_plan_will_take_and_touches_nothing(
    tmp_path: Path, home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = written_plan(tmp_path / "mine")
    before = files_below(tmp_path / "mine")
    dead, young = (home.rehearsals / name / "scratch" for name in ("dead", "young"))
    for scratch in (dead, young):
        scratch.mkdir(parents=True)
    os.utime(dead.parent, (1e9, 1e9))
    assert cli(["rehearse", str(plan), "--practice", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["schema"], shown["verdict"], shown["reasons"]) == (1, "go", [])
    order = shown["order"]
    assert (order["bucket"], order["batch"], order["images"]) == ([128, 64], 2, 3)
    # 40 and 15 images with repeats make 20 and 8 batches an epoch.
    assert (order["total_steps"], order["total_images"], order["saves"]) == (560, 7, 4)
    assert shown["steps"] == 8 == len(shown["losses"]) and shown["finite"] is True
    assert {phase["name"] for phase in shown["phases"]} >= {"load", "step", "samples", "saving"}
    assert shown["peak"] is None and any("NVIDIA" in note for note in shown["notes"])
    assert shown["whole_seconds"] > 560 * shown["seconds_per_step"]
    assert shown["save_bytes"] > 100_000 and shown["state_bytes"] and shown["sample_bytes"]
    assert shown["whole_bytes"] > 4 * (shown["save_bytes"] + shown["state_bytes"])
    assert files_below(tmp_path / "mine") == before
    assert young.is_dir() and not dead.exists(), "what a supervisor that died has left is removed"
    (run,) = rehearsals_in(home)
    assert run_names(home) == [] and list_runs(home).runs == ()
    assert not (run.path / "scratch").exists()
    argv = json.loads(run.command.read_text("utf-8"))["argv"]
    assert argv[argv.index("--lr_warmup_steps") + 1] == "56"
    again = rehearsal_result(run)
    assert again.verdict == "go" and again.seconds_per_step == shown["seconds_per_step"]
    assert cli(["estimate", str(plan), "--practice", "--json"]) == 0
    seconds = json.loads(capsys.readouterr().out)["forecast"]["seconds"]
    assert seconds == pytest.approx(560 * shown["seconds_per_step"], rel=0.01), "it replaces the forecast"
    remove_rehearsal(run)
    assert rehearsals_in(home) == []


def test_that_a_rehearsal_that_fails_says_no_go_and_why(tmp_path: Path, home: Home, capsys) -> None:
    plan = written_plan(tmp_path, PLAN.replace("learning_rate = 4e-4", "learning_rate = 1e30"))
    assert cli(["rehearse", str(plan), "--practice", "--remove"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("no-go: do not launch it as it is.\n  - ")
    assert "8 steps" not in said and "at 128×64, batch 2" in said
    assert rehearsals_in(home) == []


def test_that_the_isolation_test_trains_two_images_at_a_low_rate(tmp_path: Path, home: Home) -> None:
    plan = written_plan(tmp_path, PLAN.replace("learning_rate = 4e-4", "learning_rate = 1e-2"))
    ready = prepared(plan, home, "isolation")
    seen: list[int] = []
    result = rehearse(ready, progress=lambda now: seen.append(now.step))
    assert (result.order.kind, result.order.images, result.steps) == ("isolation", 2, 60)
    assert result.finite is True and result.verdict == "go" and result.falling is not False
    argv = json.loads(ready.run.command.read_text("utf-8"))["argv"]
    assert argv[argv.index("--learning_rate") + 1] == "0.0001"
    assert "--sample_prompts" not in argv and "--save_state" not in argv
    assert seen == sorted(seen) and seen[-1] == 60


def test_that_a_rehearsal_can_be_cancelled(tmp_path: Path, home: Home) -> None:
    ready = prepared(written_plan(tmp_path), home, "isolation")
    result = rehearse(ready, cancelled=lambda: True)
    assert result.verdict is None and "stopped" in result.notes[0]
    assert not (ready.run.path / "scratch").exists()


def test_that_a_rehearsal_is_judged_though_nobody_waits_and_is_not_removed_before(
    tmp_path: Path, home: Home
) -> None:
    ready = prepared(written_plan(tmp_path), home)
    stop = threading.Event()
    waiting = threading.Thread(target=rehearse, args=(ready,), kwargs={"cancelled": stop.is_set}, daemon=True)
    waiting.start()
    wait_until(lambda: status(ready.run).state != "starting")
    with pytest.raises(RunRefused, match="still running"):
        remove_rehearsal(ready.run)
    so_far = rehearsal_result(ready.run)
    assert so_far.verdict is None
    wait_until((ready.run.path / "rehearsal.json").is_file)
    waiting.join(60)
    assert rehearsal_result(ready.run).verdict == "go"
    assert Manifest.read(ready.run.manifest).rehearsal is not None


def test_that_a_plan_that_would_be_refused_is_not_rehearsed(tmp_path: Path, home: Home, capsys) -> None:
    plan = written_plan(tmp_path, PLAN.replace("[96, 96]", "[96, 96]\nbucket_reso_steps = 8"))
    assert cli(["rehearse", str(plan), "--practice"]) == 1
    assert "[bucket-steps]" in capsys.readouterr().err and rehearsals_in(home) == []


def test_that_without_a_readable_image_nothing_is_rehearsed(tmp_path: Path, home: Home, capsys) -> None:
    plan = written_plan(tmp_path, PLAN.replace("num_repeats = 5", 'class_tokens = "x"'))
    for image in (tmp_path / "images").rglob("*.png"):
        image.write_bytes(b"")
    assert cli(["rehearse", str(plan), "--practice"]) == 1
    assert "Nothing was started." in capsys.readouterr().err and rehearsals_in(home) == []


def test_that_a_run_is_no_rehearsal(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    run.path.mkdir()
    Manifest(program="test").write(run.manifest)
    with pytest.raises(CannotRead):
        rehearsal_result(run)
