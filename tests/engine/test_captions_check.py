"""Each kind of trouble with captions is found under its key, none in good ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from dataset_maker import clean_caption
from preflight_plans import checker

from gui.engine.dataset import caption_records
from gui.engine.dataset.caption_check import CaptionFolder, check_captions
from gui.engine.dataset.caption_records import CaptionRecords
from gui.engine.dataset.caption_report import CaptionReport
from gui.engine.dataset.caption_settings import CaptionSettings
from gui.engine.dataset.caption_style import form_of
from gui.engine.dataset.report_findings import caption_finding
from gui.engine.errors import Cancelled
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.dataset_report import spec_of_plan

GOOD = [clean_caption(number) for number in range(12)]


def folder_of(place: Path, captions: list[str | bytes | None], **more) -> CaptionFolder:
    images = []
    for number, caption in enumerate(captions):
        images.append(f"p{number:02}.png")
        if caption is not None:
            data = caption if isinstance(caption, bytes) else caption.encode("utf-8")
            (place / f"p{number:02}.txt").write_bytes(data)
    return CaptionFolder(place, images, ".txt", **more)


def found(report: CaptionReport) -> dict[str, tuple[str, ...]]:
    return {problem.key: problem.names for problem in report.problems}


def test_that_nothing_is_said_about_good_captions(tmp_path: Path) -> None:
    report = check_captions(folder_of(tmp_path, GOOD, class_tokens="mira_x"))
    assert report.problems == ()
    assert (report.captions, report.with_trigger, report.trigger_guessed) == (12, 12, False)
    assert report.words[0].word == "mira_x"
    assert report.words[0].share == 1


@pytest.mark.parametrize(
    ("key", "caption"),
    [
        ("cap-empty", b""),
        ("cap-blank", "\nmira_x, rain"),
        ("cap-encoding", "mira_x, 비 오는 거리".encode("cp949")),
        ("cap-mark", b"\xef\xbb\xbfmira_x, rain"),
        ("cap-control", "mira_x, rain\x07, coat"),
        ("cap-control", "mira_x, rain\u200b, coat"),
        ("cap-long", "mira_x, " + "rain and a coat, " * 30),
        ("cap-repeat", "mira_x, rain, coat, Rain"),
        ("cap-trigger", "rain, red coat, window"),
        ("cap-trigger-spelled", "mira x, rain, coat"),
        ("cap-trigger-spelled", "mirax, rain, coat"),
        ("cap-trigger-spelled", "mirra_x, rain, coat"),
        ("cap-trigger-late", "rain, mira_x, coat"),
        ("cap-missing-class", None),
    ],
)
def test_that_each_kind_of_trouble_is_found_alone(tmp_path: Path, key: str, caption) -> None:
    report = check_captions(folder_of(tmp_path, [*GOOD, caption], class_tokens="mira_x woman"))
    assert found(report) == {key: ("p12.png",)}


def test_that_captions_that_are_only_names_are_found(tmp_path: Path) -> None:
    place = tmp_path / "5_mira dress"
    place.mkdir()
    where = folder_of(place, ["mira dress", "p 1", "a p"])
    assert found(check_captions(where)) == {"cap-name": ("p00.png", "p01.png")}


def test_that_one_template_for_all_is_found(tmp_path: Path) -> None:
    things = ("dog", "red car", "house", "tree", "cat", "lamp", "road", "hill", "pier")
    captions = [f"a photo of mira_x with a {thing} in the city" for thing in things]
    names = found(check_captions(folder_of(tmp_path, captions, class_tokens="mira_x")))
    assert len(names["cap-template"]) == len(things)
    assert names["cap-common"] == ("city", "photo")


def test_that_words_that_always_come_with_the_trigger_are_bound_to_it(tmp_path: Path) -> None:
    captions = [f"{text}, scarf" for text in GOOD] + [text.replace("mira_x", "other") for text in GOOD]
    report = check_captions(folder_of(tmp_path, captions, class_tokens="mira_x"))
    assert [share.word for share in report.words if share.bound] == ["scarf"]
    assert next(share for share in report.words if share.word == "scarf").share == 0.5


def test_that_a_made_up_word_in_front_is_taken_for_the_trigger(tmp_path: Path) -> None:
    report = check_captions(folder_of(tmp_path, [*GOOD, "rain, coat, park"]))
    assert (report.trigger, report.trigger_guessed) == ("mira_x", True)
    assert found(report) == {"cap-trigger": ("p12.png",)}
    reg = check_captions(folder_of(tmp_path, GOOD, is_reg=True))
    assert reg.trigger is None


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("1girl, solo, long hair", "tags"),
        ("A young woman stands in the rain under a red umbrella at night.", "sentences"),
        ("mira", "short"),
        ("", "short"),
    ],
)
def test_that_tags_and_sentences_are_told_apart(text: str, form: str) -> None:
    assert form_of(text) == form


@pytest.mark.parametrize(
    ("style", "said"), [("natural", True), ("tags", False), ("either", False), (None, False)]
)
def test_that_captions_are_measured_by_what_suits_the_family(tmp_path: Path, style, said: bool) -> None:
    captions = [f"{text}, coat, hat" for text in GOOD]
    where = folder_of(tmp_path, captions, class_tokens="mira_x", settings=CaptionSettings(style=style))
    assert ("cap-style" in found(check_captions(where))) == said


def test_that_a_folder_without_any_caption_may_be_meant_so(tmp_path: Path) -> None:
    assert found(check_captions(folder_of(tmp_path, [None, None], class_tokens="mira"))) == {}
    assert found(check_captions(folder_of(tmp_path, [None, None]))) == {"cap-missing": ("p00.png", "p01.png")}


def test_that_a_check_can_be_called_off(tmp_path: Path) -> None:
    with pytest.raises(Cancelled):
        check_captions(folder_of(tmp_path, GOOD), lambda: True)


def test_that_a_second_look_counts_until_something_changes(tmp_path: Path) -> None:
    where = folder_of(tmp_path, GOOD)
    records = CaptionRecords(tmp_path / "memory")
    assert records.find(where) is None
    report = check_captions(where)
    records.write(where, report)
    assert records.find(where) == report
    assert records.find(replace(where, class_tokens="mira")) is None
    (tmp_path / "p00.txt").write_text("mira_x, something quite different")
    assert records.find(where) is None


def test_that_another_way_of_judging_makes_old_records_void(tmp_path: Path, monkeypatch) -> None:
    where = folder_of(tmp_path, GOOD)
    records = CaptionRecords(tmp_path / "memory")
    records.write(where, check_captions(where))
    monkeypatch.setattr(caption_records, "VERSION", 99)
    assert records.find(where) is None


@pytest.mark.parametrize(
    ("family", "arguments", "expected"),
    [
        ("sdxl", {}, (75, True, "natural")),
        ("sdxl", {"max_token_length": 225}, (225, True, "natural")),
        ("flux1", {"max_token_length": 225}, (512, False, "natural")),
        ("sd15", {}, (75, True, "tags")),
    ],
)
def test_that_a_plan_says_how_captions_are_taken(tmp_path: Path, family: str, arguments, expected) -> None:
    subset = {"image_dir": str(tmp_path), "caption_prefix": "mira", "enable_wildcard": True}
    plan = TrainingPlan(family=family, arguments=arguments, dataset={"subsets": [subset]})
    settings = spec_of_plan(checker(tmp_path), plan).subsets[0].captions
    assert settings is not None
    assert (settings.limit, settings.exact, settings.style) == expected
    assert (settings.prefix, settings.wildcard) == ("mira", True)


def test_that_captions_in_another_encoding_can_be_converted() -> None:
    (fix,) = caption_finding("cap-encoding", ("a.png",), "dataset.subsets.0").fixes
    assert fix.changes == {"action": "convert-captions"}
    assert caption_finding("cap-long", ("a.png",), "dataset.subsets.0").fixes == ()
