"""What a person writes down about runs, and how runs are found by it."""

from __future__ import annotations

import json
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from written_runs import write_run

from gui.cli.main import run as cli
from gui.engine.errors import CannotWrite, NewerDocument
from gui.engine.paths import Home
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.listing import RunIndex
from gui.engine.runs.records import CommandRecord
from gui.engine.runs.run_entry import RunEntry
from gui.engine.runs.run_notes import (
    LARGEST_BYTES,
    LONGEST_NOTE,
    LONGEST_TAG,
    MOST_TAGS,
    RunNotes,
    change_notes,
    read_notes,
    tidy_tags,
)
from gui.engine.runs.run_search import RunFilter, search_text, words_of
from gui.engine.runs.status import RunStatus


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


# --- the file --------------------------------------------------------------------------------------


def test_that_a_run_without_notes_has_none_and_gets_no_file_by_being_read(home: Home):
    run = write_run(home, "mira")
    assert read_notes(run) == RunNotes()
    assert not run.notes.exists()


def test_that_a_change_leaves_the_other_parts_alone(home: Home):
    run = write_run(home, "mira")
    change_notes(run, tags=["good", " Keep  this "])
    change_notes(run, note="better than v1")
    change_notes(run, favourite=True)
    assert read_notes(run) == RunNotes(tags=("good", "Keep this"), note="better than v1", favourite=True)
    assert change_notes(run, tags=[], note="", favourite=False) == RunNotes()


@given(st.text(max_size=300))
def test_that_typed_tags_come_back_as_they_were_tidied(text: str):
    tags = tidy_tags([text])
    assert tidy_tags([", ".join(tags)]) == tidy_tags(tags) == tags
    assert len({tag.casefold() for tag in tags}) == len(tags)
    assert all(tag == tag.strip() and tag for tag in tags)


def test_that_a_file_with_endless_notes_is_read_in_part():
    notes = RunNotes(note="x" * 2 * LONGEST_NOTE, tags=[f"{n}" * 2 * LONGEST_TAG for n in range(99)])
    assert (len(notes.note), len(notes.tags)) == (LONGEST_NOTE, MOST_TAGS)
    assert max(map(len, notes.tags)) == LONGEST_TAG


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--text", "x" * (LONGEST_NOTE + 1)], "the note has 20,001 letters; 20,000 are the most"),
        (["--tag", "x" * (LONGEST_TAG + 1)], "has 41 letters; 40 are the most"),
        (["--tag", ",".join(map(str, range(MOST_TAGS + 1)))], "these are 22 tags; 20 are the most"),
    ],
)
def test_that_what_would_be_cut_is_refused_and_nothing_of_it_kept(home: Home, capsys, words, said):
    run = write_run(home, "mira")
    change_notes(run, note="before", tags=["a"])
    assert cli(["note", str(run.path), "--favourite", *words]) == 2
    assert said in capsys.readouterr().err
    assert read_notes(run) == RunNotes(note="before", tags=("a",))


def test_that_tags_on_the_command_line_are_parted_as_in_the_window(home: Home):
    run = write_run(home, "mira")
    assert cli(["note", str(run.path), "--tag", "a, b;c", "--tag", "d"]) == 0
    assert cli(["note", str(run.path), "--untag", "b,D"]) == 0
    assert read_notes(run).tags == ("a", "c")


@pytest.mark.parametrize("foreign", ["manifest.json", "notes.txt"])
def test_that_a_folder_that_is_no_run_gets_no_notes(home: Home, capsys, foreign: str):
    """A program of another kind has a manifest too; a name within the folder of runs may be anything."""
    folder = home.runs / "20260101-000000-mine"
    folder.mkdir(parents=True)
    (folder / foreign).write_text("{}")
    for text in (str(folder), folder.name):
        assert cli(["note", text, "--tag", "x"]) == 2
    assert capsys.readouterr().err
    assert [path.name for path in folder.iterdir()] == [foreign]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{", RunNotes()),
        ("", RunNotes()),
        ("[1]", RunNotes()),
        ("\udcff", RunNotes()),
        ('{"schema": 1, "tags": 7, "note": "still here", "favourite": []}', RunNotes(note="still here")),
        ('{"tags": ["a"], "colour": "red"}', RunNotes(tags=("a",))),
        (" " * (LARGEST_BYTES + 1), RunNotes()),
    ],
)
def test_that_of_a_damaged_file_what_can_be_read_counts_and_nothing_is_lost(
    home: Home, text: str, found: RunNotes
):
    run = write_run(home, "mira")
    run.notes.write_bytes(text.encode("utf-8", "surrogateescape"))
    before = run.notes.read_bytes()
    assert read_notes(run) == found
    assert change_notes(run, favourite=True) == found.model_copy(update={"favourite": True})
    assert run.notes.with_name("notes.unreadable.json").read_bytes() == before


