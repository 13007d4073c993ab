"""After a run has ended: what happened, from where it can go on, and what to try, in order."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from acting import weights
from ended_runs import ended
from practice_runs import make_images
from run_helper import left_alone, make_run
from saved_runs import write_state

from gui.engine.errors import RunRefused
from gui.engine.paths import Home
from gui.engine.plan.model import Follows
from gui.engine.runs.events import Guarded, Notice
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.journal import Lines
from gui.engine.runs.metrics import StepRow
from gui.engine.runs.records import Manifest
from gui.engine.runs.recovery import recovery_of, recovery_or_none, still_offered
from gui.engine.runs.recovery_images import put_bad_aside
from gui.engine.runs.recovery_models import Recovery
from gui.engine.runs.recovery_plans import plan_of_try, run_checker
from gui.engine.runs.reuse import plan_of_run
from gui.engine.runs.runaway import ran_away_at
from gui.engine.runs.settling import settle
from gui.engine.runs.start import read_status
from gui.engine.runs.status import FileNow, HostNow, RunStatus


def ids(recovery: Recovery) -> list[str]:
    return [each.id for each in recovery.tries]


# --- the loss --------------------------------------------------------------------------------------


def test_that_a_late_breakdown_is_tried_with_half_the_rate_from_the_last_clean_file(tmp_path: Path) -> None:
    run = ended(tmp_path)
    recovery = recovery_of(run)
    assert recovery.kind == "loss" and recovery.happened == "The loss is no longer a number since step 507."
    assert recovery.point is not None and recovery.point.step == 400
    first = recovery.tries[0]
    assert (first.id, first.title) == ("half-rate", "Half the learning rate, from step 400")
    assert {row.target: (row.before, row.after) for row in first.rows} == {
        "unet_lr": (0.0004, 0.0002),
        "max_train_steps": (1000, 600),
        "network_weights": (None, str(tmp_path / "out" / "lora-step00000400.safetensors")),
        "output_name": (None, "lora-from400"),
    }
    assert "600 of 1,000 steps remain" in first.continues and first.by_itself
    assert ids(recovery)[:3] == ["half-rate", "tenth-rate", "warm-up"]
    tenth = recovery.try_of("tenth-rate")
    assert tenth is not None and tenth.changes["unet_lr"] == 4e-5
    assert any("broken image" in line for line in recovery.by_hand)
    plan = plan_of_try(run, first).plan
    assert plan.arguments["unet_lr"] == 2e-4 and plan.follows == Follows(run=run.name, way="half-rate")
    assert plan_of_run(run).plan.arguments["unet_lr"] == 4e-4, "the record stays"


def test_that_a_mad_rate_gets_the_presets_rate_from_the_beginning_and_nothing_else(tmp_path: Path) -> None:
    recovery = recovery_of(ended(tmp_path, rate="1.0", step=3, files=((1, "clean"), (2, "grown"))))
    (only,) = recovery.tries
    assert only.title == "Learning rate 0.0001 instead, from the beginning"
    assert only.changes == {"unet_lr": 1e-4, "output_name": "lora-try2"}
    assert only.point is None and "has spoilt what it trained: it begins anew" in recovery.point_words
    assert recovery.hopeless[0].startswith("Half of a learning rate of 1 is no better")
    assert "a lower rate does not shrink it back" in recovery.hopeless[1]


def test_that_at_the_first_step_precision_comes_before_the_rate(tmp_path: Path) -> None:
    recovery = recovery_of(ended(tmp_path, step=1, files=(), precision="fp16"))
    assert ids(recovery)[0] == "bf16" and ids(recovery)[-2:] == ["half-rate", "tenth-rate"]


def test_that_a_state_of_after_the_breakdown_is_named_as_hopeless(tmp_path: Path) -> None:
    state = FileNow(path=tmp_path / "s-state", kind="state", complete=True, size=1, step=600)
    recovery = recovery_of(ended(tmp_path, files_now=(state,)))
    assert any("also in the optimizer" in line for line in recovery.hopeless)


def test_that_what_was_saved_while_the_loss_ran_away_is_no_point(tmp_path: Path) -> None:
    run = ended(tmp_path, files=((400, "clean"), (500, "clean")))
    rows = Lines(run.metrics)
    for step in range(1, 507):
        rows.add(StepRow(step=step, loss=0.1 if step < 450 else 0.2 * 2 ** ((step - 440) / 2)))
    rows.close()
    recovery = recovery_of(run)
    assert recovery.point is not None and recovery.point.step == 400
    assert any("running away since step 45" in line for line in recovery.hopeless)


@pytest.mark.parametrize(
    ("losses", "at"),
    [
        ([0.1, 0.2, 0.1, 0.3, 0.1], None),
        ([0.1, 0.2, 0.1, 0.3, 5.0, 80.0], 5),
        ([0.1, 9.0, 0.1, 0.3], None),
        ([9.0, 99.0], None),
    ],
)
def test_that_only_the_losses_right_before_the_end_count_as_running_away(
    losses: list[float], at: int | None
) -> None:
    rows = [StepRow(step=number, avr_loss=loss) for number, loss in enumerate(losses, start=1)]
    assert ran_away_at(rows, len(losses) + 1) == at


@pytest.mark.parametrize("fate", ["moved", "replaced"])
def test_that_a_clean_file_that_is_not_what_it_was_is_named_and_no_try_begins_with_it(
    tmp_path: Path, fate: str
) -> None:
    run = ended(tmp_path, files=((300, "clean"), (400, "clean")))
    status = RunStatus.read(run.status)
    marked = [file.model_copy(update={"modified_ns": file.path.stat().st_mtime_ns}) for file in status.files]
    status.model_copy(update={"files": tuple(marked)}).write(run.status)
    shown = recovery_of(run).tries[0]
    assert shown.point is not None and shown.point.step == 400
    assert still_offered(run, shown) == shown
    newest, older = marked[1].path, marked[0].path
    if fate == "moved":
        newest.rename(tmp_path / "safe.safetensors")
    else:  # by another training of the same name
        newest.write_bytes(weights())
        os.utime(newest, ns=(1, 1))
    recovery = recovery_of(run)
    assert recovery.point is not None and recovery.point.path == older
    assert f"{newest.name} was clean, but is gone or another one now" in recovery.point_words
    with pytest.raises(RunRefused, match="not what it was"):
        still_offered(run, shown)
    older.unlink()
    newest.unlink(missing_ok=True)
    words = recovery_of(run).point_words
    assert "it begins anew." in words and f"{newest.name} was clean" in words


def test_that_a_try_chosen_again_gets_a_name_that_is_free_by_then(tmp_path: Path) -> None:
    run = ended(tmp_path)
    shown = recovery_of(run).tries[0]
    (tmp_path / "out" / "lora-from400.safetensors").write_bytes(weights())  # of the first go
    now = still_offered(run, shown)
    assert (shown.changes["output_name"], now.changes["output_name"]) == ("lora-from400", "lora-from400-2")


def test_that_where_a_state_cannot_be_gone_on_from_the_weights_are(tmp_path: Path) -> None:
    run = ended(tmp_path, "user", step=None)
    out = tmp_path / "out"
    run.plan.write_text(run.plan.read_text("utf-8") + "network_train_unet_only = true\n", "utf-8")
    state = write_state(out / "lora-step00000400-state", counted=400, table={"last_epoch": 400})
    status = RunStatus.read(run.status)
    saved = FileNow(path=state, kind="state", complete=True, size=1)
    status.model_copy(update={"files": (*status.files, saved)}).write(run.status)
    assert recovery_of(run).tries[0].changes["resume"] == str(state)
    (state / "scheduler.bin").unlink()  # the launch would refuse it
    (only,) = recovery_of(run).tries
    assert only.changes["network_weights"] == str(out / "lora-step00000400.safetensors")
    write_state(state, counted=4000)  # of another, longer training
    assert recovery_of(run).tries[0].changes["network_weights"]


def test_that_after_going_on_from_a_state_an_older_point_is_tried(tmp_path: Path) -> None:
    again: list[Any] = [Guarded(action="stop", step=8, sentence="S.")]
    run = ended(tmp_path, step=8, files=((4, "clean"), (2, "clean")), more=again)
    command = run.command.read_text("utf-8").replace('"resumed": false', '"resumed": true')
    run.command.write_text(command, "utf-8")
    recovery = recovery_of(run)
    assert any("The same state again" in line for line in recovery.hopeless)


def test_that_a_run_that_went_on_itself_begins_where_it_began_and_a_state_keeps_its_rate(
    tmp_path: Path,
) -> None:
    weighted = ended(tmp_path / "a", files=())
    given = weighted.plan.read_text("utf-8")
    weighted.plan.write_text(given + 'network_weights = "earlier.safetensors"\n', "utf-8")
    assert recovery_of(weighted).tries[0].title == "Half the learning rate, from where this run began"
    resumed = ended(tmp_path / "b", files=(), precision="fp16")
    resumed.plan.write_text(given.replace('"no"', '"fp16"') + 'resume = "earlier-state"\n', "utf-8")
    recovery = recovery_of(resumed)
    assert "half-rate" not in ids(recovery) and "bf16" in ids(recovery)
    assert any("brings its own learning rate" in line for line in recovery.left_out)


def test_that_a_try_whose_plan_would_be_refused_is_left_out_and_says_why(tmp_path: Path) -> None:
    run = ended(tmp_path, words=("--lr_scheduler", "cosine"))
    plan = run.plan.read_text("utf-8") + 'lr_scheduler = "constant"\n'
    run.plan.write_text(plan, "utf-8")
    recovery = recovery_of(run)
    assert "warm-up" not in ids(recovery)
    assert any("The scheduler constant takes no warm-up" in line for line in recovery.left_out)


def test_that_several_rates_of_text_encoders_are_brought_down_each(tmp_path: Path) -> None:
    run = ended(tmp_path, rate="1.0", step=3, files=(), words=("--text_encoder_lr", "1.0", "1e-6"))
    run.plan.write_text(run.plan.read_text("utf-8").replace("sd15", "unheard-of"), "utf-8")
    changes = recovery_of(run).tries[0].changes
    assert (changes["unet_lr"], changes["text_encoder_lr"]) == (1e-4, [1e-4, 1e-6])


# --- other ends ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "word", "kind"),
    [
        ("user", "stopped", "stopped"),
        ("rebooted", "failed", "power"),
        ("vanished", "failed", "power"),
        ("disk-full", "failed", "disk"),
    ],
)
def test_that_an_end_without_a_fault_of_the_plan_goes_on_unchanged(
    tmp_path: Path, reason: str, word: str, kind: str
) -> None:
    recovery = recovery_of(ended(tmp_path, reason, word=word, step=None))
    (only,) = recovery.tries
    assert (recovery.kind, only.title) == (kind, "Go on, from step 400")
    assert only.changes["max_train_steps"] == 600 and "unet_lr" not in only.changes
    assert not only.by_itself
    assert recovery.happened == "So it ended."


def test_that_without_a_point_it_starts_again_under_a_name_that_overwrites_nothing(tmp_path: Path) -> None:
    recovery = recovery_of(ended(tmp_path, "user", step=None, files=((400, "nonfinite"),)))
    (only,) = recovery.tries
    assert only.title == "Start again, from the beginning"
    assert only.changes == {"output_name": "lora-try2"}


def test_that_a_full_disk_says_where_how_much_and_what_could_go(tmp_path: Path) -> None:
    host = HostNow(disk_free_bytes={str(tmp_path): 0, "/elsewhere": 10 << 30})
    run = ended(tmp_path, "disk-full", word="failed", step=None, host=host)
    recovery = recovery_of(run, free_bytes=lambda _path: 1 << 30)
    assert f"Make room on the disk of {tmp_path}: 3.0 GiB at the least." in recovery.by_hand
    roomy = recovery_of(run, free_bytes=lambda _path: 100 << 30)
    assert roomy.by_hand == () and roomy.tries


def test_that_a_lost_gpu_asks_for_a_restart(tmp_path: Path) -> None:
    lost = Notice(id="gpu-lost:GPU-1", sentence="GPU 1 is lost.")
    run = ended(tmp_path, "error", word="failed", step=None, more=[lost])
    recovery = recovery_of(run)
    assert recovery.kind == "gpu" and "Restart the machine" in recovery.by_hand[0]
    assert recovery.tries[0].id == "go-on"


def test_that_memory_without_a_forecast_is_tried_in_the_order_of_what_helps(tmp_path: Path) -> None:
    run = ended(tmp_path, "error", word="failed", step=None, files=(), causes=("cuda-oom",))
    recovery = recovery_of(run)
    assert recovery.kind == "memory"
    assert recovery.hopeless == () and "Lower the resolution." in recovery.by_hand
    assert ids(recovery)[:2] == ["checkpointing", "small-state"]


def test_that_the_machines_own_memory_is_no_matter_of_the_gpus(tmp_path: Path) -> None:
    recovery = recovery_of(
        ended(tmp_path, "error", word="failed", step=None, files=(), causes=("host-memory",))
    )
    assert recovery.kind == "memory" and "page file" in recovery.by_hand[0]
    assert "checkpointing" not in ids(recovery)


def with_images(run: RunFolder, folder: Path) -> Path:
    """Let a run's plan train on four images; return the third one."""
    make_images(folder, 4)
    subset = f"[dataset]\ncaption_extension = '.txt'\n[[dataset.subsets]]\nimage_dir = '{folder}'\n"
    run.plan.write_text(run.plan.read_text("utf-8") + subset, "utf-8")
    return folder / "img02.png"


