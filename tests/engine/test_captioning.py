"""Captions by a trainer's captioner: what it is told, how it ends, and that nothing is written unseen.

The captioner is a stub without weights (``stub_captioner``): real ones fetch theirs from a hub. Commands,
processes, supervision and writing are the real ones.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from dataset_maker import clean_dataset, picture, saved
from stub_captioner import captioning_checkout

from gui.engine.dataset.caption_originals import restore_originals
from gui.engine.dataset.spec import DatasetSpec, SubsetSpec
from gui.engine.errors import Cancelled, CannotRead, CannotWrite, RunRefused
from gui.engine.paths import Home
from gui.engine.runs.captioning import (
    CaptionOrder,
    follow_captioning,
    images_to_caption,
    prepare_captioning,
    start_captioning,
)
from gui.engine.runs.captioning_job import Captioning, new_captioning, unwritten
from gui.engine.runs.captioning_results import proposals, reason_of_failure, write_proposals
from gui.engine.trainer.captioners import (
    CaptionerFacts,
    ask_captioner,
    captioners,
    missing_packages,
    require_runnable,
    way_of,
)
from gui.engine.trainer.facts import ImportFailure, ScriptFacts
from gui.engine.trainer.installs import TrainerInstall, install_at

pytestmark = pytest.mark.usefixtures("no_leftovers")
WD14 = captioners()["wd14"]


def install_in(place: Path, *, packages: bool = True) -> TrainerInstall:
    return install_at(captioning_checkout(place, packages=packages), Path(sys.executable))


@pytest.fixture(scope="module")
def install(tmp_path_factory: pytest.TempPathFactory) -> TrainerInstall:
    return install_in(tmp_path_factory.mktemp("stub") / "sd-scripts")


@pytest.fixture(scope="module")
def facts(install: TrainerInstall, tmp_path_factory: pytest.TempPathFactory) -> CaptionerFacts:
    return ask_captioner(install, WD14, tmp_path_factory.mktemp("cache"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three images: one with a caption, one with an empty one, one without."""
    files = clean_dataset(tmp_path / "my 이미지", 3)
    files[1].with_suffix(".txt").write_text("", "utf-8")
    files[2].with_suffix(".txt").unlink()
    return files[0].parent


def spec_of(*folders: Path, **more) -> DatasetSpec:
    subsets = [SubsetSpec("dataset", "dataset", place, caption_extension=".txt", **more) for place in folders]
    return DatasetSpec(tuple(subsets))


def hashes(folder: Path) -> dict[str, str]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


@pytest.fixture
def make(
    home: Home, install: TrainerInstall, facts: CaptionerFacts, folder: Path
) -> Callable[..., Captioning]:
    def prepared(spec: DatasetSpec | None = None, **order) -> Captioning:
        wanted = CaptionOrder("wd14", WD14, **order)
        return prepare_captioning(home, install, facts, spec or spec_of(folder), wanted)

    return prepared


def finished(made: Captioning) -> Captioning:
    start_captioning(made)
    state = follow_captioning(made)
    assert not state.failed, made.log.read_text("utf-8")
    assert state.done == state.total
    return made


def test_that_captions_are_made_seen_and_only_then_written(make, folder: Path, home: Home) -> None:
    before = hashes(folder)
    made = finished(make(trigger="mira_x"))
    found = proposals(made)
    assert hashes(folder) == before, "nothing is written beside the images before it was seen"
    assert [each.name for each in found] == ["clean_001.jpg", "clean_002.webp"]
    assert all(each.text.startswith("mira_x, 640x640, ") and not each.existing for each in found)
    assert [each.folder for each in unwritten(home)] == [made.folder]

    told: list[tuple[int, int]] = []
    written = write_proposals(found, told=lambda done, total: told.append((done, total)))
    assert {path.name for path in written.done} == {"clean_001.txt", "clean_002.txt"}
    assert told[-1] == (2, 2)
    assert (folder / "clean_002.txt").read_text("utf-8") == found[1].text
    assert hashes(folder).items() > {key: old for key, old in before.items() if "001.txt" not in key}.items()
    made.discard()
    assert not list(unwritten(home))
    restore_originals(folder)
    assert hashes(folder) == before


