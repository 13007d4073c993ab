"""``check``, ``fix`` and ``rules`` from the command line."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from gui.cli.main import run
from gui.engine.plan.paths import absolute
from gui.engine.plan.plan_file import load_plan
from gui.engine.preflight.rules import ALL_RULES

PLAN = """# my plan
schema = 1
name = "mira"
family = "sdxl"
[arguments]
pretrained_model_name_or_path = "model.safetensors"
output_dir = "out"
mixed_precision = "fp16"  # for the old card
max_train_steps = 500
[dataset]
resolution = [1024, 1024]
[[dataset.subsets]]
image_dir = "images"
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "내 plan.toml"
    path.write_text(PLAN, "utf-8")
    return path


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    path = tmp_path / "machine.toml"
    path.write_text('os = "linux"\n', "utf-8")
    return path


def test_that_check_prints_one_json_document_and_the_status_says_stop(plan, machine, capsys) -> None:
    assert run(["check", str(plan), "--machine", str(machine), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert set(report) == {"schema", "verdict", "script", "family", "findings", "steps", "forecast"}
    assert (report["schema"], report["verdict"]) == (1, "stop")
    finding = next(each for each in report["findings"] if each["id"] == "sdxl-vae")
    assert set(finding) == {"id", "severity", "title", "detail", "arguments", "where", "fixes", "sources"}
    assert finding["fixes"][0]["changes"] == {"no_half_vae": True}
    assert set(report["forecast"]) == {"vram_gib", "disk_gib", "seconds"}


def test_that_check_speaks_plainly(plan, machine, capsys) -> None:
    run(["check", str(plan), "--machine", str(machine)])
    out = capsys.readouterr().out
    assert "The SDXL VAE gives NaN in fp16." in out
    assert "--only sdxl-vae:no-half-vae" in out
    assert out.rstrip().endswith("The plan cannot be launched like this.")


def test_that_fix_mends_keeps_comments_and_prints_the_changes(plan, machine, tmp_path, capsys) -> None:
    out = tmp_path / "mended.toml"
    assert run(["fix", str(plan), "--machine", str(machine), "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert "no_half_vae: — → True" in said
    assert "# for the old card" in out.read_text("utf-8")
    assert load_plan(out).plan.arguments["no_half_vae"] is True
    assert plan.read_text("utf-8") == PLAN
    assert run(["check", str(out), "--machine", str(machine)]) == 0


def test_that_fix_takes_the_named_one_only(plan, machine, tmp_path) -> None:
    out = tmp_path / "mended.toml"
    arguments = ["fix", str(plan), "--machine", str(machine), "-o", str(out), "--only", "sdxl-vae:use-bf16"]
    assert run(arguments) == 0
    mended = load_plan(out).plan.arguments
    assert mended["mixed_precision"] == "bf16"
    assert "no_half_vae" not in mended


def test_that_a_fix_which_does_not_exist_is_wrong_usage(plan, machine, tmp_path, capsys) -> None:
    out = tmp_path / "mended.toml"
    arguments = ["fix", str(plan), "--machine", str(machine), "-o", str(out), "--only", "nothing"]
    assert run(arguments) == 2
    assert "nothing" in capsys.readouterr().err
    assert not out.exists()


def test_that_a_list_of_arguments_needs_its_script(tmp_path, machine, capsys) -> None:
    path = tmp_path / "settings.txt"
    path.write_text("--seed 1\n", "utf-8")
    assert run(["check", str(path), "--machine", str(machine)]) == 2
    assert "--script" in capsys.readouterr().err
    assert run(["check", str(path), "--machine", str(machine), "--script", "train_network"]) == 1


def test_that_without_a_trainer_the_bundled_arguments_serve(plan, home, monkeypatch, capsys) -> None:
    monkeypatch.setenv("KOHYA_PREFLIGHT_SD_SCRIPTS", str(home.root / "nothing here"))
    assert run(["check", str(plan), "--json"]) == 1
    printed = capsys.readouterr()
    assert "No trainer is used" in printed.err
    assert json.loads(printed.out)["script"] == "sdxl_train_network.py"


def test_that_a_missing_plan_is_one_line(tmp_path, capsys) -> None:
    assert run(["check", str(tmp_path / "no.toml")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_that_rules_are_listed_with_their_sources(capsys) -> None:
    assert run(["rules", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed["schema"] == 1
    assert [row["id"] for row in listed["rules"]] == [rule.id for rule in ALL_RULES]
    assert all(row["summary"] and row["sources"] for row in listed["rules"])
    assert run(["rules"]) == 0
    assert "cache-aug" in capsys.readouterr().out


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_that_a_plan_may_come_through_a_pipe(plan, machine, tmp_path, capsys) -> None:
    """As a shell's ``<(…)`` hands it over: what was read once is gone."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(plan.read_bytes(),))
    writer.start()
    run(["check", str(pipe), "--machine", str(machine), "--json"])
    writer.join()
    assert json.loads(capsys.readouterr().out)["family"] == "sdxl"


# What a PLAN may turn out to be.

TOO_LARGE = b"# " + b"x" * (5 * 1024 * 1024)

ODD = {
    "broken.toml": (b'family = "sdxl\n[arg', "line 1"),
    "huge.toml": (TOO_LARGE, "too large"),
    "binary.toml": (b"\x89PNG\xff\x00\x01", "not UTF-8"),
    "other.toml": (b'favourite_colour = "x"\n', "no plan"),
    "empty.toml": (b"", "no plan"),
    "wrong.toml": (b'family = "sdxl"\narguments = 3\n', "arguments must be a table"),
    "gui.json": (b'{"class": "Standard", "learning_rate": 1e-4}', "JSON"),
    "run.sh": (b"accelerate launch other.py --seed 1\n", "no command"),
    "letter.txt": (b"hello, world\n", "no list of arguments"),
    "deep.txt": (b"a = " + b"[" * 5000, "no list of arguments"),
    "open.txt": (b'--output_name "mira\n', "line 1"),
}


@pytest.mark.parametrize("name", ODD)
def test_that_what_is_no_plan_is_one_line_that_says_so(name, machine, tmp_path, capsys) -> None:
    content, words = ODD[name]
    path = tmp_path / name
    path.write_bytes(content)
    assert run(["check", str(path), "--machine", str(machine), "--script", "train_network"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    assert name in line
    assert words in line


def test_that_a_folder_is_no_plan(machine, tmp_path, capsys) -> None:
    assert run(["check", str(tmp_path), "--machine", str(machine)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_that_a_newer_plan_is_shown_and_neither_launched_nor_fixed(plan, machine, tmp_path, capsys) -> None:
    plan.write_text(PLAN.replace("schema = 1", "schema = 7\nnewer = 1"), "utf-8")
    assert run(["check", str(plan), "--machine", str(machine), "--json"]) == 1
    printed = capsys.readouterr()
    assert "plan-newer" in [finding["id"] for finding in json.loads(printed.out)["findings"]]
    assert "newer" in printed.err
    out = tmp_path / "mended.toml"
    assert run(["fix", str(plan), "--machine", str(machine), "-o", str(out)]) == 2
    assert not out.exists()


def test_that_a_broken_machine_file_is_one_line(plan, machine, capsys) -> None:
    machine.write_text("vram = 12", "utf-8")
    assert run(["check", str(plan), "--machine", str(machine)]) == 2
    assert "vram" in capsys.readouterr().err


@pytest.mark.usefixtures("practice_is_known")
def test_that_for_another_machine_the_named_trainers_arguments_count(plan, machine, home, capsys) -> None:
    plan.write_text(PLAN.replace('family = "sdxl"', 'family = "sd15"'), "utf-8")
    arguments = ["check", str(plan), "--machine", str(machine), "--practice", "--json"]
    assert run(arguments) in (0, 1)
    assert json.loads(capsys.readouterr().out)["script"] == "train_network.py"
    with_flux = PLAN.replace('family = "sdxl"', 'family = "flux1"')
    plan.write_text(with_flux, "utf-8")
    assert run(arguments) == 1
    found = json.loads(capsys.readouterr().out)["findings"]
    assert "script-exists" in [finding["id"] for finding in found], "the practice trainer has no such script"


def test_that_a_script_of_ones_own_choice_is_checked(plan, machine, capsys) -> None:
    run(["check", str(plan), "--machine", str(machine), "--script", "sdxl_train.py", "--json"])
    assert json.loads(capsys.readouterr().out)["script"] == "sdxl_train.py"


def test_that_the_length_of_a_training_is_told(plan, machine, capsys) -> None:
    machine.write_text('os = "linux"\n[dataset]\nimages = 20\nrepeats = 10\n', "utf-8")
    run(["check", str(plan), "--machine", str(machine)])
    assert "20 images" in capsys.readouterr().out


# What fix prints and writes.

TOKEN = "hf_" + "x" * 30


def test_that_a_token_that_is_taken_out_is_not_printed(plan, machine, tmp_path, capsys) -> None:
    text = PLAN.replace("output_dir", f'huggingface_token = "{TOKEN}"\noutput_dir')
    plan.write_text(text + f'[launch.env]\nHF_TOKEN = "{TOKEN}"\n', "utf-8")
    out = tmp_path / "mended.toml"
    words = ["fix", str(plan), "--machine", str(machine), "-o", str(out), "--only", "secret-in-plan:remove"]
    assert run(words) == 1
    printed = capsys.readouterr()
    assert "huggingface_token: ••• → —" in printed.out
    assert "env.HF_TOKEN: ••• → —" in printed.out
    assert TOKEN not in printed.out + printed.err + out.read_text("utf-8")


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_that_check_prints_no_token_wherever_it_stands(plan, machine, capsys, words) -> None:
    key = "0a1b2c3d4e5f" * 3
    more = f'network_args = ["key={TOKEN}"]\nlr_scheduler = "{key}"\nwandb_api_key = "{key}"\n'
    text = PLAN.replace("output_dir", f"{more}output_dir")
    plan.write_text(text + f'[launch.env]\nHF_TOKEN = "{TOKEN}"\n', "utf-8")
    run(["check", str(plan), "--machine", str(machine), *words])
    printed = capsys.readouterr()
    assert "•••" in printed.out
    assert TOKEN not in printed.out + printed.err
    assert key not in printed.out + printed.err


def test_that_the_first_letter_of_a_token_hides_no_words(plan, machine, capsys) -> None:
    plan.write_text(PLAN.replace("output_dir", 'wandb_api_key = "e"\noutput_dir'), "utf-8")
    run(["check", str(plan), "--machine", str(machine)])
    assert "The SDXL VAE gives NaN in fp16." in capsys.readouterr().out


def test_that_a_list_of_arguments_becomes_a_plan_that_means_the_same_files(
    machine, tmp_path, monkeypatch, capsys
) -> None:
    (tmp_path / "lists").mkdir()
    given = tmp_path / "lists" / "mira.txt"
    given.write_text("--output_dir out\n--dataset_config d.toml\n--seed 1\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "plans" / "mira.toml"
    run(["fix", str(given), "--script", "train_network", "--machine", str(machine), "-o", str(out)])
    written = load_plan(out)
    assert Path(absolute(written.plan.arguments["output_dir"], written.base)) == tmp_path / "lists" / "out"
    assert "still a stop" in capsys.readouterr().err


def test_that_a_sound_plan_is_written_as_it_is(plan, machine, tmp_path, capsys) -> None:
    first, second = tmp_path / "first.toml", tmp_path / "second.toml"
    run(["fix", str(plan), "--machine", str(machine), "-o", str(first)])
    capsys.readouterr()
    assert run(["fix", str(first), "--machine", str(machine), "-o", str(second)]) == 0
    assert "Nothing was changed." in capsys.readouterr().out
    assert second.read_text("utf-8") == first.read_text("utf-8")


def test_that_a_trainer_that_was_named_and_is_not_there_is_an_error(plan, home, tmp_path, capsys) -> None:
    assert run(["check", str(plan), "--trainer", str(tmp_path / "nowhere")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.usefixtures("practice_is_known")
def test_that_the_practice_trainer_and_the_files_of_this_machine_are_looked_at(plan, home, capsys) -> None:
    plan.write_text(PLAN.replace('family = "sdxl"', 'family = "sd15"'), "utf-8")
    assert run(["check", str(plan), "--practice", "--json"]) == 1
    found = {finding["id"] for finding in json.loads(capsys.readouterr().out)["findings"]}
    assert {"path-missing", "data-missing"} <= found


def test_that_captions_are_converted_when_that_fix_is_named(plan, home, tmp_path, capsys) -> None:
    images = tmp_path / "images"
    images.mkdir()
    (images / "a.png").write_bytes(b"")
    (images / "a.caption").write_bytes("mira, 비".encode("cp949"))
    (images / "b.png").write_bytes(b"")
    (images / "b.caption").write_bytes(b"\x81\x8d\x90")
    out = tmp_path / "out.toml"
    run(["fix", str(plan), "-o", str(out), "--only", "cap-utf8:convert-captions"])
    told = capsys.readouterr()
    assert "dataset.subsets.0: 1 caption was converted. Left as they were: b.caption" in told.err
    assert "do it by hand" not in told.out
    assert (images / "a.caption").read_text("utf-8") == "mira, 비"
    assert (images / "_preflight_originals" / "a.caption").read_bytes() == "mira, 비".encode("cp949")
