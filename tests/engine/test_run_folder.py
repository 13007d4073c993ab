"""The run folder from outside: names, documents, requests, the list of runs, followers."""

from __future__ import annotations

import json
import os
import re
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_helper import FINISHES, make_run

from gui.engine.errors import CannotRead, CannotWrite, NewerDocument, UnknownRun
from gui.engine.paths import Home
from gui.engine.runs.events import RUN_WORDS, Answered, Launching, parse_event
from gui.engine.runs.folder import RunFolder, find_run, reserve_run_folder, run_names, safe_name
from gui.engine.runs.follow import Follower, LineTail
from gui.engine.runs.hashes import hash_file
from gui.engine.runs.journal import Lines
from gui.engine.runs.listing import list_runs
from gui.engine.runs.lock import SupervisorLock
from gui.engine.runs.logreader import LogReader
from gui.engine.runs.metrics import GpuRow, HostRow, StepRow, last_step_in, read_metrics
from gui.engine.runs.provenance import BaseModelHash
from gui.engine.runs.records import BaseModelFile, CommandRecord, Manifest, mark_of
from gui.engine.runs.requests import ask, read_requests
from gui.engine.runs.session import look_after
from gui.engine.runs.status import RunStatus
from gui.engine.trainer.events import Step

BAR = "\rsteps:  33%|███▎      | {0}/9 [00:02<00:04,  2.27s/it, avr_loss=1.1]".format


@given(st.text())
def test_that_every_plan_name_makes_a_safe_folder_name(name: str) -> None:
    safe = safe_name(name)
    assert re.fullmatch(r"[\w.-]+", safe)
    assert len(safe.encode()) <= 120
    assert safe[0] not in "-. " and safe[-1] not in ". "
    assert safe_name(safe) == safe


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("mira_character", "mira_character"),
        ("미라 캐릭터", "미라_캐릭터"),
        ("../../etc/passwd", "etc_passwd"),
        ('a "b" <c>|d?*', "a_b_c_d"),
        ("--force", "force"),
        ("", "training"),
        ("x" * 500, "x" * 120),
    ],
)
def test_that_names_stay_readable(name: str, safe: str) -> None:
    assert safe_name(name) == safe


def test_that_two_runs_of_one_second_get_two_folders(tmp_path: Path) -> None:
    home = Home(tmp_path / "new")
    runs = [reserve_run_folder(home, "mira") for _ in range(3)]
    assert len({run.path for run in runs}) == 3
    assert all(re.fullmatch(r"\d{8}-\d{6}-mira(-\d)?", run.name) for run in runs)


def test_that_a_home_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("x", "utf-8")
    with pytest.raises(CannotWrite):
        reserve_run_folder(Home(tmp_path), "mira")


def made(home: Home, name: str) -> RunFolder:
    run = RunFolder(home.runs / name)
    run.path.mkdir(parents=True)
    RunStatus(name=name).write(run.status)
    return run


def test_that_a_run_is_found_by_folder_name_beginning_and_plan(tmp_path: Path) -> None:
    home = Home(tmp_path)
    one = made(home, "20261130-010203-mira")
    made(home, "20261130-010204-mina")
    made(home, "20261130-010205-mina")
    assert find_run(home, str(one.path)) == one
    assert find_run(home, "20261130-010203-mira") == one
    assert find_run(home, "20261130-010203") == one
    assert find_run(home, "mira") == one
    for text in ("20261130", "mina"):
        with pytest.raises(UnknownRun) as unknown:
            find_run(home, text)
        assert len(unknown.value.matches) >= 2 and "mina" in str(unknown.value)
    for text in ("", "nothing", str(tmp_path)):
        with pytest.raises(UnknownRun) as unknown:
            find_run(home, text)
        assert unknown.value.matches == ()
    with pytest.raises(UnknownRun):
        find_run(Home(tmp_path / "no home"), "x")


# --- documents -----------------------------------------------------------------------------------


