"""The words of runs and trainers in lists."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from gui.engine.runs.run_entry import RunEntry
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.choosing import Trainer
from gui.engine.trainer.facts import GpuSeen, TrainerFacts
from gui.engine.trainer.installs import TrainerInstall
from gui.window.models import trainer_words
from gui.window.models.run_words import chip_words, day_words, facts_line, sentence_of, steps_words
from gui.window.models.trainer_words import problems_of, short_gpu_name, short_line, short_version

NOON = time.mktime((2026, 5, 13, 12, 0, 0, 0, 0, -1))  # a Wednesday
HOUR, DAY = 3600, 86400


def entry(**more: object) -> RunEntry:
    return RunEntry.model_validate({"name": "20260513-120000-ink", "folder": Path("ink"), **more})


def facts(**more: object) -> TrainerFacts:
    return TrainerFacts.model_validate({"root": "sd", "python": "python", "version": "0.10.1", **more})


def sentence(told: TrainerFacts, origin: str = "sd-scripts") -> str:
    install = TrainerInstall(
        root=Path("sd"), python=Path("python"), origin=origin, label="sd", practice=origin == "practice"
    )
    return trainer_words.sentence(Trainer(install, told, Catalogue.from_facts(told)))


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (HOUR, "today"),
        (13 * HOUR, "yesterday"),
        (2 * DAY, "Monday"),
        (6 * DAY, "Thursday"),
        (7 * DAY, "2026-05-06"),
        (-2 * DAY, "2026-05-15"),
    ],
)
def test_that_days_are_said_as_people_say_them(ago, words):
    assert day_words(NOON - ago, NOON) == words


@pytest.mark.parametrize(
    ("state", "words", "tone"),
    [
        ("starting", "starting", "accent"),
        ("running", "running", "accent"),
        ("paused", "paused", "warn"),
        ("stopping", "stopping", "warn"),
        ("checking", "looking at the files", "accent"),
        ("ended", "over", "neutral"),
    ],
)
def test_that_the_chip_of_a_run_that_goes_on_tells_its_state(state, words, tone):
    chip = chip_words(entry(state=state))
    assert (chip.text, chip.tone) == (words, tone)


def test_that_steps_are_told_as_far_as_they_are_known():
    assert steps_words(entry()) == ""
    assert steps_words(entry(step=7)) == "step 7"
    assert steps_words(entry(step=7, total=1200)) == "step 7 of 1,200"
    assert steps_words(entry(step=1200, total=1200, verdict="finished")) == "1,200 steps"


def test_that_a_run_left_alone_says_what_to_do_in_a_window():
    alone = entry(condition="unattended", state="running", problem="“attach ink” finds out")
    assert sentence_of(alone) == "Nobody looks after it. Open it to find out what became of it."


def test_that_a_run_that_cannot_be_read_says_why_in_place_of_its_facts():
    assert facts_line(entry(condition="broken", problem="it is no JSON"), {}) == "it is no JSON"


def test_that_a_trainer_is_told_in_a_sentence():
    gpu = GpuSeen(index=0, name="NVIDIA GeForce RTX 3060", total_bytes=12 << 30, bf16=True, usable=True)
    told = facts(torch="2.8.0+cu128", cuda="12.8", backend="cuda", gpus=(gpu,))
    assert sentence(told) == "0.10.1, torch 2.8 with CUDA 12.8, RTX 3060 12 GB, bf16 works."
    assert sentence(told, "FluxGym").startswith("0.10.1 in FluxGym, ")
    assert sentence(told, "practice").startswith("The practice trainer, ")
    assert short_line(told) == "sd-scripts 0.10.1 · torch 2.8 · bf16 ok"


def test_that_what_a_trainer_lacks_is_told():
    old = GpuSeen(index=0, name="Tesla P40", bf16=False, usable=False, problem="no kernel image")
    told = facts(torch="2.6.0", hip="6.2.41134", backend="rocm", gpus=(old,))
    words = sentence(told)
    assert "torch 2.6 with ROCm" in words
    assert "Tesla P40 (cannot be used: no kernel image)" in words
    assert words.endswith("no bf16.")
    assert sentence(facts(torch="2.6.0")) == "0.10.1, torch 2.6 for the processor, no GPU that it could use."
    assert "MPS" in sentence(facts(torch="2.6.0", backend="mps"))
    assert sentence(facts()).startswith("0.10.1, no torch")
    assert problems_of(facts(problems=("torch cannot be used",)))[1] == "torch cannot be used"
    assert short_line(facts()) == "sd-scripts 0.10.1 · no torch"


def test_that_names_and_versions_are_short():
    assert short_gpu_name("NVIDIA GeForce RTX 4090") == "RTX 4090"
    assert short_gpu_name("NVIDIA A100-SXM4-80GB") == "A100-SXM4-80GB"
    assert short_gpu_name("AMD Radeon RX 7900") == "AMD Radeon RX 7900"
    assert [short_version(each) for each in ("2.8.0+cu128", "2.6.1", "12.0")] == ["2.8", "2.6.1", "12.0"]
