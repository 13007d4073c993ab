"""The real captioner of a real sd-scripts, with a model of a few random numbers in place of its weights.

Its own weights come from a hub that tests cannot reach; all else is real: what its parser says, the command,
the process, what it writes and where.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from dataset_maker import clean_dataset, picture, saved

from gui.cli.main import run as command_line
from gui.engine.paths import Home
from gui.engine.trainer.captioners import ask_captioner, captioners
from gui.engine.trainer.installs import install_at

pytestmark = [pytest.mark.usefixtures("no_leftovers"), pytest.mark.timeout(900)]


@pytest.mark.parametrize("tagger", ["wd14", "git"])
def test_that_the_scripts_have_the_arguments_that_are_offered(
    real_trainer, tmp_path: Path, tagger: str
) -> None:
    captioner = captioners()[tagger]
    facts = ask_captioner(install_at(real_trainer.root, real_trainer.python), captioner, tmp_path)
    known = facts.arguments(captioner).arguments
    ways = {name for way in captioner.ways for name in way.arguments}
    wanted = {*captioner.fields, *captioner.arguments, *ways, *filter(None, [captioner.models])}
    assert wanted | {"caption_extension", "max_data_loader_n_workers"} <= known.keys()


def test_that_the_real_captioner_makes_captions_that_are_then_written(
    real_trainer, home: Home, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    model = tmp_path / "tiny git"
    maker = Path(__file__).parent / "tiny_git.py"
    subprocess.run([str(real_trainer.python), str(maker), str(model)], check=True, env=os.environ)
    folder = tmp_path / "my images"
    for file in clean_dataset(folder, 3)[1:]:
        file.with_suffix(".txt").unlink()
    (folder / "cut.png").write_bytes(saved(picture(1))[:3000])
    words = ["--tagger", "git", "--set", f"model_id={model}", "--trigger", "mira_x", "--write", "--json"]
    trainer = ["--trainer", str(real_trainer.root), "--python", str(real_trainer.python)]
    assert command_line(["caption", str(folder), *words, *trainer]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in document["captions"]] == ["clean_001.jpg", "clean_002.webp"]
    assert document["unreadable"] == [str(folder / "cut.png")]
    assert len(document["written"]) == 2
    assert (folder / "clean_001.txt").read_text("utf-8").startswith("mira_x, ")
    assert not list(home.captioning.iterdir())