def test_that_the_command_is_in_the_scripts_own_arguments(make, home: Home) -> None:
    made = make(options={"thresh": "0.5", "remove_underscore": "false", "undesired_tags": "red_sky"})
    argv = made.job().argv
    assert argv[1:3] == ("finetune/tag_images_by_wd14_tagger.py", str(made.images))
    assert argv[3:] == (
        *("--thresh", "0.5", "--undesired_tags", "red_sky", "--onnx"),
        *("--model_dir", str(home.cache / "captioners" / "models")),
        *("--caption_extension", ".txt", "--max_data_loader_n_workers", "0"),
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"thresh": "much"}, "thresh"),
        ({"no_such": 1}, "cannot be given no_such"),
        ({"recursive": True}, "cannot be given recursive"),
        ({"output_path": "x.json"}, "cannot be given output_path"),
        ({"caption_extension": ".cap"}, "cannot be given caption_extension"),
    ],
)
def test_that_what_the_script_would_refuse_or_misuse_is_refused(make, home: Home, options, words) -> None:
    with pytest.raises(RunRefused, match=words):
        make(options=options)
    assert not home.captioning.exists()


def test_that_weights_that_the_trainer_has_are_used(home: Home, folder: Path, tmp_path: Path) -> None:
    own = install_in(tmp_path / "sd-scripts")
    (own.root / "wd14_tagger_model").mkdir()
    facts = ask_captioner(own, WD14, home.cache)
    made = prepare_captioning(home, own, facts, spec_of(folder), CaptionOrder("wd14", WD14))
    assert str(own.root / "wd14_tagger_model") in made.job().argv
    assert ask_captioner(own, WD14, home.cache) == facts, "the second time nothing is asked"


def test_that_missing_packages_are_named_before_the_start(home: Home, folder: Path, tmp_path: Path) -> None:
    bare = install_in(tmp_path / "sd-scripts", packages=False)
    facts = ask_captioner(bare, WD14, home.cache)
    with pytest.raises(RunRefused, match="-m pip install onnx onnxruntime"):
        prepare_captioning(home, bare, facts, spec_of(folder), CaptionOrder("wd14", WD14))


def test_that_another_way_is_taken_where_its_packages_are_there(facts: CaptionerFacts) -> None:
    tensorflow = facts.model_copy(update={"modules": ("tensorflow", "torch")})
    assert not missing_packages(WD14, tensorflow)
    assert way_of(WD14, tensorflow).arguments == {}
    unknown = facts.model_copy(update={"modules": None})
    assert not missing_packages(WD14, unknown)
    assert way_of(WD14, unknown).arguments == {"onnx": True}


def test_that_a_script_that_cannot_be_imported_says_why(install: TrainerInstall) -> None:
    blip = captioners()["blip"]
    lacks = CaptionerFacts(
        script=ScriptFacts(error=ImportFailure(exception="ModuleNotFoundError", missing="timm"))
    )
    with pytest.raises(RunRefused, match=r"pip install timm==0\.6\.12"):
        require_runnable(install, blip, lacks)
    broken = CaptionerFacts(script=ScriptFacts(error=ImportFailure(exception="OSError", message="no disk")))
    with pytest.raises(RunRefused, match=r"make_captions\.py cannot be used: OSError: no disk"):
        require_runnable(install, blip, broken)
    with pytest.raises(RunRefused, match=r"has no finetune/make_captions\.py"):
        ask_captioner(install, blip, Path("unused"))


def test_that_images_that_cannot_be_decoded_are_left_out_and_named(
    make, folder: Path, tmp_path: Path
) -> None:
    (folder / "cut.png").write_bytes(saved(picture(1))[:3000])
    made = make()
    assert made.job().unreadable == (str(folder / "cut.png"),)
    (tmp_path / "only").mkdir()
    (tmp_path / "only" / "cut.png").write_bytes(b"")
    with pytest.raises(RunRefused, match="None of the images"):
        make(spec_of(tmp_path / "only"))


def test_that_images_with_captions_are_taken_only_when_that_is_chosen(
    make, folder: Path, tmp_path: Path
) -> None:
    assert len(images_to_caption(spec_of(folder), everything=True)) == 3
    assert not images_to_caption(spec_of(folder, is_reg=True))
    assert not images_to_caption(spec_of(tmp_path / "nowhere"))
    clean_dataset(tmp_path / "captioned", 1)
    with pytest.raises(RunRefused, match="Every image has a caption"):
        make(spec_of(tmp_path / "captioned"))