def test_that_notes_of_a_newer_version_are_shown_but_not_changed(home: Home):
    run = write_run(home, "mira")
    run.notes.write_text('{"schema": 99, "tags": ["a"], "colour": "red"}')
    assert read_notes(run).tags == ("a",)
    with pytest.raises(NewerDocument):
        change_notes(run, favourite=True)
    assert "red" in run.notes.read_text()


def test_that_a_run_that_is_gone_does_not_come_back_by_its_notes(home: Home):
    run = RunFolder(home.runs / "20260101-000000-gone")
    with pytest.raises(CannotWrite, match="no longer there"):
        change_notes(run, note="too late")
    assert not run.path.exists()


def test_that_tags_are_added_to_what_another_window_wrote_meanwhile(home: Home, capsys):
    run = write_run(home, "mira")
    change_notes(run, tags=["mine"])
    stale = read_notes(run)
    change_notes(run, tags=[*stale.tags, "theirs"])
    assert change_notes(run, more=["new", "MINE"]).tags == ("mine", "theirs", "new")
    assert change_notes(run, favourite=True).tags == ("mine", "theirs", "new")
    assert change_notes(run, fewer=[" Mine "]).tags == ("theirs", "new")


@pytest.mark.parametrize(
    ("mine", "theirs", "both"),
    [
        (("a", "b", "c"), ("a", "b", "d"), ("a", "b", "c", "d")),
        (("b",), ("a", "b", "d"), ("b", "d")),
        (("a", "b", "c"), ("B",), ("b", "c")),
        ((), (), ()),
    ],
)
def test_that_tags_of_two_windows_are_joined(home: Home, mine, theirs, both):
    run = write_run(home, "mira")
    change_notes(run, tags=theirs)
    assert change_notes(run, tags=mine, known=("a", "b")).tags == both


@pytest.mark.parametrize("written", ["NFC", "NFD"])
@pytest.mark.parametrize("sought", ["NFC", "NFD"])
def test_that_hangul_is_found_whether_its_letters_are_whole_or_apart(home: Home, written: str, sought: str):
    run = write_run(home, "mira")
    word = unicodedata.normalize(written, "얼굴")
    change_notes(run, tags=[word, unicodedata.normalize(sought, "얼굴")], note=word)
    (entry,) = RunIndex(home).entries()
    assert len(entry.tags) == 1
    for part in (RunFilter(tag=unicodedata.normalize(sought, "얼굴")), RunFilter()):
        assert part.takes(entry)
    assert RunFilter(words=words_of(unicodedata.normalize(sought, "얼굴"))).finds(search_text(entry))


# --- the list --------------------------------------------------------------------------------------


def test_that_the_list_carries_notes_and_sees_them_change_without_reading_the_run_again(
    home: Home, monkeypatch: pytest.MonkeyPatch
):
    run = write_run(home, "mira")
    change_notes(run, tags=["good"])
    index = RunIndex(home)
    (first,) = index.entries()
    assert (first.tags, first.note, first.favourite) == (("good",), "", False)
    monkeypatch.setattr(RunStatus, "read", lambda _path: pytest.fail("read again"))
    change_notes(run, note="later", favourite=True)
    (second,) = index.entries()
    assert (second.note, second.favourite) == ("later", True)
    run.notes.unlink()
    assert index.entries()[0].note == ""


def test_that_a_change_is_seen_at_once_even_where_looking_is_dear(home: Home, monkeypatch):
    run = write_run(home, "mira")
    monkeypatch.setattr("gui.engine.runs.listing.DEAR_SECONDS", 0.0)
    index = RunIndex(home)
    index.entries()
    change_notes(run, favourite=True)
    assert not index.entries()[0].favourite
    assert index.entries({run.name})[0].favourite


def test_that_a_broken_run_has_its_notes_too(home: Home):
    run = write_run(home, "mira")
    run.status.write_text("{")
    change_notes(run, note="the disk was full")
    (entry,) = RunIndex(home).entries()
    assert (entry.condition, entry.note) == ("broken", "the disk was full")


# --- the search ------------------------------------------------------------------------------------


