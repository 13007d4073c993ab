"""What a person is told loudly about a run, living or past, from its folder alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from run_helper import make_run

from gui.engine.documents import write_atomically
from gui.engine.runs.alarm import Alarm
from gui.engine.runs.alarms import AlarmWatch, alarms
from gui.engine.runs.events import (
    DiskWarned,
    Guarded,
    Launched,
    Notice,
    RunEvent,
    Stopping,
    VerdictGiven,
)
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.journal import Lines
from gui.engine.runs.launched import LaunchedSettings, launched_settings
from gui.engine.runs.lock import SupervisorLock
from gui.engine.runs.session import look_after
from gui.engine.runs.status import Cause, FileNow, GuardNow, HostNow, RunStatus, TroubleNow, Verdict
from gui.engine.runs.triage import causes_of, memory_ways, moment_of
from gui.engine.runs.triage import ways_of as tries_of
from gui.engine.trainer.events import LossNonfinite, TrainerEvent

NAN = float("nan")
GONE = "The trainer is gone, and this program did not stop it."
HIGH = ("--unet_lr", "0.001", "--network_module", "networks.lora")
CLEAN = FileNow(
    path=Path("/out/lora-step00000400.safetensors"),
    kind="model",
    complete=True,
    size=1,
    step=400,
    judgement="clean",
)
BROKEN = CLEAN.model_copy(update={"path": Path("/out/later"), "step": 600, "judgement": "nonfinite"})


def ways_of(moment, given) -> tuple[str, ...]:
    return tuple(each.words for each in tries_of(moment, given))


def test_that_what_to_try_says_what_it_changes_in_the_plan():
    tries = {each.words: dict(each.changes) for each in tries_of("later", settings(unet_lr="2e-4"))}
    halved = next(changes for words, changes in tries.items() if words.startswith("Halve"))
    assert halved["unet_lr"] == 1e-4
    warm = {"lr_scheduler": "constant_with_warmup", "lr_warmup_steps": 200}
    assert tries["Warm the learning rate up over 200 steps."] == warm
    assert {} in tries.values()


def a_run(tmp_path: Path, *words: str, events: list[TrainerEvent | RunEvent] | None = None) -> RunFolder:
    run, _order = make_run(tmp_path, "", words=words)
    lines = Lines(run.events)
    for event in events or []:
        lines.add(event)
    lines.close()
    return run


def one(run: RunFolder, **status: Any) -> Alarm:
    (alarm,) = alarms(run, RunStatus(name="r", **status))
    return alarm


def judged(verdict: Any, reason: str, **more: Any) -> dict[str, Any]:
    return {"state": "ended", "verdict": Verdict(verdict=verdict, reason=reason, sentence="So.", **more)}


STOPPED: list[TrainerEvent | RunEvent] = [
    Launched(boot_id="", boot_seconds=1, launcher_pid=1, trainer_pid=7),
    LossNonfinite(step=507, value=NAN, t=941.0),
    Guarded(action="stop", step=507, sentence="S.", t=941.1),
    Stopping(stage="announced", reason="guard", sentence="S."),
    Stopping(stage="asked", reason="guard", latency_seconds=0.21, sentence="S."),
    Stopping(stage="gone", reason="guard", sentence="S."),
]


# --- the loss --------------------------------------------------------------------------------------


def test_that_a_run_stopped_by_the_guard_tells_all_about_it(tmp_path: Path) -> None:
    run = a_run(tmp_path, *HIGH, events=STOPPED)
    alarm = one(
        run,
        first_nonfinite_step=507,
        loss_before=0.134,
        files=(CLEAN, BROKEN),
        **judged("stopped", "guard"),
    )
    assert (alarm.id, alarm.tone, alarm.step, alarm.at) == ("loss-nonfinite", "bad", 507, 941.0)
    assert alarm.title == "The loss is no longer a number since step 507."
    assert alarm.text == "It was 0.134 before."
    assert alarm.done == "The trainer was told to stop 0.2 s later and is gone."
    assert not alarm.asks
    assert (alarm.last_clean, alarm.last_clean_step) == (CLEAN.path, 400)
    assert alarm.last_clean_words == (
        "Last clean file: lora-step00000400.safetensors "
        "(checked: complete, finite, grown no more than before)."
    )
    assert alarm.causes == (
        "After hundreds of steps the usual cause is the learning rate.",
        "The learning rate of 0.001 is high; 0.0001 is where to begin.",
        "There was no warm-up: the first steps came at the full learning rate.",
    )
    assert alarm.next_steps[:2] == (
        "Go back to lora-step00000400.safetensors (step 400).",
        "Halve the learning rate, from 0.001 to 0.0005; if that is not enough, take 0.0001.",
    )
    assert alarm.next_steps[-1].startswith("Change one thing only")


def test_that_a_kept_copy_stands_in_for_a_file_that_the_trainer_removed(tmp_path: Path) -> None:
    kept = CLEAN.model_copy(update={"removed": True, "kept_as": Path("/out/kept/a.safetensors")})
    gone = CLEAN.model_copy(update={"removed": True, "step": 450})
    alarm = one(a_run(tmp_path), first_nonfinite_step=500, files=(kept, gone), **judged("stopped", "guard"))
    assert alarm.last_clean == Path("/out/kept/a.safetensors")


def test_that_nothing_clean_means_to_begin_again(tmp_path: Path) -> None:
    alarm = one(a_run(tmp_path), first_nonfinite_step=2, files=(BROKEN,), **judged("stopped", "guard"))
    assert alarm.last_clean is None and alarm.last_clean_words == "No clean file was saved."
    assert alarm.next_steps[0].startswith("Start again from the beginning")


@pytest.mark.parametrize(
    ("guard", "tone", "asks", "done"),
    [
        ({"state": "warned", "asks": True}, "bad", True, "The guard asks: stop, or go on?"),
        ({"state": "watching", "asks": True}, "warn", True, "The guard waits for the next steps."),
        ({"state": "warned", "accepted": True}, "warn", False, "It goes on, as you said."),
        ({"state": "stopped"}, "bad", False, "The guard stops the training."),
    ],
)
def test_that_a_living_run_tells_what_the_guard_does(
    tmp_path: Path, guard: dict[str, Any], tone: str, asks: bool, done: str
) -> None:
    now = GuardNow(policy="warn", acts_as="warn", **guard)
    alarm = one(a_run(tmp_path), state="running", first_nonfinite_step=7, finite_loss=0.5, guard=now)
    assert (alarm.tone, alarm.asks) == (tone, asks)
    assert alarm.done.startswith(done)
    assert alarm.loss_before == 0.5


def test_that_a_stop_in_progress_is_told(tmp_path: Path) -> None:
    run = a_run(tmp_path, events=STOPPED[:-1])
    assert one(run, state="stopping", first_nonfinite_step=507).done == (
        "The trainer was told to stop 0.2 s later."
    )


RECOVERED: list[TrainerEvent | RunEvent] = [
    LossNonfinite(step=7, source="tracker", value=NAN, t=1.0),
    Guarded(action="watch", step=7, sentence="S."),
    Guarded(action="recovered", step=8, sentence="S."),
]


def test_that_skipped_steps_are_no_alarm_once_the_loss_is_back(tmp_path: Path) -> None:
    run = a_run(tmp_path, events=RECOVERED)
    assert alarms(run, RunStatus(name="r", state="running", first_nonfinite_step=7)) == ()
    status = RunStatus(name="r", first_nonfinite_step=7, **judged("finished", "done"))
    assert alarms(run, status) == ()


def test_that_a_second_breakdown_points_to_single_images(tmp_path: Path) -> None:
    again: list[TrainerEvent | RunEvent] = [
        LossNonfinite(step=900, source="tracker", value=NAN, t=9.0),
        Guarded(action="stop", step=902, sentence="S."),
    ]
    run = a_run(tmp_path, events=[*RECOVERED, *again])
    alarm = one(run, first_nonfinite_step=7, **judged("stopped", "guard"))
    assert alarm.step == 900
    assert "a single image or caption" in alarm.causes[0]


def test_that_a_ruined_file_is_told_even_without_a_bad_loss(tmp_path: Path) -> None:
    alarm = one(a_run(tmp_path), **judged("suspect", "weights-nonfinite"))
    assert (alarm.id, alarm.title) == ("loss-nonfinite", "The last file holds NaN or Inf.")
    assert alarm.done == "Nobody stopped it."


# --- when it happened, and with what ---------------------------------------------------------------


def settings(
    *, script: str = "train_network.py", resumed: bool = False, **arguments: Any
) -> LaunchedSettings:
    words = {name: () if value is True else (str(value),) for name, value in arguments.items()}
    return LaunchedSettings(script=script, arguments=words, resumed=resumed)


@pytest.mark.parametrize(
    ("step", "given", "recovered", "moment"),
    [
        (1, settings(), False, "first-step"),
        (12, settings(), False, "first-steps"),
        (12, settings(resumed=True), False, "after-resume"),
        (500, settings(resumed=True), False, "later"),
        (190, settings(lr_warmup_steps=200), False, "warm-up-peak"),
        (95, settings(lr_warmup_steps="0.1", max_train_steps=1000), False, "warm-up-peak"),
        (1200, settings(lr_warmup_steps=200), False, "later"),
        (1200, settings(), True, "now-and-then"),
    ],
)
def test_that_the_moment_is_told_from_the_step(
    step: int, given: LaunchedSettings, recovered: bool, moment: str
) -> None:
    assert moment_of(step, given, recovered=recovered) == moment


def test_that_sdxl_in_fp16_at_the_first_step_points_to_the_vae() -> None:
    given = settings(script="sdxl_train_network.py", mixed_precision="fp16", unet_lr=1e-4, lr_warmup_steps=9)
    causes = causes_of("first-step", given)
    assert causes[1] == "The SDXL VAE gives NaN in fp16, and no_half_vae is off."
    ways = ways_of("first-step", given)
    assert ways[0] == "Turn no_half_vae on."
    assert ways[1].startswith("Compute in bf16")


def test_that_every_known_danger_in_the_values_is_named() -> None:
    given = settings(
        mixed_precision="fp16",
        full_fp16=True,
        learning_rate=1e-3,
        text_encoder_lr=9e-4,
        max_grad_norm=0,
        optimizer_type="AdamW8bit",
        zero_terminal_snr=True,
        min_snr_gamma=5,
        network_module="networks.lora",
    )
    causes = " ".join(causes_of("later", given))
    for sign in ("full_fp16", "0.001", "0.0009", "warm-up", "max_grad_norm 0", "8 bits", "zero_terminal_snr"):
        assert sign in causes
    ways = " ".join(ways_of("later", given))
    for sign in ("Halve", "Warm", "bf16", "Clip", "plain AdamW", "512"):
        assert sign in ways
    assert "v-prediction" in " ".join(causes_of("later", settings(v_parameterization=True, min_snr_gamma=5)))


def test_that_a_mad_rate_is_the_first_cause_and_is_not_merely_halved() -> None:
    given = settings(learning_rate=1e30, network_module="networks.lora", mixed_precision="fp16")
    for moment in ("first-step", "first-steps", "later"):
        assert causes_of(moment, given)[0].startswith("The learning rate of 1e+30 is high")  # type: ignore[arg-type]
        assert ways_of(moment, given)[0] == "Take a learning rate of 0.0001 instead of 1e+30."  # type: ignore[arg-type]


def test_that_an_optimizer_that_finds_its_own_rate_is_not_told_to_halve_it() -> None:
    given = settings(optimizer_type="Prodigy", learning_rate=1, mixed_precision="bf16")
    assert given.rate is None
    ways = ways_of("later", given)
    assert ways[0].startswith("Use AdamW")
    assert any("full precision" in way for way in ways)


def test_that_a_state_is_the_first_suspect_after_going_on_from_it() -> None:
    assert "state" in causes_of("after-resume", settings())[0]
    assert "older state" in ways_of("after-resume", settings())[0]
    assert "image" in ways_of("now-and-then", settings())[0]


def test_that_what_was_launched_is_read_from_the_folder(tmp_path: Path) -> None:
    run = a_run(
        tmp_path, "--unet_lr=1e-4", "--optimizer_args", "a=1", "b=2", "--cache_latents", "--seed", "x"
    )
    write_atomically(run.dataset, "[general]\nresolution = 512\n[[datasets]]\nbatch_size = 3\n")
    given = launched_settings(run)
    assert given.number("unet_lr") == given.rate == 1e-4
    assert given.arguments["optimizer_args"] == ("a=1", "b=2")
    assert given.flag("cache_latents") and given.number("seed") is None
    assert (given.number("batch_size"), given.number("resolution")) == (3, 512)
    assert given.precision == "no" and given.optimizer == "adamw" and given.script == "train_network.py"


def test_that_a_broken_folder_gives_no_settings_and_no_trouble(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    write_atomically(run.dataset, "datasets = 7")
    assert launched_settings(run).dataset == {}
    write_atomically(run.dataset, "[")
    write_atomically(run.command, "{")
    assert launched_settings(run) == LaunchedSettings()
    assert alarms(RunFolder(tmp_path / "nothing")) == ()


# --- other ends ------------------------------------------------------------------------------------


def test_that_a_full_gpu_is_named_with_the_ways_that_are_left(tmp_path: Path) -> None:
    run = a_run(
        tmp_path,
        "--gradient_checkpointing",
        "--train_batch_size=4",
        events=[VerdictGiven(verdict="failed", sentence="S.", t=60.0)],
    )
    cause = Cause(id="cuda-oom", title="The GPU's memory ran out.")
    alarm = one(run, files=(CLEAN,), **judged("failed", "error", causes=(cause,), step=3))
    assert (alarm.id, alarm.tone, alarm.title, alarm.at) == ("oom", "bad", cause.title, 60.0)
    assert alarm.next_steps[0].startswith("Train one image at a time instead of 4")
    assert not any("gradient_checkpointing" in step for step in alarm.next_steps)
    assert alarm.next_steps[-1] == "lora-step00000400.safetensors is clean and can be used."


def test_that_memory_that_ran_out_is_saved_where_it_is_not_saved_yet() -> None:
    most = memory_ways(settings())
    least = memory_ways(
        settings(gradient_checkpointing=True, optimizer_type="AdamW8bit", cache_latents=True, fp8_base=True)
    )
    assert len(most) == 6 and [way.id for way in least] == ["resolution", "others"]


def test_that_the_computers_memory_has_ways_of_its_own(tmp_path: Path) -> None:
    cause = Cause(id="host-sigkill", title="The system killed the trainer.")
    alarm = one(a_run(tmp_path), **judged("failed", "error", causes=(cause,)))
    assert (alarm.id, alarm.title) == ("oom", "The system killed the trainer.")
    assert alarm.next_steps[0] == "Close other programs, or add swap space."


@pytest.mark.parametrize(
    ("verdict", "reason", "identity", "tone", "title"),
    [
        ("failed", "vanished", "trainer-gone", "bad", GONE),
        ("stopped", "outside", "trainer-gone", "bad", GONE),
        ("failed", "rebooted", "trainer-gone", "bad", "The machine was restarted during the training."),
        ("failed", "disk-full", "disk-short", "bad", "The disk was full."),
        ("failed", "not-started", "failed", "bad", "The training was not started."),
        ("failed", "error", "failed", "bad", "The training failed."),
        ("nothing-trained", "nothing-to-train", "failed", "bad", "Nothing was trained."),
        ("suspect", "fewer-steps", "failed", "warn", "The result is in doubt."),
    ],
)  # fmt: skip
def test_that_every_bad_end_has_its_alarm(
    tmp_path: Path, verdict: str, reason: str, identity: str, tone: str, title: str
) -> None:
    alarm = one(a_run(tmp_path), **judged(verdict, reason))
    assert (alarm.id, alarm.tone, alarm.title, alarm.text) == (identity, tone, title, "So.")
    assert alarm.next_steps


def test_that_a_cause_of_a_newer_version_has_no_ways_out(tmp_path: Path) -> None:
    alarm = one(a_run(tmp_path), **judged("failed", "error", causes=(Cause(id="newer", title="New."),)))
    assert alarm.causes == ("New.",) and alarm.next_steps == ()


@pytest.mark.parametrize(("verdict", "reason"), [("finished", "done"), ("stopped", "user")])
def test_that_a_run_that_ended_as_it_should_has_no_alarm(tmp_path: Path, verdict: str, reason: str) -> None:
    lost = [Notice(id="gpu-silent", sentence="S."), DiskWarned(path="/", free_bytes=1, sentence="S.")]
    trouble = TroubleNow(id="slowed", sentence="S.")
    run = a_run(tmp_path, events=[*lost])
    assert alarms(run, RunStatus(name="r", troubles=(trouble,), **judged(verdict, reason))) == ()


# --- while it lives --------------------------------------------------------------------------------


def test_that_a_lost_gpu_is_told_and_a_silent_driver_while_it_is_silent(tmp_path: Path) -> None:
    run = a_run(tmp_path, events=[Notice(id="gpu-silent", sentence="Silent.", t=3.0)])
    assert alarms(run, RunStatus(name="r", state="running")) == ()
    alarm = one(run, state="running", gpu_problem="Silent.")
    assert (alarm.id, alarm.tone, alarm.text, alarm.at) == ("gpu-lost", "warn", "Silent.", 3.0)
    watch = AlarmWatch(run)
    watch.take([Notice(id="gpu-lost:u", sentence="GPU 0 no longer answers."), Notice(id="x", sentence="S.")])
    (alarm,) = watch.alarms(RunStatus(name="r", state="running"))
    assert (alarm.id, alarm.tone, alarm.title) == ("gpu-lost", "bad", "A GPU is lost.")


@pytest.mark.parametrize(("full", "tone"), [(False, "warn"), (True, "bad")])
def test_that_a_short_disk_is_told_for_as_long_as_it_is_short(tmp_path: Path, full: bool, tone: str) -> None:
    warned = DiskWarned(path="/out", free_bytes=1, full=full, sentence="S.", t=5.0)
    run = a_run(tmp_path, events=[warned])
    alarm = one(run, state="running")
    assert (alarm.id, alarm.tone, alarm.at) == ("disk-short", tone, 5.0)
    roomy = HostNow(disk_free_bytes={"/out": 1 << 40})
    assert alarms(run, RunStatus(name="r", state="running", host=roomy)) == ()


def test_that_troubles_are_alarms_the_gravest_first(tmp_path: Path) -> None:
    troubles = tuple(
        TroubleNow(id=kind, since=9.0, step=4, sentence="S.")  # type: ignore[arg-type]
        for kind in ("gpu-others", "memory-full", "slowed", "stalled", "memory-spill", "trainer-gone")
    )
    told = alarms(a_run(tmp_path), RunStatus(name="r", state="running", troubles=troubles))
    order = ["trainer-gone", "memory-spill", "stalled", "slowed", "memory-full", "gpu-others"]
    assert [alarm.id for alarm in told] == order
    assert all(alarm.causes for alarm in told[1:])
    assert all(alarm.next_steps and (alarm.at, alarm.step) == (9.0, 4) for alarm in told)


def test_that_a_cause_that_was_seen_stands_alone(tmp_path: Path) -> None:
    trouble = TroubleNow(id="slowed", sentence="S.", cause="The GPU is hot.")
    assert one(a_run(tmp_path), state="running", troubles=(trouble,)).causes == ("The GPU is hot.",)


@pytest.mark.parametrize("kind", ["slowed", "memory-full", "memory-spill", "gpu-others"])
def test_that_what_only_matters_to_a_living_run_ends_with_it(tmp_path: Path, kind: Any) -> None:
    trouble = TroubleNow(id=kind, sentence="S.")
    status = RunStatus(name="r", troubles=(trouble,), **judged("failed", "error"))
    assert kind not in [alarm.id for alarm in alarms(a_run(tmp_path), status)]


def test_that_a_run_that_hung_until_it_was_stopped_still_says_so(tmp_path: Path) -> None:
    trouble = TroubleNow(id="stalled", since=9.0, step=4, sentence="S.")
    assert one(a_run(tmp_path), troubles=(trouble,), **judged("stopped", "user")).id == "stalled"


def test_that_a_run_without_a_supervisor_is_told_and_one_with_it_not(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    status = RunStatus(name="r", state="running", supervisor_pid=7)
    assert [alarm.id for alarm in alarms(run, status)] == ["unattended"]
    lock = SupervisorLock(run.lock)
    lock.take()
    assert alarms(run, status) == ()
    lock.release()
    assert AlarmWatch(run).alarms(status, supervised=True) == ()


@pytest.mark.usefixtures("no_leftovers")
def test_that_a_real_breakdown_is_told_from_the_folder_alone(tmp_path: Path) -> None:
    source = """
        header(500)
        for n in range(1, 501):
            step(n, 500, 0.3 if n < 8 else float("nan"))
            if n == 5:
                save(f"{out}/lora-step00000005.safetensors")
            sleep(0.05)
    """
    run, order = make_run(tmp_path, source, words=HIGH)
    verdict = look_after(run, order)
    assert verdict is not None and verdict.reason == "guard"
    (alarm,) = alarms(RunFolder(run.path))
    assert (alarm.id, alarm.step, alarm.loss_before) == ("loss-nonfinite", 8, 0.3)
    assert "is gone" in alarm.done
    assert alarm.last_clean == tmp_path / "out" / "lora-step00000005.safetensors"


def test_that_alarms_are_translated(tmp_path: Path, pseudo_language: str) -> None:
    assert pseudo_language
    alarm = one(a_run(tmp_path), **judged("failed", "error"))
    assert alarm.title != "The training failed."