def test_that_documents_come_back_as_they_were(tmp_path: Path) -> None:
    manifest = Manifest(program="1", base_model=BaseModelFile(path="x"), accepted=("a",))
    manifest.write(tmp_path / "manifest.json")
    assert Manifest.read(tmp_path / "manifest.json") == manifest
    assert json.loads((tmp_path / "manifest.json").read_text("utf-8"))["schema"] == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"schema": 2, "more": 1}', NewerDocument),
        ('{"program": "1"}', CannotRead),
        ("[]", CannotRead),
        ('{"schema": 1, "programm": "1"}', CannotRead),
        ("{", CannotRead),
    ],
)
def test_that_other_documents_are_refused(tmp_path: Path, text: str, problem: type[Exception]) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(text, "utf-8")
    with pytest.raises(problem) as refused:
        Manifest.read(path)
    assert "manifest.json" in str(refused.value)


def test_that_a_mark_tells_files_apart(tmp_path: Path) -> None:
    path = tmp_path / "a"
    assert mark_of(path) is None
    path.write_bytes(b"1")
    first = mark_of(path)
    other = tmp_path / "b"
    other.write_bytes(b"1")
    other.replace(path)
    assert mark_of(path) != first


def test_that_every_kind_of_event_has_its_own_word() -> None:
    assert len(RUN_WORDS) == 15
    assert parse_event({"event": "launching", "boot_id": "b", "boot_seconds": 1}) == Launching(
        boot_id="b", boot_seconds=1
    )
    assert parse_event({"event": "hologram"}) is None


def test_that_metrics_are_read_and_newer_ones_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    assert list(read_metrics(path)) == [] and last_step_in(path) == 0
    rows = [
        StepRow(step=3, loss=float("inf"), lr={"unet": 1e-4}),
        GpuRow(index=0, uuid="GPU-1", used_bytes=5),
        HostRow(tree_rss_bytes=1, tree_processes=1),
    ]
    lines = Lines(path)
    for row in rows:
        lines.add(row)
    lines.close()
    with path.open("ab") as file:
        file.write(b'{"metric": "smell"}\n{"metric": "step", "step": 9')
    assert list(read_metrics(path)) == rows
    assert last_step_in(path) == 3


# --- requests ------------------------------------------------------------------------------------


