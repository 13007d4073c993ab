"""Captions are changed as the preview shows, and their originals come back to the byte."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from functools import partial
from itertools import chain, repeat
from pathlib import Path

import pytest

from gui.engine.dataset import caption_originals
from gui.engine.dataset.caption_check import CaptionFolder
from gui.engine.dataset.caption_edits import (
    preview,
    replaced,
    to_utf8,
    with_tag,
    without_control,
    without_tag,
)
from gui.engine.dataset.caption_originals import (
    JOURNAL,
    ORIGINALS,
    kept_originals,
    restore_originals,
    write_edits,
)
from gui.engine.errors import Cancelled, CannotRead, CannotWrite

CONTENT = {
    "a": b"mira, rain\r\nsecond line\r\n",
    "b": b"mira,rain , coat",
    "c": "mira, 비".encode("cp949"),
    "d": b"\xef\xbb\xbfmira, coat\n",
    "e": b"\x81\x8d\x90",
}
EDITS = """
import sys
from pathlib import Path
from gui.engine.dataset.caption_check import CaptionFolder
from gui.engine.dataset.caption_edits import preview, replaced
from gui.engine.dataset.caption_originals import write_edits
folder = Path(sys.argv[1])
where = CaptionFolder(folder, [f"p{number}.png" for number in range(40)], ".txt")
print("go", flush=True)
number = 0
while True:
    number += 1
    write_edits(preview(where, replaced(r"x\\d*", f"x{number}", pattern=True)))
