"""A run goes on from what it saved with the steps that remain, and writes over nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from saved_runs import saved, saved_run, write_state, write_weights

from gui.engine.errors import CannotContinue
from gui.engine.paths import Home
from gui.engine.plan.changes import apply_changes
from gui.engine.runs.continuing import clean_points, continuation
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.reuse import plan_of_run
from gui.engine.runs.run_course import course_of
from gui.engine.trainer.saved_state import StateNumbers

COSINE = {"network_module": "networks.lora", "lr_scheduler": "cosine", "max_train_epochs": 10}
CONSTANT = {"network_module": "networks.lora", "max_train_epochs": 10}


@pytest.fixture
def place(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def run_with(place: Home, arguments: dict[str, Any], **more: Any) -> RunFolder:
    out = place.root / "out"
    return saved_run(place, {"output_dir": str(out), "output_name": "mira", **arguments}, **more)


def state_of(place: Home, name: str, step: int, **more: Any) -> Path:
    table = {"base_lrs": [1e-4], "last_epoch": step}
    return write_state(place.root / "out" / name, **{"counted": step, "table": table, **more})


def test_that_a_state_amid_an_epoch_is_gone_on_from_by_skipping(place: Home) -> None:
    run = run_with(place, COSINE)
    state = state_of(place, "mira-step00000033-state", 33)
    found = continuation(run, state)
    assert found.changes == {
        "resume": str(state),
        "skip_until_initial_step": True,
        "output_name": "mira-from33",
    }
    assert (found.kind, found.done_steps, found.remaining_steps) == ("state", 33, 67)
    assert found.sentence == "Continues at step 33 of 100; saves will not overwrite the old ones."


def test_that_a_constant_rate_lets_the_rest_be_asked_for_beside_accumulation(place: Home) -> None:
    run = run_with(place, {**CONSTANT, "gradient_accumulation_steps": 2}, whole=50)
    found = continuation(run, state_of(place, "mira-step00000033-state", 33))
    assert found.changes["initial_step"] == 0
    assert found.changes["max_train_steps"] == 17
    assert found.changes["max_train_epochs"] is None
    assert found.remaining_steps == 17


def test_that_whole_epochs_are_told_where_nothing_is_exact(place: Home) -> None:
    run = run_with(place, {**COSINE, "gradient_accumulation_steps": 2}, whole=50)
    found = continuation(run, state_of(place, "mira-step00000033-state", 33))
    assert found.changes["initial_step"] == 35
    assert found.remaining_steps == 15
    assert "trains 15 steps more" in found.sentence


def test_that_a_state_of_a_resumed_run_goes_on_where_the_whole_training_stands(place: Home) -> None:
    arguments = {**COSINE, "resume": "/gone/mira-step00000033-state", "skip_until_initial_step": True}
    run = run_with(place, arguments, resumed_from=StateNumbers(counted=33))
    course = course_of(run)
    assert (course.begun_at, course.counted_from, course.whole) == (33, 3, 100)
    # The trainer counts from 3: its step 40 is the 70th of the whole training.
    found = continuation(run, state_of(place, "mira-step00000040-state", 40))
    assert (found.done_steps, found.remaining_steps) == (70, 30)
    assert found.changes["initial_step"] == 70
    assert found.changes["skip_until_initial_step"] is True


@pytest.mark.parametrize(("more", "left_out"), [({}, True), ({"dim_from_weights": True}, False)])
def test_that_weights_with_which_a_recovered_run_began_need_not_be_there_for_its_states(
    place: Home, more: dict[str, Any], left_out: bool
) -> None:
    before = write_weights(place.root / "out" / "old.safetensors")
    run = run_with(place, {**COSINE, "network_weights": str(before), **more})
    state = state_of(place, "mira-step00000033-state", 33)
    assert "network_weights" not in continuation(run, state).changes
    before.unlink()
    changes = continuation(run, state).changes
    assert ("network_weights" in changes and changes["network_weights"] is None) is left_out


def test_that_a_run_that_asked_for_the_rest_says_the_whole_length_again(place: Home) -> None:
    arguments = {
        "network_module": "networks.lora",
        "lr_scheduler": "cosine",
        "max_train_steps": 60,
        "resume": "/gone/x-state",
        "initial_step": 0,
    }
    run = run_with(place, arguments, whole=60, resumed_from=StateNumbers(counted=40))
    assert course_of(run).whole == 100
    found = continuation(run, state_of(place, "mira-step00000020-state", 20))
    assert (found.done_steps, found.remaining_steps) == (60, 40)
    assert found.changes["max_train_steps"] == 100
    assert found.changes["initial_step"] == 60


def test_that_a_run_resumed_from_a_state_that_is_still_there_needs_no_note(place: Home) -> None:
    state = state_of(place, "mira-step00000033-state", 33)
    run = run_with(place, {**COSINE, "resume": str(state), "skip_until_initial_step": True})
    assert course_of(run).begun_at == 33
    run.manifest.unlink()
    assert course_of(run).begun_at == 33


def test_that_a_run_refused_at_its_first_step_has_no_way_on(place: Home) -> None:
    run = run_with(place, {**COSINE, "resume": "/gone/x-state"}, resumed_from=StateNumbers(counted=100))
    with pytest.raises(CannotContinue, match="how many steps"):
        course_of(run)
    assert clean_points(run) == []


def test_that_weights_begin_anew_with_the_steps_that_remain(place: Home) -> None:
    run = run_with(place, COSINE)
    file = write_weights(place.root / "out" / "mira-000004.safetensors", metadata={"ss_steps": "40"})
    found = continuation(run, file)
    assert found.changes == {
        "network_weights": str(file),
        "max_train_epochs": 6,
        "output_name": "mira-from40",
    }
    assert (found.kind, found.done_steps, found.remaining_steps) == ("weights", 40, 60)
    assert "60 of 100 steps remain" in found.sentence


def test_that_weights_of_a_resumed_run_take_its_state_out(place: Home) -> None:
    arguments = {**COSINE, "resume": "/gone/x-state", "skip_until_initial_step": True}
    run = run_with(place, arguments, resumed_from=StateNumbers(counted=33))
    found = continuation(run, write_weights(place.root / "out" / "mira-step00000012.safetensors"))
    assert found.done_steps == 42
    assert found.changes["resume"] is None
    assert found.changes["skip_until_initial_step"] is None
    assert found.changes["max_train_steps"] == 58
    plan = apply_changes(plan_of_run(run).plan, found.changes)
    assert "resume" not in plan.arguments and "max_train_epochs" not in plan.arguments


def test_that_a_finished_training_goes_on_from_its_weights_for_as_long_again(place: Home) -> None:
    run = run_with(place, COSINE)
    found = continuation(
        run, write_weights(place.root / "out" / "mira.safetensors", metadata={"ss_steps": "100"})
    )
    assert found.remaining_steps == 100
    assert found.sentence.startswith("All 100 steps are done")


@pytest.mark.parametrize(
    ("script", "argument"),
    [
        ("sdxl_train.py", "pretrained_model_name_or_path"),
        ("train_textual_inversion.py", "weights"),
        ("sdxl_train_control_net_lllite.py", "network_weights"),
        ("train_control_net.py", "controlnet_model_name_or_path"),
    ],
)
def test_that_each_kind_of_script_takes_its_own_files_back(place: Home, script: str, argument: str) -> None:
    run = run_with(place, {"max_train_steps": 100}, script=script)
    file = write_weights(place.root / "out" / "mira-step00000040.safetensors")
    found = continuation(run, file)
    assert found.changes[argument] == str(file)
    assert found.changes["max_train_steps"] == 60


def test_that_a_full_training_goes_on_from_a_state_only_at_a_constant_rate(place: Home) -> None:
    state = state_of(place, "mira-step00000040-state", 40)
    run = run_with(place, {"max_train_steps": 100}, script="sdxl_train.py")
    assert continuation(run, state).changes["max_train_steps"] == 60
    run = run_with(place, {"max_train_steps": 100, "lr_scheduler": "cosine"}, script="sdxl_train.py")
    with pytest.raises(CannotContinue, match="from the saved model instead"):
        continuation(run, state)


def test_that_names_that_are_taken_are_passed_over(place: Home) -> None:
    run = run_with(place, {**COSINE, "output_name": "mira-from10"})
    out = place.root / "out"
    write_weights(out / "mira-from33-000004.safetensors")
    found = continuation(run, state_of(place, "mira-from10-step00000033-state", 33))
    assert found.changes["output_name"] == "mira-from33-2"


def test_that_a_run_without_an_output_name_gets_one(place: Home) -> None:
    run = saved_run(place, {"output_dir": str(place.root / "out"), **COSINE})
    found = continuation(run, state_of(place, "at-step00000033-state", 33))
    assert found.changes["output_name"] == "last-from33"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("gone.safetensors", "no saved model"),
        ("notes.txt", "no saved model"),
        ("mira.safetensors", "how many steps"),
        ("bare-state", "no state of an optimizer"),
        ("silent-state", "at which step"),
        ("done-state", "all 100 steps"),
    ],
)
def test_that_what_nothing_can_go_on_from_is_told(place: Home, source: str, words: str) -> None:
    out = place.root / "out"
    run = run_with(place, COSINE)
    write_weights(out / "mira.safetensors")
    (out / "notes.txt").write_text("x")
    write_state(out / "bare-state", optimizer=False)
    write_state(out / "silent-state")
    state_of(place, "done-state", 100)
    with pytest.raises(CannotContinue, match=words) as caught:
        continuation(run, out / source)
    assert caught.value.path.name == source


@pytest.mark.parametrize("judgement", ["nonfinite", "incomplete"])
def test_that_nothing_goes_on_from_broken_weights_nor_from_their_state(place: Home, judgement: str) -> None:
    out = place.root / "out"
    file = write_weights(out / "mira-step00000020.safetensors", metadata={"ss_steps": "20"})
    state = state_of(place, "mira-step00000020-state", 20)
    files = (saved(file, judgement=judgement), saved(state, "state"))
    run = run_with(place, COSINE, files=files)
    for source in (file, state):
        with pytest.raises(CannotContinue, match="no use"):
            continuation(run, source)


def test_that_a_run_that_never_began_cannot_go_on(place: Home) -> None:
    run = run_with(place, COSINE, batches=None)
    with pytest.raises(CannotContinue, match="how many steps"):
        continuation(run, write_weights(place.root / "out" / "mira.safetensors"))
    run.events.unlink()
    with pytest.raises(CannotContinue):
        course_of(run)


def test_that_clean_points_come_newest_first_and_a_state_before_weights(place: Home) -> None:
    out = place.root / "out"
    kept = write_weights(out / ".kohya-preflight-kept" / "r" / "mira-step00000010.safetensors")
    files = (
        saved(out / "mira-step00000010.safetensors", removed=True, kept_as=kept),
        saved(write_weights(out / "mira-step00000020.safetensors")),
        saved(state_of(place, "mira-step00000020-state", 20), "state"),
        saved(write_weights(out / "mira-step00000030.safetensors", 9.0), judgement="grown"),
        saved(state_of(place, "mira-step00000030-state", 30), "state"),
        saved(out / "mira-step00000005.safetensors", removed=True),
    )
    points = clean_points(run_with(place, COSINE, files=files))
    assert [(point.step, point.kind) for point in points] == [(20, "state"), (20, "weights"), (10, "weights")]
    assert points[2].path == kept
    assert points[0].sentence == "State of step 20, with optimizer and schedule; its weights are finite."


def test_that_a_state_without_a_judged_file_beside_it_is_read_itself(place: Home) -> None:
    good = state_of(place, "mira-step00000010-state", 10)
    ruined = state_of(place, "mira-step00000020-state", 20, value=float("nan"))
    broken = state_of(place, "mira-step00000030-state", 30)
    (broken / "model.safetensors").write_bytes(b"no header")
    half = state_of(place, "mira-step00000012-state", 12)
    os.truncate(half / "optimizer.bin", 40)
    most = state_of(place, "mira-step00000013-state", 13)
    os.truncate(most / "model.safetensors", (most / "model.safetensors").stat().st_size - 1)
    late = state_of(place, "mira-step00000040-state", 40)
    cut = state_of(place, "mira-step00000050-state", 50, optimizer=False)
    silent = write_state(place.root / "out" / "mira-state")
    files = [saved(path, "state") for path in (good, ruined, broken, half, most, late, cut, silent)]
    files.append(saved(state_of(place, "mira-step00000002-state", 2), "state", complete=False))
    run = run_with(place, COSINE, files=files, first_nonfinite_step=35)
    assert [point.step for point in clean_points(run)] == [10]
    for path in (half, most):
        with pytest.raises(CannotContinue, match="cut short"):
            continuation(run, path)


def test_that_weights_whose_step_nobody_knows_are_no_point(place: Home) -> None:
    out = place.root / "out"
    files = (
        saved(write_weights(out / "mira.safetensors")),
        saved(write_weights(out / "mira-000001.safetensors"), step=10),
    )
    assert [point.step for point in clean_points(run_with(place, COSINE, files=files))] == [10]


def test_that_a_run_without_a_status_has_no_points(place: Home) -> None:
    run = run_with(place, COSINE)
    run.status.unlink()
    assert clean_points(run) == []


def test_that_a_schedule_of_several_processes_is_not_taken_for_more_steps(place: Home) -> None:
    run = run_with(place, {**COSINE, "num_processes": 2})
    state = state_of(place, "mira-step00000033-state", 66, counted=33)
    assert continuation(run, state).done_steps == 33
    alone = run_with(place, COSINE)
    assert continuation(alone, state).done_steps == 66
