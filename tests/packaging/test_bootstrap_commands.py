"""What the bootstrap's commands do: which checks, which parts, which sample."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gui.engine.paths import Home
from house import checks, commands, sample
from house.environment import Environment
from house.trouble import Trouble

PROJECT = Path(__file__).resolve().parents[2]


def test_that_the_checks_stop_at_the_first_that_fails_and_show_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    words = [
        ("-c", "print('one')"),
        ("-c", "import sys; print('two'); sys.exit(5)"),
        ("-c", "print('three')"),
    ]
    monkeypatch.setattr(
        checks, "checks", lambda extra: [checks.Check(f"part {n}", w) for n, w in enumerate(words)]
    )
    assert checks.run_checks(Path(sys.executable), tmp_path, [], commands.say) == 5
    out = capfd.readouterr().out
    assert "one" in out
    assert "two" in out
    assert "part 1 failed (status 5)" in out
    assert "three" not in out


def test_that_all_checks_run_where_all_are_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(checks, "checks", lambda extra: [checks.Check("part", ("-c", ""))])
    assert checks.run_checks(Path(sys.executable), tmp_path, [], lambda text: None) == 0


def test_that_coverage_of_the_engine_is_judged_only_over_the_whole_suite():
    whole = checks.checks([])
    assert [check.name for check in whole][-1] == "coverage"
    assert "--fail-under=95" in whole[-1].words
    some = checks.checks(["tests/cli", "-k", "parse"])
    assert some[-1].words[-3:] == ("tests/cli", "-k", "parse")
    assert "coverage" not in [check.name for check in some]


def test_that_more_words_of_test_go_to_pytest(monkeypatch: pytest.MonkeyPatch):
    seen: list[Any] = []

    def do(options: argparse.Namespace, extra: list[str], environment: Environment) -> int:
        seen.append((options.command, options.light, extra))
        return 0

    monkeypatch.setattr(commands, "_do", do)
    assert commands.main(["test", "--light", "-k", "parse", "--lf", "tests/cli"]) == 0
    assert commands.main(["test", "--", "-x"]) == 0
    assert seen == [("test", True, ["-k", "parse", "--lf", "tests/cli"]), ("test", False, ["-x"])]


def test_that_unknown_words_of_run_are_refused(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as stopped:
        commands.main(["run", "--lihgt"])
    assert stopped.value.code == 2
    assert "--lihgt" in capsys.readouterr().err


@pytest.mark.parametrize(("error", "status"), [(Trouble("no luck"), 1), (KeyboardInterrupt(), 130)])
def test_that_trouble_is_told_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException, status: int
):
    def fail(*_arguments: Any) -> int:
        raise error

    monkeypatch.setattr(commands, "_do", fail)
    assert commands.main(["setup"]) == status
    told = capsys.readouterr().err
    assert "Traceback" not in told
    assert told.count("\n") == 1


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch, checkout: Environment) -> SimpleNamespace:
    """Let the commands run on a checkout of the test's own; writes down what they would do."""
    stage = SimpleNamespace(parts=[], done=[], trainer=None, window=False, environment=checkout)
    monkeypatch.setattr(commands, "ensure", lambda environment, wanted, say: stage.parts.append(list(wanted)))
    monkeypatch.setattr(commands, "look_after_libraries", lambda *a, **k: None)
    monkeypatch.setattr(commands, "working_trainer", lambda environment, say: stage.trainer)
    monkeypatch.setattr(commands, "train_sample", lambda *a: stage.done.append("sample") or 0)
    monkeypatch.setattr(commands, "run_program", lambda environment, words: stage.done.append(words) or 0)
    monkeypatch.setattr(commands, "run_checks", lambda *a: stage.done.append("checks") or 0)
    monkeypatch.setattr(commands, "has_display", lambda: True)
    monkeypatch.setattr(commands, "PROJECT", checkout.project)
    return stage


def test_that_run_opens_the_window_and_fetches_nothing_for_it(stage: SimpleNamespace):
    assert commands.main(["run"]) == 0
    assert stage.parts == [["program"]]
    assert stage.done == [["window"]]


def test_that_without_a_display_or_on_demand_the_sample_is_trained(
    stage: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
):
    assert commands.main(["run", "--terminal"]) == 0
    monkeypatch.setattr(commands, "has_display", lambda: False)
    assert commands.main(["run", "--light"]) == 0
    assert stage.done == ["sample", "sample"]


