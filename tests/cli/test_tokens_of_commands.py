"""Tokens on the command line's ways: moved into the keyring, handed to runs, and shown nowhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from file_keyring import MOOD

from gui.cli.main import run
from gui.engine.paths import Home
from gui.engine.token_store import SERVICE, TokenStore

TOKEN = "hf_" + "k3Y7" * 8
NAME = "huggingface_token"
PLAN = f"""schema = 1
name = "mira"
family = "sd15"
[arguments]
pretrained_model_name_or_path = "model.safetensors"
output_dir = "out"
huggingface_token = "{TOKEN}"
max_train_steps = 500
[dataset]
resolution = 512
[[dataset.subsets]]
image_dir = "images"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a test's files, which is the current one."""
    place = tmp_path / "files"
    place.mkdir()
    monkeypatch.chdir(place)
    (place / "train.bat").write_text(f"python train_network.py --seed 1 --huggingface_token={TOKEN}\r\n")
    (place / "plan.toml").write_text(PLAN)
    (place / "machine.toml").write_text('os = "linux"\n')
    return place


def kept(keyring_file: Path) -> dict[str, str]:
    return json.loads(keyring_file.read_text("utf-8")) if keyring_file.exists() else {}


@pytest.mark.parametrize("name", ["train.bat", "plan.toml"])
@pytest.mark.parametrize("words", [["-o", "made.toml"], [], ["--json"]])
def test_that_importing_moves_a_token_into_the_keyring_and_says_so(
    folder: Path, home: Home, keyring_file: Path, capsys, name: str, words: list[str]
) -> None:
    assert run(["import", name, *words]) == 0
    printed = capsys.readouterr()
    assert kept(keyring_file) == {f"{SERVICE}/{NAME}": TOKEN}
    assert "keyring" in (printed.out if "--json" in words else printed.err)
    written = (folder / "made.toml").read_text("utf-8") if (folder / "made.toml").exists() else ""
    assert TOKEN not in printed.out + printed.err + written


def test_that_without_a_keyring_an_import_says_what_to_do_instead(folder: Path, home: Home, capsys) -> None:
    assert run(["import", "train.bat"]) == 0
    printed = capsys.readouterr()
    assert "not kept" in printed.err and "HF_TOKEN" in printed.err
    assert TOKEN not in printed.out + printed.err


def test_that_a_placeholder_is_not_kept_as_a_token(folder: Path, home: Home, keyring_file, capsys) -> None:
    (folder / "train.bat").write_text("python train_network.py --wandb_api_key todo\n")
    assert run(["import", "train.bat"]) == 0
    assert "no token" in capsys.readouterr().err
    assert not kept(keyring_file)


def test_that_a_plan_with_a_token_is_found_and_the_fix_moves_it(
    folder: Path, home: Home, keyring_file: Path, capsys
) -> None:
    run(["check", "plan.toml", "--machine", "machine.toml", "--json"])
    printed = capsys.readouterr()
    (found,) = [each for each in json.loads(printed.out)["findings"] if each["id"] == "secret-in-plan"]
    assert [fix["id"] for fix in found["fixes"]] == ["keep", "remove"]
    assert not any(fix["safe"] for fix in found["fixes"])
    run(["fix", "plan.toml", "--machine", "machine.toml", "--only", "secret-in-plan", "-o", "mended.toml"])
    printed = capsys.readouterr()
    assert kept(keyring_file) == {f"{SERVICE}/{NAME}": TOKEN}
    assert "by hand" not in printed.out
    assert TOKEN not in printed.out + printed.err + (folder / "mended.toml").read_text("utf-8")
    run(["check", "mended.toml", "--machine", "machine.toml", "--json"])
    assert "secret-in-plan" not in capsys.readouterr().out


def test_that_a_token_that_cannot_be_moved_stays_and_nothing_is_written(
    folder: Path, home: Home, keyring_file: Path, monkeypatch, capsys
) -> None:
    monkeypatch.setenv(MOOD, "locked")
    words = ["fix", "plan.toml", "--machine", "machine.toml", "--only", "secret-in-plan", "-o", "mended.toml"]
    assert run(words) == 2
    assert "locked" in capsys.readouterr().err
    assert not (folder / "mended.toml").exists()


@pytest.mark.usefixtures("practice_is_known")
def test_that_the_command_that_is_shown_names_the_variable_only(
    folder: Path, home: Home, keyring_file: Path, monkeypatch, capsys
) -> None:
    TokenStore(home).keep("wandb_api_key", TOKEN)
    monkeypatch.setenv(MOOD, "locked")  # to show a command nobody unlocks a keyring
    (folder / "images").mkdir()
    (folder / "images" / "a.png").write_bytes(b"-")
    (folder / "plan.toml").write_text(PLAN.replace(f'huggingface_token = "{TOKEN}"\n', ""))
    assert run(["command", "plan.toml", "--practice"]) == 0
    printed = capsys.readouterr()
    assert "WANDB_API_KEY" in printed.out
    assert TOKEN not in printed.out
