"""``recover RUN``: what to try after a run has ended, as words, as a document, as a plan."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from acting import weights
from run_helper import make_run

from gui.cli import recover
from gui.cli.main import run as cli
from gui.engine.errors import PlanNotRunnable
from gui.engine.findings import Finding
from gui.engine.plan.plan_file import load_plan
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.journal import Lines
from gui.engine.runs.status import FileNow, RunStatus, Verdict
from gui.engine.trainer.events import LossNonfinite, Setting

WORDS = ("--network_module", "networks.lora", "--unet_lr", "0.0004", "--max_train_steps", "100")
PLAN = 'schema = 1\nname = "a run"\n[arguments]\nunet_lr = 4e-4\nmax_train_steps = 100\n'


@pytest.fixture
def stopped(tmp_path: Path) -> RunFolder:
    """Return a run that the guard stopped at step 90, with a clean file of step 40."""
    run, _order = make_run(tmp_path, "", words=WORDS)
    run.plan.write_text(PLAN, "utf-8")
    lines = Lines(run.events)
    lines.add(Setting(name="num batches per epoch", value=50, t=1.0))
    lines.add(Setting(name="total optimization steps", value=100, t=1.0))
    lines.add(LossNonfinite(step=90, value=float("nan"), t=9.0))
    lines.close()
    path = tmp_path / "out" / "lora-step00000040.safetensors"
    path.write_bytes(weights())
    saved = FileNow(path=path, kind="model", complete=True, size=1, step=40, judgement="clean")
    verdict = Verdict(verdict="stopped", reason="guard", sentence="Stopped.")
    RunStatus(name=run.name, state="ended", verdict=verdict, first_nonfinite_step=90, files=(saved,)).write(
        run.status
    )
    return run


def test_that_it_tells_the_tries_with_what_each_changes(stopped, capsys) -> None:
    assert cli(["recover", str(stopped.path)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("The loss is no longer a number since step 90.\nWeights of step 40")
    assert "1. Half the learning rate, from step 40  [half-rate]" in said
    assert "unet_lr: 0.0004 → 0.0002" in said and "max_train_steps: 100 → 60" in said
    assert cli(["recover", str(stopped.path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["kind"], document["point"]["step"]) == (1, "loss", 40)


def test_that_a_plan_is_written_that_says_what_it_follows(stopped, tmp_path, capsys) -> None:
    out = tmp_path / "next.toml"
    assert cli(["recover", str(stopped.path), "--try", "tenth-rate", "-o", str(out)]) == 0
    assert "unet_lr 4e-05" in capsys.readouterr().out
    plan = load_plan(out).plan
    assert plan.arguments["unet_lr"] == 4e-5
    assert plan.follows is not None
    assert (plan.follows.run, plan.follows.way) == (stopped.name, "tenth-rate")


@pytest.mark.parametrize("command", ["recover", "retry"])
def test_that_a_plan_that_is_there_stays_unless_it_is_to_be_replaced(
    stopped, tmp_path, capsys, command: str
) -> None:
    out = tmp_path / "mine.toml"
    out.write_text("# a night's work\n")
    assert cli([command, str(stopped.path), "-o", str(out)]) == 2
    assert "--overwrite replaces it" in capsys.readouterr().err
    assert out.read_text() == "# a night's work\n"
    if command == "recover":
        assert cli([command, str(stopped.path), "-o", str(out), "--overwrite"]) == 0
        assert load_plan(out).plan.follows is not None


def test_that_an_unknown_try_names_those_that_there_are(stopped, capsys) -> None:
    assert cli(["recover", str(stopped.path), "--try", "pray"]) == 2
    assert "half-rate, tenth-rate" in capsys.readouterr().err


def test_that_a_launch_that_is_refused_says_so(stopped, capsys) -> None:
    assert cli(["recover", str(stopped.path), "--run"]) != 0
    assert "no sd-scripts install" in capsys.readouterr().err


def test_that_a_yes_to_a_new_danger_can_be_given(stopped, capsys, monkeypatch) -> None:
    def refuses(*_words: object, accepted: list[str]) -> None:
        raise PlanNotRunnable(
            [Finding(id=name, severity="danger", title="No.") for name in ("vram", *accepted)]
        )

    monkeypatch.setattr(recover, "prepare_try", refuses)
    assert cli(["recover", str(stopped.path), "--run", "--accept", "output-exists"]) == 1
    told = capsys.readouterr().err
    assert "--accept vram" in told and "--accept output-exists" in told
