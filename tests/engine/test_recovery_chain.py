"""Tries follow each other: the tree that they make, and those that a run makes by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from ended_runs import ended

from gui.engine.paths import Home
from gui.engine.runs.alarms import alarms
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.lock import SupervisorLock
from gui.engine.runs.records import FollowedRun, Manifest, RetryRecord
from gui.engine.runs.recovery import recovery_of
from gui.engine.runs.recovery_chain import chain_of, followed
from gui.engine.runs.recovery_plans import plan_of_try
from gui.engine.runs.retry_record import Retry, await_retry, tries_left
from gui.engine.runs.reuse import plan_of_run
from gui.engine.runs.start import read_status
from gui.engine.runs.status import RunStatus, Verdict

# --- the chain -------------------------------------------------------------------------------------


def test_that_tries_are_a_tree_whichever_of_them_is_asked(tmp_path: Path) -> None:
    home = Home(tmp_path)
    noted = {"a": None, "b": "a", "c": "a", "d": "b", "x": None, "loop1": "loop2", "loop2": "loop1"}
    for name, before in noted.items():
        run = RunFolder(home.runs / name)
        run.path.mkdir(parents=True)
        follows = FollowedRun(run=before, way="half-rate", changes={"unet_lr": 2e-4}) if before else None
        Manifest(program="1", follows=follows).write(run.manifest)
        verdict = Verdict(verdict="stopped", reason="guard")
        RunStatus(name=name, state="ended", step=7, total=9, verdict=verdict).write(run.status)
    (home.runs / "broken").mkdir()
    (home.runs / "broken" / "manifest.json").write_text('{"follows": {"no": 3}}', "utf-8")
    for name in "abcd":
        chain = chain_of(home, RunFolder(home.runs / name))
        assert [each.run for each in chain.runs()] == ["a", "b", "d", "c"]
    assert (chain.words, chain.tries[0].words) == ("", "unet_lr 0.0002")
    assert (chain.verdict, chain.reason, chain.step, chain.total) == ("stopped", "guard", 7, 9)
    assert chain_of(home, RunFolder(home.runs / "x")).tries == ()
    assert len(list(chain_of(home, RunFolder(home.runs / "loop1")).runs())) == 2


def test_that_a_run_notes_what_is_really_different_from_the_one_that_it_follows(tmp_path: Path) -> None:
    run = ended(tmp_path)
    home = Home(tmp_path / "home")
    plan = plan_of_try(run, recovery_of(run).tries[0]).plan
    edited = plan.model_copy(update={"arguments": {**plan.arguments, "seed": 7}})
    noted = followed(home, edited)
    assert noted is not None and (noted.run, noted.way, noted.by_itself) == (run.name, "half-rate", False)
    assert noted.changes["seed"] == 7 and noted.changes["unet_lr"] == 2e-4
    assert followed(home, plan_of_run(run).plan) is None
    run.plan.write_text("[", "utf-8")
    broken = followed(home, plan)
    assert broken is not None and broken.changes == {}


def test_that_a_plan_made_of_a_run_does_not_follow_what_that_run_followed(tmp_path: Path) -> None:
    run = ended(tmp_path)
    text = run.plan.read_text("utf-8") + '\n[follows]\nrun = "earlier"\ntry = "half-rate"\n'
    run.plan.write_text(text, "utf-8")
    made = plan_of_run(run)
    assert made.plan.follows is None and "follows" not in made.standalone_text()


# --- by itself -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "causes", "left"),
    [
        ("guard", (), RetryRecord(left=1, recoveries=0)),
        ("error", ("cuda-oom",), RetryRecord(left=0, recoveries=1)),
        ("user", (), None),
    ],
)
def test_that_each_kind_of_end_has_tries_of_its_own(
    tmp_path: Path, reason: str, causes: tuple[str, ...], left: RetryRecord | None
) -> None:
    run = ended(tmp_path, reason, causes=causes)
    assert tries_left(read_status(run), RetryRecord(left=1, recoveries=1)) == left
    assert tries_left(read_status(run), RetryRecord()) is None
    assert tries_left(None, RetryRecord(left=1, recoveries=1)) is None


@pytest.mark.parametrize(
    ("by_itself", "reason", "left", "told"),
    [
        (True, "guard", 0, True),
        (True, "guard", 1, False),
        (False, "guard", 0, False),
        (True, "user", 0, False),
    ],
)
def test_that_the_last_of_the_tries_by_itself_says_that_it_was_that(
    tmp_path: Path, by_itself: bool, reason: str, left: int, told: bool
) -> None:
    run = ended(tmp_path, reason)
    follows = FollowedRun(run="earlier", way="half-rate", by_itself=by_itself)
    more = {"follows": follows, "retry": RetryRecord(recoveries=left)}
    Manifest.read(run.manifest).model_copy(update=more).write(run.manifest)
    assert any("the last time that the plan allows" in alarm.done for alarm in alarms(run)) is told


def test_that_a_try_that_was_cut_off_is_told_and_made_by_hand(tmp_path: Path) -> None:
    run = ended(tmp_path)
    Retry().write(run.retry)  # the right to try was taken, and the machine went off
    assert any("that was cut off" in alarm.done for alarm in alarms(run))
    recovery = recovery_of(run)
    assert recovery.tried_by == "" and recovery.tries
    lock = SupervisorLock(run.lock)
    lock.take(1.0)
    try:
        assert not any("cut off" in alarm.done for alarm in alarms(run)), "it is being made"
    finally:
        lock.release()


def test_that_who_waits_for_a_try_hears_what_became_of_it(tmp_path: Path) -> None:
    run = ended(tmp_path)
    assert await_retry(run) is None
    Retry(next="later", sentence="It is tried again.").write(run.retry)
    retry = await_retry(run)
    assert retry is not None and retry.next == "later"
    recovery = recovery_of(run)
    assert recovery.tried_by == "later" and recovery.tries, "they are offered all the same"
    Manifest.read(run.manifest).model_copy(update={"retry": RetryRecord(recoveries=1)}).write(run.manifest)
    lock = SupervisorLock(run.lock)
    lock.take(1.0)
    try:
        assert await_retry(run, patience_seconds=0.3) is not None
    finally:
        lock.release()
    run.manifest.write_text("{", "utf-8")
    assert await_retry(run) is None
