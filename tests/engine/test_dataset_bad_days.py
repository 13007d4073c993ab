"""Whatever happens while a dataset is mended, its own files stay as they are, to the byte."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from dataset_maker import clean_dataset, picture, saved

from gui.engine.dataset.caption_check import CaptionFolder
from gui.engine.dataset.caption_edits import opened, preview, with_tag
from gui.engine.dataset.caption_files import read_caption
from gui.engine.dataset.caption_originals import restore_originals, write_edits
from gui.engine.dataset.clean_copy import copy_clean
from gui.engine.dataset.copy_list import LIST
from gui.engine.dataset.quarantine import bring_back, set_aside, with_captions
from gui.engine.dataset.spec import DatasetSpec, SubsetSpec
from gui.engine.errors import CannotWrite
from gui.engine.own_program import own_environment

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL, and other names are forbidden")

COPIES = textwrap.dedent("""
    import sys
    from pathlib import Path
    from gui.engine.dataset.clean_copy import copy_clean
    from gui.engine.dataset.spec import DatasetSpec, SubsetSpec
    subset = SubsetSpec("dataset.subsets.0", "dataset", Path(sys.argv[1]), caption_extension=".txt")
    copy_clean(DatasetSpec((subset,)), Path(sys.argv[2]), told=lambda done, total: print(done, flush=True))
""")
NOBODY = 65534


def spec_of(folder: Path) -> DatasetSpec:
    return DatasetSpec((SubsetSpec("dataset.subsets.0", "dataset", folder, caption_extension=".txt"),))


def hashes(folder: Path) -> dict[str, str]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_that_a_copy_that_is_killed_harms_nothing_and_goes_on(tmp_path: Path) -> None:
    source, target = tmp_path / "mira", tmp_path / "copy"
    clean_dataset(source, 9)
    before = hashes(source)
    words = [sys.executable, "-c", COPIES, str(source), str(target)]
    for wait in (0.0, 0.02, 0.05):
        with subprocess.Popen(words, stdout=subprocess.PIPE, env=own_environment()) as child:
            assert child.stdout is not None
            child.stdout.readline()
            time.sleep(wait)
            child.send_signal(signal.SIGKILL)
        assert hashes(source) == before
    assert copy_clean(spec_of(source), target).copied == 9
    assert hashes(source) == before
    made = target / "mira"
    whole = {file.stem for file in source.iterdir()}
    assert {file.stem for file in made.iterdir() if file.name != LIST and file.name[0] != "."} == whole
    clean = tmp_path / "never killed"
    copy_clean(spec_of(source), clean)
    theirs = {Path(name).name: each for name, each in hashes(clean / "mira").items()}
    ours = {Path(name).name: each for name, each in hashes(made).items()}
    assert {name: ours.get(name) for name in theirs if name != LIST} == {
        name: each for name, each in theirs.items() if name != LIST
    }


def test_that_names_of_any_kind_are_copied_with_their_captions(tmp_path: Path) -> None:
    source = tmp_path / "mira"
    source.mkdir()
    stems = ["line\nbreak", "\"quotes' and `ticks`", os.fsdecode(b"caf\xe9"), "y" * 251, "-rf", "미라 🙂"]
    for number, stem in enumerate(stems):
        (source / f"{stem}.png").write_bytes(saved(picture(number, (64, 64))))
        (source / f"{stem}.txt").write_text(f"mira_x, {number}", "utf-8")
    before = hashes(source)
    copy = copy_clean(spec_of(source), tmp_path / "copy")
    assert (copy.copied, copy.left_out) == (len(stems), ())
    texts = {file.read_text("utf-8") for file in (tmp_path / "copy" / "mira").glob("*.txt")}
    assert texts == {f"mira_x, {number}" for number in range(len(stems))}
    assert hashes(source) == before


def test_that_an_image_whose_caption_would_have_too_long_a_name_has_none(tmp_path: Path) -> None:
    source, image = tmp_path / "mira", f"{'y' * 251}.png"
    source.mkdir()
    (source / image).write_bytes(saved(picture(1, (64, 64))))
    before = hashes(source)
    subset = SubsetSpec("dataset.subsets.0", "dataset", source, caption_extension=".caption")
    where = CaptionFolder(source, (image,), ".caption")
    assert read_caption(source, image, ".caption").fault == "missing"
    assert opened(where, image).before is None
    assert copy_clean(DatasetSpec((subset,)), tmp_path / "copy").copied == 1
    with pytest.raises(CannotWrite):
        write_edits(preview(where, with_tag("mira_x"), create=True))
    assert len(restore_originals(source).done) == 1
    set_aside(source, with_captions(source, [image], ".caption", [image]))
    assert bring_back(source).back == (image,)
    assert hashes(source) == before


@pytest.fixture
def read_only() -> Iterator[Path]:
    """Return a folder of images on which nobody may write, also where root runs the tests."""
    with tempfile.TemporaryDirectory() as place:
        root, folder = Path(place), Path(place) / "mira"
        clean_dataset(folder, 2)
        root.chmod(0o755)
        folder.chmod(0o555)
        is_root = os.geteuid() == 0
        if is_root:
            os.seteuid(NOBODY)
        try:
            yield folder
        finally:
            if is_root:
                os.seteuid(0)
            folder.chmod(0o755)


def test_that_a_medium_that_cannot_be_written_is_told_and_left_as_it_is(read_only: Path) -> None:
    before = hashes(read_only)
    with pytest.raises(CannotWrite, match="mira"):
        set_aside(read_only, ["clean_000.png"])
    where = CaptionFolder(read_only, ("clean_000.png", "clean_001.jpg"), ".txt")
    edits = preview(where, with_tag("night"))
    assert edits.edits
    with pytest.raises(CannotWrite, match="mira"):
        write_edits(edits)
    assert hashes(read_only) == before
    assert sorted(file.name for file in read_only.iterdir()) == sorted(Path(name).name for name in before)