def test_that_an_image_that_cannot_be_read_is_set_aside_with_its_caption(tmp_path: Path) -> None:
    run = ended(tmp_path, "error", word="failed", step=None, causes=("image-bad",))
    bad = with_images(run, tmp_path / "images")
    recovery = recovery_of(run)
    assert "No image of the dataset is unreadable now" in recovery.by_hand[0]
    assert [each.id for each in recovery.tries] == ["go-on"]  # it may be set aside already
    bad.write_bytes(bad.read_bytes()[:60])
    recovery = recovery_of(run)
    first = recovery.tries[0]
    assert (recovery.kind, first.title) == ("image", "Set img02.png aside, from step 400")
    assert first.set_aside == (bad,) and not first.by_itself and recovery.by_hand == ()
    checker = run_checker(run, Manifest.read(run.manifest), Home(tmp_path / "home"))
    assert put_bad_aside(run, checker, first.set_aside) == ("img02.png",)
    assert put_bad_aside(run, checker, first.set_aside) == ()
    left = sorted(path.name for path in (tmp_path / "images").glob("*02*"))
    assert left == [], "the caption went with it"
    assert (tmp_path / "images" / "_preflight_quarantine" / "img02.txt").exists()


def test_that_an_image_that_the_log_names_is_set_aside_though_it_can_be_read_here(tmp_path: Path) -> None:
    run = ended(tmp_path, "error", word="failed", step=None, causes=("image-bad",))
    named = with_images(run, tmp_path / "images")
    run.output_log.write_text(f"Error loading file: {named}\n", "utf-8")
    assert recovery_of(run).tries[0].set_aside == (named,)


