"""Whatever is brought: one sentence that names the file and what is wrong, status 2, nothing written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bad_files import BAD_FILES

from gui.cli.main import run
from gui.engine.paths import Home


@pytest.mark.parametrize("what", BAD_FILES)
@pytest.mark.parametrize(
    "words",
    [("import", "-o", "made.toml"), ("check",), ("run",)],
    ids=lambda words: words[0],
)
def test_that_a_bad_file_is_refused_in_one_sentence(
    what: str, words: tuple[str, ...], tmp_path: Path, home: Home, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    place = tmp_path / "files"
    place.mkdir()
    monkeypatch.chdir(place)
    bad = BAD_FILES[what]
    bad.make(place / bad.name)
    before = sorted(place.iterdir())
    assert run([words[0], bad.name, *words[1:]]) == 2
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert bad.name in line
    assert bad.words in line
    assert "Traceback" not in line and len(line) < 500
    assert not printed.out
    assert sorted(place.iterdir()) == before
    assert not home.runs.exists()


MODELS = [what for what, bad in BAD_FILES.items() if bad.name.endswith(".safetensors")]


@pytest.mark.parametrize("what", MODELS)
def test_that_a_plan_with_a_bad_model_gets_a_finding_that_names_it(
    what: str, tmp_path: Path, home: Home, capsys
) -> None:
    bad = BAD_FILES[what]
    bad.make(tmp_path / bad.name)
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'family = "sdxl"\n[arguments]\npretrained_model_name_or_path = "{bad.name}"\noutput_dir = "out"\n'
    )
    assert run(["check", str(plan), "--json"]) == 1
    findings = json.loads(capsys.readouterr().out)["findings"]
    about = [each for each in findings if "pretrained_model_name_or_path" in each["arguments"]]
    assert [each["id"] for each in about if bad.name in each["title"] and each["severity"] != "hint"]


@pytest.mark.parametrize("what", [*MODELS, "a loop of links", "a file that is not there"])
def test_that_a_bad_file_among_checkpoints_is_named(what: str, tmp_path: Path, capsys) -> None:
    bad = BAD_FILES[what]
    bad.make(tmp_path / bad.name)
    assert run(["checkpoints", str(tmp_path / bad.name)]) != 0
    printed = capsys.readouterr()
    assert bad.name in printed.out + printed.err
    assert "Traceback" not in printed.err