def test_that_a_training_in_the_terminal_brings_torch_when_no_trainer_is_found(stage: SimpleNamespace):
    assert commands.main(["run", "--terminal"]) == 0
    assert stage.parts == [["program"], ["program", "torch"]]


def test_that_torch_is_left_out_where_that_is_told(stage: SimpleNamespace):
    assert commands.main(["run", "--terminal", "--light"]) == 0
    assert stage.parts == [["program"]]


def test_that_torch_is_left_out_where_a_trainer_works(stage: SimpleNamespace):
    stage.trainer = "/trainer/bin/python"
    assert commands.main(["run", "--terminal"]) == 0
    assert stage.parts == [["program"]]


@pytest.mark.parametrize(("words", "expected"), [(["test"], "torch"), (["test", "--light"], None)])
def test_that_test_brings_tools_and_torch(stage: SimpleNamespace, words: list[str], expected: str | None):
    assert commands.main(words) == 0
    assert stage.parts[0][:2] == ["program", "tools"]
    assert ("torch" in stage.parts[0]) == (expected is not None)
    assert stage.done == ["checks"]


def test_that_setup_starts_nothing(stage: SimpleNamespace, capsys: pytest.CaptureFixture[str]):
    assert commands.main(["setup"]) == 0
    assert stage.done == []
    assert "set up" in capsys.readouterr().out


def test_that_a_relative_home_means_the_folder_of_the_person(
    stage: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KOHYA_PREFLIGHT_HOME", "here")
    assert commands.main(["setup"]) == 0
    assert os.environ["KOHYA_PREFLIGHT_HOME"] == str(tmp_path / "here")


def test_that_the_sample_is_trained_where_the_program_keeps_its_things(
    home: Home, monkeypatch: pytest.MonkeyPatch
):
    ran: list[list[str]] = []
    monkeypatch.setattr(sample, "run_program", lambda environment, words: ran.append(words) or 0)
    environment: Any = SimpleNamespace(python=Path(sys.executable), project=PROJECT)
    assert sample.train_sample(environment, None, lambda text: None) == 0
    plan = home.root / "sample_project" / "plan.toml"
    assert plan.is_file()
    assert sample.train_sample(environment, "/trainer/bin/python", lambda text: None) == 0
    assert ran == [
        ["run", str(plan), "--practice", "--accept", "output-exists"],
        ["run", str(plan), "--practice", "--accept", "output-exists", "--python", "/trainer/bin/python"],
    ]


def test_that_a_home_that_cannot_be_written_is_one_line(home: Home):
    home.root.write_text("a file", "utf-8")
    environment: Any = SimpleNamespace(python=Path(sys.executable), project=PROJECT)
    with pytest.raises(Trouble, match=r"could not be copied.*home of this test") as caught:
        sample.train_sample(environment, None, lambda text: None)
    assert "\n" not in str(caught.value)


PROGRAM_WITH_TRAINERS = """
import json, sys
words = sys.argv[1:]
kinds = [("broken", "/b", False), ("bare", None, False), ("works", "/w/python", False), ("p", "/p", True)]
if words[:2] == ["trainer", "list"]:
    print(json.dumps({"schema": 1, "trainers": [
        {"root": name, "python": python, "practice": practice, "label": name, "default": name == "works"}
        for name, python, practice in kinds
    ]}))
elif words[:3] == ["trainer", "probe", "works"]:
    print(json.dumps({"torch": "2.6.0", "scripts": {"a.py": {"error": "x"}, "b.py": {"error": None}}}))
else:
    sys.exit(2)
"""


@pytest.fixture
def program(checkout: Environment, interpreter: Path) -> Environment:
    """Let the checkout's program be one that knows some trainers."""
    (checkout.project / "gui").mkdir()
    (checkout.project / "gui" / "__main__.py").write_text(PROGRAM_WITH_TRAINERS, "utf-8")
    return checkout


def test_that_a_trainer_counts_when_it_can_train(program: Environment):
    told: list[str] = []
    assert sample.working_trainer(program, told.append) == "/w/python"
    assert "works" in told[0]


def test_that_trainers_that_cannot_train_do_not_count(program: Environment):
    main = program.project / "gui" / "__main__.py"
    main.write_text(PROGRAM_WITH_TRAINERS.replace('{"error": None}', '{"error": "no"}'), "utf-8")
    assert sample.working_trainer(program, lambda text: None) is None
    main.write_text("print('no JSON')", "utf-8")
    assert sample.working_trainer(program, lambda text: None) is None