def test_that_a_run_that_nobody_saw_the_end_of_is_judged_first(tmp_path: Path) -> None:
    run, _order = make_run(tmp_path, "")
    assert not settle(run, patience_seconds=0.0) and not run.lock.exists(), "it may just be launched"
    assert settle(left_alone(run)) and read_status(run).verdict.reason == "not-started"
    assert settle(run), "once is enough"


def test_that_another_failure_offers_what_its_diagnosis_would_change(tmp_path: Path) -> None:
    run = ended(tmp_path, "error", word="failed", step=None, files=(), causes=("image-too-large",))
    recovery = recovery_of(run)
    assert recovery.kind == "other"
    assert recovery.tries[0].changes["dataset.enable_bucket"] is True
    unknown = ended(tmp_path / "b", "error", word="failed", step=None, files=())
    assert ids(recovery_of(unknown)) == ["go-on"]


def test_that_a_run_that_is_well_or_alive_needs_nothing(tmp_path: Path) -> None:
    run = ended(tmp_path, "done", word="finished", step=None)
    assert recovery_of(run).kind == "fine" and recovery_of(run).tries == ()
    RunStatus(name=run.name, state="running").write(run.status)
    assert recovery_of(run).kind == "alive"
    run.status.write_text("{", "utf-8")
    assert recovery_of(run).kind == "alive"
    broken = ended(tmp_path / "b")
    broken.plan.unlink()
    assert recovery_or_none(broken) is None