def test_that_requests_of_many_askers_all_get_a_number(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    threads = [threading.Thread(target=ask, args=(run, "pause", str(n))) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = read_requests(run, answered=set())
    assert [each.number for each in found] == list(range(1, 21))
    assert {each.request.by for each in found if each.request} == {str(n) for n in range(20)}
    assert [each.number for each in read_requests(run, answered=set(range(1, 20)))] == [20]


def test_that_nothing_is_asked_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "requests").write_text("x", "utf-8")
    with pytest.raises(CannotWrite):
        ask(RunFolder(tmp_path), "stop", "test")


# --- the list of runs ----------------------------------------------------------------------------


def test_that_nothing_in_the_place_of_runs_makes_the_list_fail(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    assert list_runs(home).runs == ()
    made(home, "20261130-000001-unattended")
    newer = made(home, "20261130-000002-newer")
    newer.status.write_text('{"schema": 7}', "utf-8")
    broken = made(home, "20261130-000003-broken")
    broken.status.write_text("{", "utf-8")
    (home.runs / "20261130-000004-foreign").mkdir()
    (home.runs / ".trash").mkdir()
    (home.runs / "a file").write_text("x", "utf-8")
    held = made(home, "20261130-000005-fine")
    with SupervisorLock(held.lock):
        listed = list_runs(home).runs
    assert [entry.condition for entry in listed] == ["fine", "foreign", "broken", "newer", "unattended"]
    assert all(entry.problem for entry in listed[1:])
    assert "attach" in listed[-1].problem
    (home.root / "other").write_text("x", "utf-8")
    assert list_runs(Home(home.root / "other")).runs == ()


def test_that_a_judged_run_is_listed_with_its_verdict(tmp_path: Path, no_leftovers: object) -> None:
    run, order = make_run(tmp_path, FINISHES, practice=True)
    look_after(run, order)
    (entry,) = list_runs(Home(tmp_path / "home")).runs
    assert (entry.verdict, entry.step, entry.total, entry.practice) == ("finished", 5, 5, True)
    assert entry.condition == "fine" and entry.sentence


# --- following -----------------------------------------------------------------------------------


def test_that_a_follower_sees_what_is_added_and_whole_lines_only(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    follower = Follower(run)
    assert follower.events() == [] and follower.status() is None
    line = Step(step=1, total=2).model_dump_json().encode() + b"\n"
    run.events.write_bytes(b"[]\nno json\n" + line + line[:20])
    assert follower.events() == [Step(step=1, total=2)]
    with run.events.open("ab") as file:
        file.write(line[20:])
    assert follower.events() == [Step(step=1, total=2)]
    follower.close()
    late = Follower(run, from_now=True)
    assert late.events() == []
    late.close()


def test_that_a_tail_of_nothing_is_empty(tmp_path: Path) -> None:
    tail = LineTail(tmp_path / "nothing")
    tail.skip()
    assert tail.read() == []
    tail.close()


def test_that_what_was_there_before_has_no_time(tmp_path: Path) -> None:
    path = tmp_path / "output.log"
    reader = LogReader(path, seen_before=0)
    assert list(reader.read(1.0)) == []
    path.write_bytes(BAR(1).encode())
    reader = LogReader(path, seen_before=path.stat().st_size)
    assert reader.catching_up
    with path.open("ab") as file:
        file.write(BAR(2).encode() + BAR(3).encode())
    events = [*reader.read(5.0), *reader.finish(6.0)]
    reader.close()
    assert not reader.catching_up
    times = {event.step: event.t for event in events if isinstance(event, Step)}
    assert times[1] is None and times[3] is not None


def test_that_a_long_log_is_read_in_portions(tmp_path: Path) -> None:
    path = tmp_path / "output.log"
    path.write_bytes(b"x" * 3_000_000)
    reader = LogReader(path)
    list(reader.read(1.0, budget_seconds=0.0))
    assert 0 < reader.position < 3_000_000
    list(reader.finish(None))
    assert reader.position == 3_000_000
    reader.close()


# --- where it came from --------------------------------------------------------------------------


def test_that_the_base_models_hash_is_added_to_the_manifest(tmp_path: Path) -> None:
    model, path = tmp_path / "base.safetensors", tmp_path / "manifest.json"
    model.write_bytes(b"weights" * 1000)
    manifest = Manifest(program="1", base_model=BaseModelFile(path=str(model), size=7000))
    manifest.write(path)
    work = BaseModelHash(path, manifest)
    work.start()
    work.finish()
    known = Manifest.read(path).base_model
    assert known is not None and known.sha256 == hash_file(model).sha256


@pytest.mark.parametrize(
    "model",
    [
        None,
        BaseModelFile(path="org/model"),
        BaseModelFile(path="/nothing", size=1),
        BaseModelFile(path="x", size=1, sha256="f"),
    ],
)
def test_that_without_a_file_there_is_no_hash(tmp_path: Path, model: BaseModelFile | None) -> None:
    manifest = Manifest(program="1", base_model=model)
    manifest.write(tmp_path / "manifest.json")
    work = BaseModelHash(tmp_path / "manifest.json", manifest, delay_seconds=0)
    work.start()
    work.finish()
    assert Manifest.read(tmp_path / "manifest.json") == manifest


def test_that_the_recorded_command_says_what_it_leaves_out(tmp_path: Path) -> None:
    record = CommandRecord(argv=("python", "x.py"), cwd=tmp_path, python="python", note="tokens")
    record.write(tmp_path / "command.json")
    assert CommandRecord.read(tmp_path / "command.json") == record


def test_that_answers_carry_what_was_asked() -> None:
    answer = parse_event({"event": "request", "number": 1, "request": "stop", "done": True, "sentence": "x"})
    assert answer == Answered(number=1, request="stop", done=True, sentence="x")


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_that_a_link_to_itself_hides_no_run(home: Home):
    (home.runs / "20260102-000000-mira").mkdir(parents=True)
    (home.runs / "round").symlink_to("round")
    (home.runs / "nowhere").symlink_to("gone")
    assert run_names(home) == ["20260102-000000-mira"]
    assert find_run(home, "mira").name == "20260102-000000-mira"