def test_that_images_that_share_a_caption_get_one(folder: Path) -> None:
    (folder / "clean_002.png").write_bytes(saved(picture(5)))
    names = [name for _folder, name, _extension in images_to_caption(spec_of(folder))]
    assert names == ["clean_001.jpg", "clean_002.png"]


def test_that_a_caption_that_says_something_is_never_written_over_unasked(make, folder: Path) -> None:
    made = finished(make(everything=True))
    found = proposals(made)
    own = (folder / "clean_000.txt").read_text("utf-8")
    assert found[0].existing == own
    (folder / "clean_002.txt").write_text("written meanwhile", "utf-8")
    written = write_proposals(found)
    assert [path.name for path in written.done] == ["clean_001.txt"]
    assert {path.name for path in written.left} == {"clean_000.png", "clean_002.webp"}
    assert (folder / "clean_000.txt").read_text("utf-8") == own
    assert write_proposals(found[:1], over_existing=True).done
    assert (folder / "clean_000.txt").read_text("utf-8") == found[0].text
    assert (folder / "_preflight_originals" / "clean_000.txt").read_text("utf-8") == own


def test_that_a_captioner_that_fails_tells_why(make) -> None:
    made = make(options={"repo_id": "no/such"})
    assert reason_of_failure(made) == "", "it has said nothing yet"
    start_captioning(made)
    state = follow_captioning(made)
    assert (state.failed, state.done, proposals(made)) == (True, 0, ())
    assert "OSError: We could not connect to the hub" in reason_of_failure(made)


def test_that_one_that_is_stopped_keeps_what_it_has_made(make) -> None:
    made = make(options={"repo_id": "slow/one"})
    start_captioning(made)
    began = time.monotonic()
    state = follow_captioning(made, cancelled=lambda: made.state().done > 0)
    assert time.monotonic() - began < 120
    assert (state.done, state.total, state.failed) == (1, 2, True)
    assert len(proposals(made)) == 1
    again = Captioning(made.folder)
    assert again.job() == made.job()


def test_that_names_that_scripts_stumble_over_do_no_harm(make, tmp_path: Path) -> None:
    strange = tmp_path / "strange"
    strange.mkdir()
    names = ["--recursive.png", "a'b\"c.PNG", "line\nbreak.png"]
    if os.name == "posix":
        names.append(os.fsdecode(b"caf\xe9.png"))
    for number, name in enumerate(names):
        (strange / name).write_bytes(saved(picture(number)))
    made = finished(make(spec_of(strange)))
    assert {each.name for each in proposals(made)} == set(names)
    assert len(write_proposals(proposals(made)).done) == len(names)
    assert (strange / "line\nbreak.txt").is_file()


def test_that_images_are_copied_where_no_links_can_be_made(
    make, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_words: object) -> None:
        raise OSError(1, "not here")

    monkeypatch.setattr(os, "symlink", refuse)
    monkeypatch.setattr(os, "link", refuse)
    made = make()
    assert all((made.images / image.link).is_file() for image in made.job().images)
    assert not any((made.images / image.link).is_symlink() for image in made.job().images)
    made.discard()
    monkeypatch.setattr(shutil, "copyfile", refuse)
    with pytest.raises(CannotWrite, match="not here"):
        make()
    assert not list(home.captioning.iterdir())


def test_that_calling_it_off_leaves_nothing(make, home: Home, install, facts, folder: Path) -> None:
    with pytest.raises(Cancelled):
        prepare_captioning(
            home, install, facts, spec_of(folder), CaptionOrder("wd14", WD14), cancelled=lambda: True
        )
    assert not home.captioning.exists()


def test_that_folders_of_jobs_never_collide_and_others_are_none(home: Home, tmp_path: Path) -> None:
    first, second = new_captioning(home), new_captioning(home)
    assert first.folder != second.folder
    with pytest.raises(CannotRead, match="no folder of captions"):
        first.job()
    (second.folder / "captioning.json").write_text(json.dumps({"tagger": 1}), "utf-8")
    with pytest.raises(CannotRead, match="damaged"):
        second.job()
    blocked = Home(tmp_path / "file")
    blocked.root.write_text("", "utf-8")
    with pytest.raises(CannotWrite):
        new_captioning(blocked)
    for _window in range(2):
        first.discard()
    with pytest.raises(CannotWrite):
        Captioning(blocked.root).discard()
