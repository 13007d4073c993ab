"""``command`` shows what would run, and ``schema`` what the documents look like."""

import io
import json
import sys
import textwrap
import tomllib

import pytest

from gui.cli import main
from gui.cli.schema import documents

SCRIPT = """
    import argparse

    def setup_parser():
        parser = argparse.ArgumentParser()
        for name in ("pretrained_model_name_or_path", "output_dir", "output_name", "network_module",
                     "dataset_config", "huggingface_token", "training_comment", "save_model_as"):
            parser.add_argument("--" + name)
        parser.add_argument("--seed", type=int)
        return parser
"""

PLAN = """
    schema = 1
    name = "mira"
    family = "sd15"
    odd_key = 1
    [arguments]
    pretrained_model_name_or_path = "base.safetensors"
    output_dir = "내 결과"
    seed = 3
    [[dataset.subsets]]
    image_dir = "images"
"""


@pytest.fixture
def folder(tmp_path, home):
    root = tmp_path / "sd-scripts"
    (root / "library").mkdir(parents=True)
    (root / "train_network.py").write_text(textwrap.dedent(SCRIPT))
    (root / "torch.py").write_text("__version__ = '2.6.0'\n")
    return tmp_path


def command(capsys, folder, *words, plan=PLAN):
    (folder / "plan.toml").write_text(textwrap.dedent(plan), "utf-8")
    named = [str(folder / "plan.toml"), "--trainer", str(folder / "sd-scripts"), "--python", sys.executable]
    status = main.run(["command", *named, *map(str, words)])
    return status, capsys.readouterr()


def test_that_the_command_is_shown_for_bash(folder, home, capsys):
    status, said = command(capsys, folder, "--shell", "posix")
    assert status == 0
    assert said.out.startswith("# ")
    assert str(home.runs) in said.out.splitlines()[0]
    assert f"--output_dir '{folder / '내 결과'}'" in said.out
    assert "--network_module networks.lora" in said.out
    assert "odd_key" in said.err
    assert not home.runs.exists()


def test_that_the_files_can_be_written_to_run_it_by_hand(folder, capsys):
    status, said = command(capsys, folder, "--write", folder / "here")
    assert status == 0
    assert str(folder / "here" / "dataset.toml") in said.out
    read = tomllib.loads((folder / "here" / "dataset.toml").read_text("utf-8"))
    assert read["datasets"][0]["subsets"] == [{"image_dir": str(folder / "images")}]


def test_that_json_is_one_document_without_tokens(folder, capsys):
    token = "hf_" + "c" * 30
    plan = PLAN.replace("seed = 3", f'seed = 3\n    huggingface_token = "{token}"')
    status, said = command(capsys, folder, "--json", "--shell", "powershell", plan=plan)
    shown = json.loads(said.out)
    assert status == 0
    assert shown["schema"] == 1
    assert shown["shell"] == "powershell"
    assert shown["command"]["script"] == "train_network.py"
    assert shown["command"]["environment"]["HF_TOKEN"] == "•••"
    assert token not in said.out + said.err


def test_that_a_plan_that_cannot_run_says_why_with_status_1(folder, capsys):
    plan = PLAN.replace("seed = 3", 'seed = "x"\n    sede = 1')
    status, said = command(capsys, folder, plan=plan)
    assert (status, said.out) == (1, "")
    assert "arg-type: seed takes a whole number" in said.err
    assert "arg-unknown" in said.err
    status, said = command(capsys, folder, "--json", plan=plan)
    assert status == 1
    assert {finding["id"] for finding in json.loads(said.out)["findings"]} == {"arg-type", "arg-unknown"}


def test_that_chosen_gpus_that_are_not_here_are_refused(folder, capsys):
    plan = PLAN + "    [launch]\n    gpu_ids = [-1]\n"
    status, said = command(capsys, folder, plan=plan)
    assert status == 1
    assert "gpuid" in said.err


@pytest.mark.parametrize(
    ("plan", "said"),
    [("name = 3", "name must be a text"), ("x = [", "not TOML"), ("schema = 9\nname = 'x'", "newer version")],
)
def test_that_a_file_that_is_no_plan_is_one_line_with_status_2(folder, capsys, plan, said):
    status, output = command(capsys, folder, plan=plan)
    assert (status, output.out) == (2, "")
    assert said in output.err.splitlines()[-1]


def test_that_all_documents_are_listed_and_each_has_a_schema(capsys):
    assert main.run(["schema"]) == 0
    names = capsys.readouterr().out.split()
    assert names == list(documents())
    for name in names:
        assert main.run(["schema", name]) == 0
        schema = json.loads(capsys.readouterr().out)
        assert schema["$schema"].startswith("https://json-schema.org")
        assert {"properties", "oneOf", "anyOf", "$ref"} & schema.keys(), name


def test_that_the_plans_schema_speaks_the_plans_own_names(capsys):
    main.run(["schema", "plan"])
    schema = json.loads(capsys.readouterr().out)
    assert {"schema", "arguments", "dataset", "launch", "guard"} <= schema["properties"].keys()


def test_that_an_unknown_document_is_used_wrongly(capsys):
    assert main.run(["schema", "love-letter"]) == 2
    assert "love-letter" in capsys.readouterr().err


def test_that_the_output_is_utf8_whatever_the_console(folder, capsys, monkeypatch):
    console = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr(sys, "stdout", console)
    assert command(capsys, folder, "--shell", "posix")[0] == 0
    console.flush()
    assert "내 결과" in console.buffer.getvalue().decode("utf-8")
