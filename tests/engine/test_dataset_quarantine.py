"""Files go into quarantine and come back as they were, whenever the process that moves them is killed."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gui.engine.dataset.folders import look_at_folder
from gui.engine.dataset.listing import list_folder
from gui.engine.dataset.quarantine import (
    JOURNAL,
    QUARANTINE,
    bring_back,
    in_quarantine,
    set_aside,
    with_captions,
)
from gui.engine.errors import CannotRead, CannotWrite

MOVES = """
import sys
from pathlib import Path
from gui.engine.dataset.quarantine import bring_back, set_aside
folder = Path(sys.argv[1])
print("go", flush=True)
while True:
    set_aside(folder, [f"p{number}.png" for number in range(60)], "img-decode")
    bring_back(folder)
"""


def hashes(folder: Path) -> dict[str, str]:
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.iterdir()
        if file.is_file()
    }


def filled(folder: Path, count: int = 4) -> dict[str, str]:
    for number in range(count):
        (folder / f"p{number}.png").write_bytes(f"picture {number}".encode())
        (folder / f"p{number}.txt").write_text(f"caption {number}")
    return hashes(folder)


def test_that_files_come_back_as_they_were(tmp_path: Path) -> None:
    before = filled(tmp_path)
    names = with_captions(tmp_path, ["p0.png", "p2.png"], ".txt", ["p0.png", "p1.png", "p2.png", "p3.png"])
    assert set_aside(tmp_path, [*names, "gone.png", "../x"], "img-decode") == (
        "p0.png",
        "p2.png",
        "p0.txt",
        "p2.txt",
    )
    assert set(hashes(tmp_path)) == set(before) - set(names)
    assert {(entry.name, entry.reason) for entry in in_quarantine(tmp_path)} == {
        (name, "img-decode") for name in names
    }
    assert bring_back(tmp_path, ["p0.png"]).back == ("p0.png",)
    assert set(bring_back(tmp_path).back) == set(names) - {"p0.png"}
    assert hashes(tmp_path) == before
    assert not (tmp_path / QUARANTINE).exists()
    assert bring_back(tmp_path).back == ()


def test_that_a_caption_that_another_image_shares_stays(tmp_path: Path) -> None:
    filled(tmp_path)
    assert with_captions(tmp_path, ["p0.png"], ".txt", ["p0.png", "p0.jpg"]) == ["p0.png"]


def test_that_nothing_is_replaced_on_the_way_back(tmp_path: Path) -> None:
    filled(tmp_path)
    set_aside(tmp_path, ["p0.png"])
    (tmp_path / "p0.png").write_bytes(b"a new one")
    set_aside(tmp_path, ["p0.png"])
    assert [entry.stored for entry in in_quarantine(tmp_path)] == ["p0.png", "2~p0.png"]
    returned = bring_back(tmp_path)
    assert (returned.back, returned.in_the_way) == (("p0.png",), ("p0.png",))
    assert (tmp_path / "p0.png").read_bytes() == b"picture 0"
    assert (tmp_path / QUARANTINE / "2~p0.png").read_bytes() == b"a new one"


def test_that_names_of_any_kind_can_be_set_aside(tmp_path: Path) -> None:
    names = ["with\nnewline.png", "“quotes” '\".png", JOURNAL]
    if os.name != "nt":
        names.append(os.fsdecode(b"no\xfftext.png"))
    for name in names:
        (tmp_path / name).write_bytes(name.encode("utf-8", "surrogateescape"))
    before = hashes(tmp_path)
    assert set_aside(tmp_path, names) == tuple(names)
    assert {entry.name for entry in in_quarantine(tmp_path)} == set(names)
    bring_back(tmp_path)
    assert hashes(tmp_path) == before


def test_that_what_cannot_be_moved_stays_and_is_told(tmp_path: Path, monkeypatch) -> None:
    before = filled(tmp_path)
    rename = Path.rename

    def refuse(self: Path, target: Path) -> Path:
        if self.name == "p1.png":
            raise OSError(30, os.strerror(30))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(CannotWrite):
        set_aside(tmp_path, ["p0.png", "p1.png", "p2.png"])
    monkeypatch.undo()
    assert [entry.name for entry in in_quarantine(tmp_path)] == ["p0.png"]
    bring_back(tmp_path)
    assert hashes(tmp_path) == before


def test_that_a_damaged_journal_is_told_and_a_lost_one_does_no_harm(tmp_path: Path) -> None:
    before = filled(tmp_path)
    set_aside(tmp_path, ["p0.png"])
    journal = tmp_path / QUARANTINE / JOURNAL
    journal.write_text("{")
    with pytest.raises(CannotRead):
        bring_back(tmp_path)
    journal.unlink()
    assert bring_back(tmp_path).back == ("p0.png",)
    assert hashes(tmp_path) == before


@pytest.mark.skipif(os.name == "nt", reason="links need rights")
def test_that_a_link_is_not_taken_for_the_quarantine(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / QUARANTINE).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CannotWrite):
        set_aside(tmp_path, ["p0.png"])


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_that_every_file_survives_a_kill_in_the_middle(tmp_path: Path) -> None:
    before = filled(tmp_path, 60)
    for wait in range(8):
        with subprocess.Popen([sys.executable, "-c", MOVES, str(tmp_path)], stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            child.stdout.readline()
            time.sleep(0.005 * wait)
            child.send_signal(signal.SIGKILL)
        bring_back(tmp_path)
        assert hashes(tmp_path) == before
    assert not in_quarantine(tmp_path)


def test_that_what_is_in_quarantine_is_no_part_of_the_dataset(tmp_path: Path) -> None:
    filled(tmp_path)
    set_aside(tmp_path, ["p0.png"])
    assert list_folder(tmp_path).folders == ()
    assert [subset["image_dir"] for subset in look_at_folder(tmp_path).subsets()] == [str(tmp_path)]
