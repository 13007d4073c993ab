"""What the caption editor stands on: marks of tokens, patterns, steps that are taken back, words, caches."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
from preflight_plans import checker

from gui.engine.dataset import caption_patterns
from gui.engine.dataset.cache_removal import bad_caches, remove_bad
from gui.engine.dataset.caption_check import CaptionFolder
from gui.engine.dataset.caption_drafts import CaptionDraft, CaptionDrafts
from gui.engine.dataset.caption_edits import (
    EditPreview,
    opened,
    preview,
    renamed_tag,
    replaced,
    to_utf8,
    with_tag,
)
from gui.engine.dataset.caption_folders import caption_folders
from gui.engine.dataset.caption_marks import caption_marks
from gui.engine.dataset.caption_originals import ORIGINALS, write_edits
from gui.engine.dataset.caption_settings import CaptionSettings
from gui.engine.dataset.caption_undo import take_back
from gui.engine.dataset.report import DatasetReport, FoundCaches, SubsetReport
from gui.engine.dataset.spec import DatasetSpec, SubsetSpec
from gui.engine.dataset.word_search import all_words, images_with
from gui.engine.errors import Cancelled, CannotRead, PatternRefused
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.caption_conversion import convert_captions

CONTENT = {
    "a": b"mira_x, rain\r\nsecond line\r\n",
    "b": b"Mira_x , coat, rain",
    "c": "mira_x, 비".encode("cp949"),
    "d": "mira_x, coat".encode("utf-16"),
}


@pytest.fixture
def where(tmp_path: Path) -> CaptionFolder:
    for name, data in CONTENT.items():
        (tmp_path / f"{name}.txt").write_bytes(data)
    return CaptionFolder(tmp_path, [f"{name}.png" for name in (*CONTENT, "none")], ".txt")


def hashes(folder: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.glob("*.txt")}


def marked(text: str, *spans: tuple[int, int]) -> list[str]:
    return [text[start:end] for start, end in spans]


RAIN = CaptionSettings()
LONG = " ".join(["rain"] * 80)


def test_that_it_is_told_where_a_caption_is_cut() -> None:
    marks = caption_marks(LONG, RAIN)
    assert (marks.tokens, marks.chunks) == (80, ((75 * 5, 75),))
    assert marked(LONG, *marks.cut) == [" ".join(["rain"] * 5)]
    assert caption_marks("rain", RAIN).cut == ()
    longer = caption_marks(LONG, replace(RAIN, limit=150))
    assert (longer.chunks, longer.cut) == (((375, 75),), ())
    assert caption_marks(LONG, replace(RAIN, limit=None)).chunks == ()
    assert caption_marks(LONG, replace(RAIN, prefix="mira in")).cut == ((5 * 73, len(LONG)),)
    late = caption_marks(" ".join(["rain"] * 74), replace(RAIN, suffix="in a city"))
    assert (late.tokens, late.cut) == (77, ())  # the suffix alone is cut


def test_that_estimated_tokens_are_cut_where_their_count_says() -> None:
    settings = replace(RAIN, limit=100, exact=False)
    assert settings.tokens(LONG) == 100
    assert caption_marks(LONG, settings).cut == ()
    assert caption_marks(LONG + " rain", settings).cut == ((400, 404),)
    assert replace(RAIN, limit=512, exact=False).chunk_ends() == (512,)
    assert replace(RAIN, exact=False).tokens("rain rain rain rain") == 5


def test_that_only_the_first_line_is_read_unless_all_of_them_are() -> None:
    text = "mira_x, rain\r\nMIRA_X2, mira_x\n\n"
    marks = caption_marks(text, RAIN, "mira_x")
    assert marks.unread is not None
    assert marked(text, marks.unread, *marks.triggers) == ["MIRA_X2, mira_x\n\n", "mira_x", "mira_x"]
    both = caption_marks(f"rain\n{LONG}", replace(RAIN, wildcard=True))
    assert (both.unread, both.tokens, both.cut) == (None, 80, ((5 + 375, 5 + len(LONG)),))
    assert caption_marks("rain\n", RAIN).unread is None
    assert caption_marks("", RAIN).tokens == 0


def test_that_no_pattern_holds_the_program_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caption_patterns, "MOST_SECONDS", 0.05)
    endless = replaced(r"(.*?,){11,30}P", "x", pattern=True)
    with pytest.raises(PatternRefused, match="too long"):
        endless("1,2,3,4,5,6,7,8,9,10,11,12,13,14,15," * 3)
    for wrong in ("a(", "[", "*"):
        with pytest.raises(PatternRefused, match="no pattern"):
            replaced(wrong, "", pattern=True)
    for by in (r"\3", r"\g<name>", "\\"):
        with pytest.raises(PatternRefused):
            replaced("rain", by, pattern=True)("rain")
    assert replaced(r"\brain\b", "snow", pattern=True, match_case=True)("rain Rain") == "snow Rain"


@pytest.mark.parametrize("change", [with_tag("night"), to_utf8, replaced("mira_x", "ohwx")])
def test_that_a_step_is_taken_back_to_the_byte(where: CaptionFolder, change) -> None:
    before = hashes(where.folder)
    step = preview(where, change, create=True)
    written = write_edits(step)
    assert set(written.done) == {edit.name for edit in step.edits}
    assert take_back(step).done == written.done
    assert hashes(where.folder) == before
    assert not (where.folder / ORIGINALS).exists()


def test_that_only_the_last_step_is_taken_back_and_not_what_others_wrote(where: CaptionFolder) -> None:
    write_edits(preview(where, with_tag("night")))
    between = hashes(where.folder)
    step = preview(where, replaced("night", "day"))
    write_edits(step)
    (where.folder / "b.txt").write_text("changed by somebody else")
    (where.folder / "d.txt").unlink()
    taken = take_back(step)
    assert (set(taken.done), set(taken.left)) == ({"a.txt", "c.txt"}, {"b.txt", "d.txt"})
    after = hashes(where.folder)
    assert (after["a.txt"], after["c.txt"]) == (between["a.txt"], between["c.txt"])
    assert (where.folder / "b.txt").read_text() == "changed by somebody else"
    assert take_back(EditPreview(folder=str(where.folder), edits=())).done == ()


def test_that_all_words_are_counted_and_found_again(where: CaptionFolder) -> None:
    words = {word.word: word for word in all_words(where, "mira_x")}
    assert words["rain"].captions == 2
    assert words["mira_x"].share == 1
    assert not words["mira_x"].bound
    assert images_with(where, ["rain"]) == ("a.png", "b.png")
    assert images_with(where, ["비", "coat"]) == ("b.png", "c.png", "d.png")
    for search in (lambda: all_words(where, "", lambda: True), lambda: images_with(where, "x", lambda: True)):
        with pytest.raises(Cancelled):
            search()


def subset(folder: Path, target: str, **troubles: tuple[str, ...]) -> SubsetReport:
    caches = tuple(
        FoundCaches.model_validate({"trouble": trouble, "names": names, "size_bytes": 0})
        for trouble, names in troubles.items()
    )
    return SubsetReport(target=target, image_dir=str(folder), exists=True, caches=caches)


def test_that_a_cache_that_one_subset_needs_is_not_bad_and_one_that_changed_is_left(tmp_path: Path) -> None:
    names = ("a_0640x0640_sdxl.npz", "b_0640x0640_sdxl.npz", "c_te_outputs.npz")
    for name in names:
        (tmp_path / name).write_bytes(b"old")
    subsets = (
        subset(tmp_path, "dataset.subsets.0", size=names, stale=(names[1],)),
        subset(tmp_path, "dataset.subsets.1", leftover=names[1:], broken=("gone_te_outputs.npz",)),
        SubsetReport(target="dataset.subsets.2", image_dir=str(tmp_path), exists=False),
    )
    report = DatasetReport(complete=True, images=0, readable=0, seconds=0, subsets=subsets)
    listed = bad_caches(report)
    assert [(cache.name, cache.troubles) for cache in listed] == [
        (names[1], ("size", "stale", "leftover")),
        (names[2], ("size", "leftover")),
    ]
    (tmp_path / names[2]).write_bytes(b"written anew")
    removed, left = remove_bad(listed)
    assert ([cache.name for cache in removed], [cache.name for cache in left]) == ([names[1]], [names[2]])
    assert {file.name for file in tmp_path.iterdir()} == {names[0], names[2]}


def test_that_a_tag_gets_another_name_once(where: CaptionFolder) -> None:
    change = renamed_tag("Rain", "snow")
    assert change("mira, rain , coat\nrain") == "mira, snow , coat\nrain"
    assert change("rain, snow, x") == "snow, x"
    assert change("rain, x, RAIN") == "snow, x"
    assert change("rainy, x") == "rainy, x"
    assert renamed_tag("rain", "Rain")("rain, x") == "Rain, x"
    assert renamed_tag("rain", "snow", wildcard=True)("rain, x\nrain") == "snow, x\nsnow"


def test_that_a_caption_is_opened_as_an_edit_that_changes_nothing(where: CaptionFolder) -> None:
    found = opened(where, "c.png")
    assert (found.before, found.after, found.encoding) == ("mira_x, 비", "mira_x, 비", "cp949")
    assert write_edits(EditPreview(folder=str(where.folder), edits=(found,))).done == ("c.txt",)
    missing = opened(where, "none.png")
    assert (missing.name, missing.before, missing.content) == ("none.txt", None, "")
    (where.folder / "none.txt").write_bytes(b"\x81\x8d\x90")
    with pytest.raises(CannotRead):
        opened(where, "none.png")


def test_that_drafts_survive_and_are_shared(tmp_path: Path) -> None:
    file = tmp_path / "drafts.json"
    one, other = CaptionDrafts(file), CaptionDrafts(file)
    draft = CaptionDraft(folder=str(tmp_path), image="a.png", text="비, rain", content="")
    one.keep(draft)
    other.keep(draft.model_copy(update={"image": "b\udc80.png"}))
    later = CaptionDrafts(file)
    assert later.find(tmp_path, "a.png") == draft
    assert later.images(tmp_path) == {"a.png", "b\udc80.png"}
    one.forget(tmp_path, "a.png")
    one.forget(tmp_path, "nowhere")
    assert CaptionDrafts(file).images(tmp_path) == {"b\udc80.png"}
    file.write_text("damaged")
    assert CaptionDrafts(file).images(tmp_path) == frozenset()


def test_that_each_folder_with_captions_is_told_once(where: CaptionFolder, tmp_path: Path) -> None:
    image = SubsetSpec("dataset.subsets.0", "dataset", tmp_path, caption_extension=".txt")
    (tmp_path / "a.png").write_bytes(b"")
    spec = DatasetSpec((image, replace(image, target="x"), replace(image, image_dir=tmp_path / "gone")))
    ((subset, found),) = caption_folders(spec)
    assert (subset, found and found.images) == (image, ("a.png",))


def test_that_captions_of_one_subset_or_of_all_are_converted(tmp_path: Path) -> None:
    subsets = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.png").write_bytes(b"")
        (tmp_path / name / "a.txt").write_bytes("mira, 비".encode("cp949"))
        subsets.append({"image_dir": name, "caption_extension": ".txt"})
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "a.caption").write_text("ends otherwise")
    subsets.append({"image_dir": "none", "caption_extension": ".txt"})
    plan = TrainingPlan(family="sdxl", dataset={"resolution": 1024, "subsets": subsets})
    judge = checker(tmp_path)
    assert convert_captions(judge, plan, "dataset.subsets.1").words() == "1 caption was converted."
    assert (tmp_path / "one" / "a.txt").read_bytes() == "mira, 비".encode("cp949")
    assert convert_captions(judge, plan).done == 1
    assert convert_captions(judge, plan).words() == "0 captions were converted."
