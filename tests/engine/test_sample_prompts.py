"""The prompts of a run's samples, read from its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from gui.engine.runs.folder import RunFolder
from gui.engine.runs.records import CommandRecord
from gui.engine.runs.sample_prompts import sample_plan


def run_with(tmp_path: Path, *words: str, name: str | None = "mira") -> RunFolder:
    run = RunFolder(tmp_path / "run")
    run.path.mkdir()
    argv = ("python", "train_network.py", *words)
    CommandRecord(argv=argv, cwd=tmp_path, python="python", output_name=name).write(run.command)
    return run


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.txt", "# not this\n\n one cat --w 64\n two dogs\n"),
        ("p.json", '[{"prompt": "one cat --w 64"}, {"prompt": "two dogs"}, {"prompt": 3}, 4]'),
        (
            "p.toml",
            '[prompt]\nprompt = "two dogs"\n'
            '[[prompt.subset]]\nprompt = "one cat --w 64"\n[[prompt.subset]]\n',
        ),
    ],
)
def test_that_prompts_are_numbered_as_the_trainer_does(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    plan = sample_plan(run_with(tmp_path, "--sample_prompts", name, "--sample_every_n_steps", "4"))
    assert plan.wanted and plan.output_name == "mira"
    assert (plan.prompt(0), plan.prompt(1)) == ("one cat --w 64", "two dogs")
    assert plan.prompt(None) == plan.prompt(-1) == plan.prompt(9) == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [("p.toml", "prompt = 3"), ("p.toml", "not ="), ("p.json", "{}"), ("p.json", "[" * 10_000)],
)
def test_that_broken_prompts_are_none(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert sample_plan(run_with(tmp_path, "--sample_prompts", name)).prompts == ()


def test_that_missing_files_are_none(tmp_path):
    run = run_with(tmp_path, "--sample_prompts", "gone.txt", "--sample_at_first", name="sub/mira")
    plan = sample_plan(run)
    assert plan.wanted and plan.prompts == () and plan.output_name == "mira"
    run.command.unlink()
    assert sample_plan(run) == sample_plan(RunFolder(tmp_path / "nothing"))