def entry_of(home: Home, name: str, **more: object) -> RunEntry:
    run = write_run(home, name, **more)  # type: ignore[arg-type]
    CommandRecord(
        argv=("python", "train.py", "--unet_lr", "0.0001", "--fp8_base", "--network_args", "a=1", "b=2"),
        cwd=Path(),
        python="python",
    ).write(run.command)
    change_notes(run, tags=["Portrait"], note="Eyes are better")
    return next(entry for entry in RunIndex(home).entries() if entry.plan_name == name)


@pytest.mark.parametrize(
    "words",
    [
        *("mira", "MIRA portrait", "eyes better", "unet_lr=0.0001", "fp8_base", "a=1 b=2"),
        *("finished", "sdxl", "stable diffusion"),
    ],
)
def test_that_words_are_found_in_all_that_is_known_of_a_run(home: Home, words: str):
    text = search_text(entry_of(home, "mira"), "Stable Diffusion XL")
    assert RunFilter(words=words_of(words)).finds(text)
    assert not RunFilter(words=words_of(f"{words} nowhere")).finds(text)


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"argv": [1]}', '{"argv": "--seed"}'])
def test_that_a_broken_command_only_leaves_the_arguments_out(home: Home, text: str):
    write_run(home, "mira").command.write_text(text)
    assert RunIndex(home).entries()[0].arguments == ""


def test_that_every_filter_takes_what_fits_and_nothing_else(home: Home):
    entry = entry_of(home, "mira")
    now = time.time()
    fits = (
        RunFilter(),
        RunFilter("finished", family="sdxl", tag="portrait"),
        RunFilter(since=now - 2 * 86400, until=now),
    )
    others = (
        RunFilter("trouble"),
        RunFilter(family="flux"),
        RunFilter(tag="port"),
        RunFilter(favourite=True),
        RunFilter(since=now),
        RunFilter(until=now - 2 * 86400),
    )
    assert all(each.takes(entry) for each in fits)
    assert not any(each.takes(entry) for each in others)
    assert not RunFilter(since=0.0).takes(entry.model_copy(update={"started": None}))
    assert RunFilter().is_any and not fits[1].is_any


# --- the commands ----------------------------------------------------------------------------------


def test_that_notes_are_written_and_runs_found_by_them_in_the_terminal(
    home: Home, capsys: pytest.CaptureFixture[str]
):
    place = ["--home", str(home.root)]
    run = write_run(home, "mira")
    write_run(home, "ink_style", family="sd15", age_days=3)
    assert cli(["note", run.name, *place]) == 0
    assert "Nothing is written down" in capsys.readouterr().out
    assert cli(["note", "mira", "--tag", "good", "--tag", "v2", "--text", "Keep", "--favourite", *place]) == 0
    assert capsys.readouterr().out == "★ #good #v2\nKeep\n"
    assert cli(["note", "mira", "--untag", "V2", "--no-favourite", "--json", *place]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {"schema": 1, "tags": ["good"], "note": "Keep", "favourite": False}
    assert cli(["note", "mira", "--favourite", *place]) == 0
    capsys.readouterr()
    for words in (["keep"], ["--tag", "GOOD"], ["--favourite"], ["--family", "sdxl"], ["--since", _day(2)]):
        assert cli(["runs", *words, *place]) == 0
        out = capsys.readouterr().out
        assert "mira" in out and "ink_style" not in out
    assert "★" in out and "#good" in out
    assert cli(["runs", "nowhere", *place]) == 0
    assert "is like that" in capsys.readouterr().out
    assert cli(["runs", "--since", "yesterday", *place]) == 2


def test_that_no_note_and_no_tag_moves_the_cursor_of_a_terminal(home: Home, capsys):
    place = ["--home", str(home.root)]
    write_run(home, "mira")
    ugly = "red \x1b[31m\r\u202e end"
    assert cli(["note", "mira", "--tag", ugly, "--text", f"{ugly}\nsecond", *place]) == 0
    assert cli(["note", "mira", *place]) == 0
    assert cli(["runs", *place]) == 0
    out = capsys.readouterr().out
    assert all(letter.isprintable() or letter == "\n" for letter in out)
    assert "\nsecond\n" in out


def _day(days_ago: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(time.time() - days_ago * 86400))


def test_that_kinds_are_told_apart(home: Home):
    entry = entry_of(home, "mira")
    running = entry.model_copy(update={"verdict": None, "state": "running"})
    assert RunFilter("running").takes(running) and not RunFilter("running").takes(entry)
    assert RunFilter("practice").takes(entry.model_copy(update={"practice": True}))
    assert not RunFilter("practice").takes(entry)