"""


@pytest.fixture
def where(tmp_path: Path) -> CaptionFolder:
    for name, data in CONTENT.items():
        (tmp_path / f"{name}.txt").write_bytes(data)
    return CaptionFolder(tmp_path, [f"{name}.png" for name in (*CONTENT, "none")], ".txt")


def hashes(folder: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.glob("*.txt")}


def after(where: CaptionFolder, change, **more) -> dict[str, str]:
    return {edit.name: edit.after for edit in preview(where, change, **more).edits}


def test_that_a_preview_changes_nothing(where: CaptionFolder) -> None:
    before = hashes(where.folder)
    shown = preview(where, replaced("mira", "mira_x"))
    assert {edit.name for edit in shown.edits} == {"a.txt", "b.txt", "c.txt", "d.txt"}
    assert shown.unreadable == ("e.txt",)
    assert hashes(where.folder) == before
    assert not (where.folder / ORIGINALS).exists()


def test_that_texts_are_replaced_as_asked(where: CaptionFolder) -> None:
    assert after(where, replaced("RAIN", "snow"))["b.txt"] == "mira,snow , coat"
    assert after(where, replaced("RAIN", "snow", match_case=True)) == {}
    assert after(where, replaced("rai", "snow", whole_words=True)) == {}
    assert after(where, replaced(r"(co)at", r"\1\1", pattern=True))["d.txt"] == "mira, coco\n"
    assert after(where, replaced(".", r"\1")) == {}
    assert after(where, replaced("", "x")) == {}


def test_that_tags_are_added_and_taken_out(where: CaptionFolder) -> None:
    added = after(where, with_tag("night"), create=True)
    assert added["a.txt"] == "night, mira, rain\r\nsecond line\r\n"
    assert added["none.txt"] == "night"
    assert after(where, with_tag("night", first=False))["b.txt"] == "mira, rain, coat, night"
    assert "a.txt" not in after(where, with_tag("Mira"))
    assert after(where, with_tag(" snow, ,Rain"))["b.txt"] == "snow, mira, rain, coat"
    assert after(where, with_tag(" , "), create=True) == {}
    assert after(where, with_tag("night", wildcard=True))["a.txt"].endswith("night, second line\r\n")
    removed = after(where, without_tag("RAIN"))
    assert removed == {"a.txt": "mira\r\nsecond line\r\n", "b.txt": "mira, coat"}


def test_that_captions_become_utf8(where: CaptionFolder) -> None:
    shown = preview(where, to_utf8)
    assert {edit.name: edit.after for edit in shown.edits} == {"c.txt": "mira, 비", "d.txt": "mira, coat\n"}
    write_edits(shown)
    assert (where.folder / "c.txt").read_bytes() == "mira, 비".encode()
    assert preview(where, to_utf8).edits == ()
    assert without_control("mi\x07ra\r\n\tx\u200b") == "mira\r\n\tx"


def test_that_originals_come_back_to_the_byte(where: CaptionFolder) -> None:
    before = hashes(where.folder)
    told: list[tuple[int, int]] = []
    write_edits(
        preview(where, with_tag("night"), create=True), lambda done, total: told.append((done, total))
    )
    assert told[-1] == (5, 5)
    write_edits(preview(where, replaced("night", "day")))
    assert {kept.name for kept in kept_originals(where.folder)} == {
        "a.txt",
        "b.txt",
        "c.txt",
        "d.txt",
        "none.txt",
    }
    assert restore_originals(where.folder, ["a.txt"]).done == ("a.txt",)
    assert len(restore_originals(where.folder).done) == 4
    assert hashes(where.folder) == before
    assert not (where.folder / ORIGINALS).exists()
    assert restore_originals(where.folder).done == ()


def test_that_what_somebody_else_changed_is_left_alone(where: CaptionFolder) -> None:
    shown = preview(where, with_tag("night"))
    (where.folder / "a.txt").write_text("changed meanwhile")
    written = write_edits(shown)
    assert written.left == ("a.txt",)
    (where.folder / "b.txt").write_text("changed later")
    restored = restore_originals(where.folder)
    assert restored.left == ("b.txt",)
    assert (where.folder / "b.txt").read_text() == "changed later"
    assert restore_originals(where.folder, force=True).done == ("b.txt",)
    assert (where.folder / "b.txt").read_bytes() == CONTENT["b"]


def test_that_edits_can_be_called_off(where: CaptionFolder) -> None:
    before = hashes(where.folder)
    with pytest.raises(Cancelled):
        preview(where, with_tag("night"), cancelled=lambda: True)
    for asked in (0, 2):  # before anything, and in the middle of keeping originals
        answers = chain([False] * asked, repeat(True))
        with pytest.raises(Cancelled):
            write_edits(preview(where, with_tag("night")), cancelled=partial(next, answers))
        assert not (where.folder / ORIGINALS).exists()
    restore_originals(where.folder)
    assert hashes(where.folder) == before
    assert write_edits(preview(where, replaced("nowhere", "x"))).done == ()


def test_that_a_full_disk_leaves_every_caption_whole(where: CaptionFolder, monkeypatch) -> None:
    before = hashes(where.folder)
    write, count = caption_originals.write_atomically, 0

    def full(path: Path, data: bytes | str) -> None:
        nonlocal count
        count += 1
        if count > 6:
            raise CannotWrite(path, os.strerror(28))
        write(path, data)

    monkeypatch.setattr(caption_originals, "write_atomically", full)
    with pytest.raises(CannotWrite):
        write_edits(preview(where, with_tag("night")))
    monkeypatch.undo()
    assert hashes(where.folder) != before
    restore_originals(where.folder)
    assert hashes(where.folder) == before


def test_that_a_damaged_original_is_not_written_back(where: CaptionFolder) -> None:
    write_edits(preview(where, with_tag("night")))
    (where.folder / ORIGINALS / "a.txt").write_text("damaged")
    with pytest.raises(CannotRead):
        restore_originals(where.folder)
    (where.folder / ORIGINALS / JOURNAL).write_text("{")
    with pytest.raises(CannotRead):
        kept_originals(where.folder)


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_that_every_original_survives_a_kill_in_the_middle(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"p{number}.txt").write_text(f"x, picture {number}")
    before = hashes(tmp_path)
    for wait in range(6):
        with subprocess.Popen([sys.executable, "-c", EDITS, str(tmp_path)], stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            child.stdout.readline()
            time.sleep(0.02 * wait)
            child.send_signal(signal.SIGKILL)
        assert not restore_originals(tmp_path).left
        assert hashes(tmp_path) == before
