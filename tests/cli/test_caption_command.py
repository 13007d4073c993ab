"""``caption``: shown before anything is written, written when it is wanted. The captioner is a stub."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from dataset_maker import clean_dataset
from stub_captioner import captioning_checkout

from gui.cli.main import run as command_line
from gui.engine.paths import Home

pytestmark = pytest.mark.usefixtures("no_leftovers")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return captioning_checkout(tmp_path_factory.mktemp("stub") / "sd-scripts")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = clean_dataset(tmp_path / "images", 2)
    files[1].with_suffix(".txt").unlink()
    return files[0].parent


@pytest.fixture
def caption(home: Home, checkout: Path, folder: Path) -> Callable[..., int]:
    def run(*words: str, what: Path = folder) -> int:
        trainer = ["--trainer", str(checkout), "--python", sys.executable]
        return command_line(["caption", str(what), *words, *trainer])

    return run


class Terminal(io.StringIO):
    """Somebody who answers."""

    def isatty(self) -> bool:
        return True


def test_that_captions_are_shown_first_and_written_when_it_is_wanted(
    caption, folder: Path, home: Home, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (folder / "clean_000.txt").read_text("utf-8")
    assert caption("--trigger", "mira_x", "--set", "thresh=0.4", "--all") == 0
    said = capsys.readouterr().out
    assert "clean_001.jpg: mira_x, 640x640, " in said
    assert f"now: {before}" in said
    assert "Nothing is written." in said

    (made,) = home.captioning.iterdir()
    assert caption("--json", what=made) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["tagger"], document["images"]) == (1, "wd14", 2)
    assert document["captions"][1]["name"] == "clean_001.jpg"
    assert document["written"] == document["left"] == document["unreadable"] == []
    for answer in ("n\n", ""):
        monkeypatch.setattr(sys, "stdin", Terminal(answer))
        assert caption(what=made) == 0
    assert not (folder / "clean_001.txt").exists()

    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert caption(what=made) == 0
    assert "left as it is: " in capsys.readouterr().out
    assert (folder / "clean_001.txt").read_text("utf-8").startswith("mira_x, 640x640")
    assert (folder / "clean_000.txt").read_text("utf-8") == before

    assert caption("--write", "--over-existing", what=made) == 0
    assert "1 caption written." in capsys.readouterr().out
    assert (folder / "clean_000.txt").read_text("utf-8") != before
    assert not list(home.captioning.iterdir())


def test_that_a_failure_tells_why_and_where_its_log_is(caption, home: Home, capsys) -> None:
    assert caption("--set", "repo_id=no/such") == 1
    said = capsys.readouterr()
    assert "OSError: We could not connect to the hub" in said.err
    assert "output.log" in said.err
    assert "1 of 1 images got no caption" in said.out


def test_that_a_captioner_that_says_nothing_is_told(caption, capsys) -> None:
    every = "undesired_tags=640x640,red_sky,red sky,dark_night,dark night"
    assert caption("--set", every, "--json") == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["captions"], "said nothing" in document["problem"]) == ([], True)


def test_that_what_makes_no_sense_is_refused_in_one_line(caption, folder: Path, capsys) -> None:
    assert caption("--set", "thresh") == 2
    assert "is no NAME=VALUE" in capsys.readouterr().err
    assert caption("--set", "thresh=much") == 2
    assert "thresh" in capsys.readouterr().err
    assert caption("--tagger", "blip") == 2
    assert "has no finetune/make_captions.py" in capsys.readouterr().err
    assert caption(what=folder / "nothing") == 2
