"""When a training goes wrong: what to try next is a click away, and it ends well."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from gui.engine.resources import resource_path
from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.runs.records import Manifest
from gui.engine.trainer.tensors import check_tensors

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("no_leftovers")]

ONLY_THE_MODEL = {"text_encoder_lr": None, "network_train_unet_only": True}
BLOWS_UP_LATE = {"unet_lr": 2e-3, "network_alpha": 64, "max_train_steps": 40, **ONLY_THE_MODEL}

BREAKS = """
def _break(path):
    if path.name == "img03.png":
        path.write_bytes(path.read_bytes()[:60])


"""
"""A drive that fails: the file is whole until the trainer reads it."""

NO_ROOM = """
def _find_no_room(path):
    if path.stem.endswith("-step00000008") and (path.parent / "large.bin").exists():
        raise OSError(28, "No space left on device", str(path))


"""


def newest_run(home) -> RunFolder:
    return RunFolder(home.runs / run_names(home)[0])


def has_runs(person, home, count: int) -> None:
    person.until(lambda: len(run_names(home)) == count, f"{count} runs", 120_000)


def test_that_a_rate_that_blows_up_late_is_halved_from_the_last_clean_file(sit_down, known_home, write_plan):
    person = sit_down(known_home)
    person.open_plan(write_plan("late", **BLOWS_UP_LATE))
    person.click("launch-safely")
    person.click("ask-dangers-yes")
    person.until(lambda: person.is_seen("run-first-try"), "the way on", 120_000)
    assert person.says("run-first-try") == "Half the learning rate, from step 4"
    person.click("run-other-ways")
    person.reads_until("unet_lr: 0.002 → 0.001", "run-try-half-rate-diff")
    person.reads_until("The loss was running away since step", "run-recovery-hopeless")

    first = newest_run(known_home)
    person.click("run-first-try")
    person.reads_until("unet_lr: 0.002 → 0.001", "note-plan-notes")
    person.until(lambda: person.is_seen("launch-safely"), "the review")
    person.until(lambda: person.says("review-headline") not in ("", "Checking …"), "the check's end")
    person.click("launch-safely")
    person.click("ask-dangers-yes")
    person.reads_until("Finished: 36 of 36 steps", "run-verdict", 120_000)
    second = newest_run(known_home)
    final = Path(person.says("run-final-file"))
    assert final.name == "lora-from4.safetensors" and check_tensors(final).finite
    noted = Manifest.read(second.manifest).follows
    assert noted is not None and (noted.run, noted.way) == (first.name, "half-rate")
    person.reads_until("unet_lr 0.001", "run-chain")
    person.click(f"run-chain-{first.name}-open")
    person.until(lambda: person.is_seen("run-banner-loss-nonfinite"), "the run that it follows")


def test_that_a_bad_image_is_set_aside_and_a_full_disk_gone_on_from(sit_down, home, write_plan, tmp_path):
    person = sit_down(home, trainer=str(_trainer_out_of_luck(tmp_path)), python=sys.executable)
    person.until(lambda: person.bench.trainers.looked, "the trainer's answer")
    plan = write_plan("unlucky", max_train_steps=12, **ONLY_THE_MODEL)
    pictures, out = plan.parent / "images" / "sks", plan.parent / "out"
    out.mkdir()
    (out / "large.bin").write_bytes(b"x")
    person.open_plan(plan)
    person.click("launch-safely")

    person.until(lambda: person.is_seen("run-first-try"), "the way on", 120_000)
    assert person.says("run-first-try") == "Set img03.png aside, from the beginning"
    person.click("run-other-ways")
    person.click("run-try-set-aside-launch")
    has_runs(person, home, 2)
    assert not (pictures / "img03.png").exists()
    assert (pictures / "_preflight_quarantine" / "img03.png").exists()

    person.reads_until("The disk was full", "run-banner-disk-short", 120_000)
    person.until(lambda: person.says("run-first-try") == "Go on, from step 4", "the way on")
    (out / "large.bin").unlink()
    person.click("run-other-ways")
    person.click("run-try-go-on-launch")
    has_runs(person, home, 3)
    person.reads_until("Finished: 8 of 8 steps", "run-verdict", 120_000)
    assert person.says("run-final-file").endswith("lora-from4.safetensors")
    person.reads_until("without bad images", "run-chain")
    person.reads_until("the disk was full", "run-chain")


def _trainer_out_of_luck(tmp_path: Path) -> Path:
    """Return a copy of the practice trainer: an image breaks, and there is no room beside a large file."""
    for part in ("practice_trainer", "trainer_arguments"):
        shutil.copytree(resource_path(part), tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    root = (tmp_path / "practice_trainer").rename(tmp_path / "my trainer")
    for name, function, change, call in (
        ("images.py", "def load_pixels(", BREAKS, "_break(path)"),
        ("weights.py", "def save_weights(", NO_ROOM, "_find_no_room(path)"),
    ):
        module = root / "library" / name
        before, after = module.read_text("utf-8").split(function)
        body = after.replace("    try:\n", f"    try:\n        {call}\n", 1)
        module.write_text(before + change.lstrip() + function + body, "utf-8")
    return root
