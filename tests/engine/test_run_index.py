"""The list of runs with all that it shows, what a removal would lose, and a run as a plan again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from run_helper import FINISHES, GOES_ON, at_least_step, make_run, wait_until

from gui.cli.main import run as cli
from gui.engine.documents import write_atomically
from gui.engine.errors import CannotRead, RunRefused
from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.plan_file import PlanFile, parse_plan
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.listing import RunIndex, list_runs
from gui.engine.runs.lock import SupervisorLock
from gui.engine.runs.processes import tree_of
from gui.engine.runs.removal import RemovalLoss, require_removable, what_removal_loses, what_removals_lose
from gui.engine.runs.reuse import plan_of_run
from gui.engine.runs.run_entry import RunEntry
from gui.engine.runs.session import look_after
from gui.engine.runs.start import start_supervisor
from gui.engine.runs.status import FileNow, RunStatus, Verdict


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def saved(path: Path, **more: object) -> FileNow:
    facts = {"kind": "model", "complete": True, "size": 9, "judgement": "clean", **more}
    return FileNow(path=path, **facts)  # type: ignore[arg-type]


def a_run(tmp_path: Path, **status: object) -> RunFolder:
    run, _order = make_run(
        tmp_path, "", created_at=1000.5, trainer="/trainers/sd-scripts", trainer_version="0.10.1"
    )
    write_atomically(run.plan, 'schema = 1\nname = "a run"\nfamily = "sdxl"\nkind = "lora"\n')
    RunStatus(name=run.name, **status).write(run.status)  # type: ignore[arg-type]
    return run


def only(index: RunIndex) -> RunEntry:
    (entry,) = index.entries()
    return entry


# --- the list --------------------------------------------------------------------------------------


def test_that_an_entry_tells_all_that_a_row_shows(tmp_path: Path, home: Home) -> None:
    gone = saved(tmp_path / "gone", removed=True)
    files = (saved(tmp_path / "a"), gone, saved(tmp_path / "b", judgement="nonfinite"))
    run = a_run(
        tmp_path,
        state="ended",
        verdict=Verdict(verdict="stopped", reason="guard", loss=0.25, sentence="Stopped."),
        finite_loss=0.5,
        elapsed_seconds=90.5,
        samples=4,
        files=files,
    )
    note = '{"status": 0, "started_boottime": 1, "ended_boottime": 2, "ended": 2000.25, "boot_id": "b",'
    run.exit.write_text(note + ' "reason": null, "error": null}', "utf-8")
    entry = only(RunIndex(home))
    assert (entry.family, entry.kind, entry.trainer) == ("sdxl", "lora", "sd-scripts 0.10.1")
    assert (entry.started, entry.ended, entry.duration_seconds) == (1000.5, 2000.25, 90.5)
    assert (entry.verdict, entry.reason, entry.loss) == ("stopped", "guard", 0.25)
    assert (entry.last_clean, entry.checkpoints, entry.samples) == (tmp_path / "a", 2, 4)


def test_that_a_kept_copy_counts_as_the_last_clean_file(tmp_path: Path, home: Home) -> None:
    kept = saved(tmp_path / "a", removed=True, kept_as=tmp_path / "kept")
    a_run(tmp_path, state="ended", files=(kept,))
    assert only(RunIndex(home)).last_clean == tmp_path / "kept"


@pytest.mark.parametrize("plan", ["[", "family = 7\nkind = 8\n"])
def test_that_a_broken_plan_or_manifest_only_leaves_gaps(tmp_path: Path, home: Home, plan: str) -> None:
    run = a_run(tmp_path, state="ended", verdict=Verdict(verdict="finished"))
    write_atomically(run.plan, plan)
    write_atomically(run.manifest, "{")
    write_atomically(run.exit, "[]")
    entry = only(RunIndex(home))
    assert (entry.condition, entry.family, entry.kind, entry.trainer) == ("fine", "", "", "")
    assert (entry.started, entry.ended) == (None, None)


def test_that_a_practice_run_says_what_trained(tmp_path: Path, home: Home) -> None:
    make_run(tmp_path, "", practice=True, trainer_commit="0123456789")
    assert only(RunIndex(home)).trainer == "practice trainer 01234567"


def test_that_a_second_look_reads_only_what_has_changed(
    tmp_path: Path, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = a_run(tmp_path, state="ended", step=3)
    index = RunIndex(home)
    first = only(index)
    read = RunStatus.read
    monkeypatch.setattr(RunStatus, "read", lambda _path: pytest.fail("read again"))
    assert only(index) is first
    monkeypatch.setattr(RunStatus, "read", read)
    RunStatus(name=run.name, state="ended", step=4).write(run.status)
    assert only(index).step == 4


def test_that_a_look_sees_supervisors_come_and_go_and_runs_vanish(tmp_path: Path, home: Home) -> None:
    run = a_run(tmp_path, state="running")
    index = RunIndex(home)
    assert only(index).condition == "unattended"
    with SupervisorLock(run.lock):
        assert only(index).condition == "fine"
    run.path.rename(tmp_path / "moved")
    assert index.entries() == ()


def test_that_the_terminals_list_is_one_readable_line_a_run(
    tmp_path: Path, home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    verdict = Verdict(verdict="stopped", reason="guard", loss=0.25)
    a_run(tmp_path, state="ended", step=5, total=9, verdict=verdict, elapsed_seconds=67)
    assert cli(["runs", "--home", str(home.root)]) == 0
    assert (
        capsys.readouterr()
        .out.strip()
        .endswith("a run  stopped by the guard · sdxl · step 5 of 9 · loss 0.25 · 1 min 07 s")
    )


# --- what a removal loses --------------------------------------------------------------------------


def test_that_models_inside_the_folder_are_named_and_those_outside_stay(tmp_path: Path) -> None:
    outside, kept = tmp_path / "out" / "lora.safetensors", tmp_path / "out" / "kept.safetensors"
    run = a_run(
        tmp_path,
        state="ended",
        files=(saved(outside), saved(tmp_path / "out" / "gone", kept_as=kept), saved(tmp_path / "nowhere")),
    )
    for path in (outside, kept, run.path / "out" / "inside.safetensors"):
        write_atomically(path, b"x" * 1000)
    loss = what_removal_loses(run)
    assert loss.inside == (run.path / "out" / "inside.safetensors",)
    assert loss.outside == (outside, kept)
    assert not loss.living and loss.size_bytes > 1000
    assert "1 model lies in it and goes too: inside.safetensors." in loss.sentence
    assert "2 files that it saved elsewhere stay." in loss.sentence
    require_removable(run)


def test_that_a_broken_run_can_be_looked_through_too(tmp_path: Path) -> None:
    run = a_run(tmp_path, state="ended")
    write_atomically(run.status, "{")
    loss = what_removal_loses(run)
    assert loss.outside == () and loss.inside == ()
    assert "model" not in loss.sentence


def test_that_the_loss_of_several_runs_is_told_in_one(tmp_path: Path) -> None:
    models = tuple(tmp_path / f"{number}.safetensors" for number in range(7))
    losses = [
        RemovalLoss(folder=tmp_path / "a", living=False, size_bytes=1 << 20, inside=models),
        RemovalLoss(folder=tmp_path / "b", living=False, size_bytes=1 << 20, outside=models[:1]),
        RemovalLoss(folder=tmp_path / "c", living=True, size_bytes=1 << 30),
    ]
    assert what_removals_lose(losses) == (
        "The records of 2 runs go: plans, logs, figures, events (2.0 MiB). "
        "7 models lie in them and go too: 0.safetensors, 1.safetensors, 2.safetensors, 3.safetensors, "
        "4.safetensors, …. 1 file that they saved elsewhere stays. This one is still running and stays: c."
    )


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_that_links_are_not_followed(tmp_path: Path) -> None:
    run = a_run(tmp_path, state="ended")
    write_atomically(tmp_path / "models" / "big.safetensors", b"x" * 100_000)
    (run.path / "models").symlink_to(tmp_path / "models")
    loss = what_removal_loses(run)
    assert loss.inside == () and loss.size_bytes < 100_000


@pytest.mark.usefixtures("no_leftovers")
def test_that_a_living_run_is_not_removed(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, GOES_ON)
    start_supervisor(run, order)
    wait_until(lambda: at_least_step(run, 1))
    try:
        loss = what_removal_loses(run)
        assert loss.living and "Stop it first" in loss.sentence
        with pytest.raises(RunRefused, match="still running"):
            require_removable(run)
    finally:
        tree_of(run.path).stop()
    wait_until(lambda: not what_removal_loses(run).living)


# --- a run as a plan -------------------------------------------------------------------------------


@pytest.fixture
def old_plan(tmp_path: Path) -> Iterator[PlanFile]:
    text = '# mine\nname = "mira"\nfamily = "sdxl"\n[arguments]\noutput_dir = "out"\nseed = 7\n'
    yield parse_plan(text, tmp_path / "plans" / "mira.toml")


def test_that_a_run_becomes_a_plan_that_means_the_same_files(tmp_path: Path, old_plan: PlanFile) -> None:
    run = RunFolder(tmp_path / "run")
    write_atomically(run.plan, old_plan.standalone_text())
    found = plan_of_run(run)
    assert found.path is None and found.plan.name == "mira"
    assert Path(found.plan.arguments["output_dir"]) == tmp_path / "plans" / "out"
    before = run.plan.read_bytes()
    again = found.save(
        TrainingPlan.model_validate({**found.plan.data(), "name": "mira 2"}), tmp_path / "new.toml"
    )
    assert Path(again.plan.arguments["output_dir"]) == tmp_path / "plans" / "out"
    assert again.plan.name == "mira 2" and again.text.startswith("# mine")
    assert run.plan.read_bytes() == before


def test_that_a_run_without_its_plan_says_so(tmp_path: Path) -> None:
    with pytest.raises(CannotRead):
        plan_of_run(RunFolder(tmp_path))


@pytest.mark.usefixtures("no_leftovers")
def test_that_a_real_run_is_listed_with_its_times(tmp_path: Path, home: Home) -> None:
    run, order = make_run(tmp_path, FINISHES, created_at=5.0)
    look_after(run, order)
    (entry,) = list_runs(home).runs
    assert entry.ended is not None and entry.started == 5.0
    assert entry.loss == 0.45 and entry.checkpoints == 1
    assert entry.last_clean == tmp_path / "out" / "lora.safetensors"
