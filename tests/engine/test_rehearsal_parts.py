"""The parts of a rehearsal: which images it takes, what its plan says, and what its record shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from memory_asked import PRIOR, TABLES, asked
from practice_runs import make_images
from preflight_plans import CATALOGUE

from gui.engine.dataset.listing import suffixes_read
from gui.engine.errors import CannotWrite, RunRefused
from gui.engine.hardware.memory.forecast import forecast
from gui.engine.hardware.memory.observations import MemoryExpectation
from gui.engine.hardware.memory.room import Room
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.check import Checker
from gui.engine.preflight.facts import Facts
from gui.engine.preflight.view import View
from gui.engine.quantities import GIB
from gui.engine.runs.events import Troubled
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.metrics import GpuRow
from gui.engine.runs.records import Manifest
from gui.engine.runs.rehearsal_data import choose_data, copied_dataset
from gui.engine.runs.rehearsal_plan import rehearsed_plan
from gui.engine.runs.rehearsal_reading import rehearsal_result
from gui.engine.runs.rehearsal_result import RehearsalOrder, RehearsalResult
from gui.engine.runs.rehearsal_words import rehearsal_verdict
from gui.engine.runs.status import Cause, FileNow, RunStatus, Verdict
from gui.engine.trainer.events import Phase, Step

SUFFIXES = suffixes_read()
ORDER = RehearsalOrder(
    bucket=(1024, 1024), batch=2, images=4, steps=8, total_steps=1000, total_images=40, saves=3, states=1
)
GOOD = Verdict(verdict="finished", sentence="It is done.")
GPU = "GPU-1"


def view_of(tmp_path: Path, arguments: dict | None = None, dataset: dict | None = None, **more: Any) -> View:
    plan = TrainingPlan.model_validate(
        {
            "family": "sd15",
            "arguments": {"output_dir": "out", "mixed_precision": "no", **(arguments or {})},
            "dataset": {"resolution": [512, 512], **(dataset or {})},
            **more,
        }
    )
    view, problems = Checker(tmp_path, CATALOGUE, Facts()).view(plan)
    assert view is not None, problems
    return view


def subset(folder: Path, **more: Any) -> dict[str, Any]:
    return {"subsets": [{"image_dir": str(folder), **more}]}


# --- images ----------------------------------------------------------------------------------------


def test_that_masks_and_captions_go_along_and_regularisation_does_not_count(tmp_path: Path) -> None:
    images = make_images(tmp_path / "images", 6)
    make_images(tmp_path / "masks", 6)
    own = {"conditioning_data_dir": str(tmp_path / "masks"), "is_reg": True, "num_repeats": 3}
    listed = {"general": {"caption_extension": ".txt"}, "batch_size": 2, "validation_split": 0.5}
    view = view_of(tmp_path, dataset={**listed, **subset(images, **own)})
    data = choose_data(view, SUFFIXES)
    assert (data.bucket, data.batch, len(data.names)) == ((512, 512), 2, 4)
    dataset = copied_dataset(view, data, tmp_path / "scratch", 16)
    (taken,) = dataset["subsets"]
    assert taken["num_repeats"] == 4 and "is_reg" not in taken
    assert dataset["batch_size"] == 2 and "validation_split" not in dataset
    assert dataset["caption_extension"] == ".txt"
    copied = sorted(path.name for path in (tmp_path / "scratch" / "images").iterdir())
    assert copied == [f"img0{n}.{end}" for n in range(4) for end in ("png", "txt")]
    masks = sorted(path.name for path in (tmp_path / "scratch" / "conditioning").iterdir())
    assert masks == [f"img0{n}.png" for n in range(4)]


def test_that_a_batch_is_filled_and_no_more_than_wanted_are_taken(tmp_path: Path) -> None:
    view = view_of(tmp_path, dataset={"batch_size": 6, **subset(make_images(tmp_path / "images", 9))})
    assert len(choose_data(view, SUFFIXES).names) == 6
    assert len(choose_data(view, SUFFIXES, 2).names) == 2


def test_that_what_is_no_folder_of_images_is_refused(tmp_path: Path) -> None:
    make_images(tmp_path / "images", 2)
    listed = subset(tmp_path / "images", metadata_file="meta.json")
    with pytest.raises(RunRefused, match="in a file of their own"):
        choose_data(view_of(tmp_path, dataset=listed), SUFFIXES)
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "a.png").write_text("no image", "utf-8")
    for folder in (broken, tmp_path / "missing"):
        with pytest.raises(RunRefused, match="No image"):
            choose_data(view_of(tmp_path, dataset=subset(folder)), SUFFIXES)


def test_that_masks_that_are_gone_are_left_out_and_a_place_that_cannot_be_written_is_said(
    tmp_path: Path,
) -> None:
    images = make_images(tmp_path / "images", 2)
    gone = subset(images, conditioning_data_dir=str(tmp_path / "gone"))
    view = view_of(tmp_path, dataset=gone)
    data = choose_data(view, SUFFIXES)
    copied_dataset(view, data, tmp_path / "scratch", 2)
    assert list((tmp_path / "scratch" / "conditioning").iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotWrite):
        copied_dataset(view, data, tmp_path / "file", 2)


# --- the plan --------------------------------------------------------------------------------------


def rehearsed(tmp_path: Path, arguments: dict[str, Any], kind: Any = "rehearsal") -> dict[str, Any]:
    images = make_images(tmp_path / "images", 2)
    view = view_of(tmp_path, arguments, subset(images), guard={"memory_retries": 2})
    plan = rehearsed_plan(view, {"subsets": []}, tmp_path / "scratch", kind)
    assert plan.guard.memory_retries == 0 and plan.presets == ()
    return plan.arguments


def test_that_nothing_is_sent_or_written_elsewhere(tmp_path: Path) -> None:
    found = rehearsed(
        tmp_path,
        {
            "huggingface_repo_id": "me/lora",
            "log_with": "wandb",
            "resume": "state",
            "max_train_epochs": 10,
            "save_every_n_epochs": 1,
            "sample_every_n_epochs": 1,
            "save_state": True,
        },
    )
    assert not {"huggingface_repo_id", "log_with", "resume", "max_train_epochs"} & found.keys()
    assert not {"save_every_n_epochs", "sample_every_n_epochs", "sample_every_n_steps"} & found.keys()
    assert found["save_state"] is True and found["max_train_steps"] == 8
    assert Path(found["output_dir"]).is_relative_to(tmp_path / "scratch")


@pytest.mark.parametrize(
    ("name", "content", "wanted"),
    [
        ("p.txt", "small --w 64 --h 64\nlarge --w 512 --h 768\nplain\n", "large --w 512 --h 768\n"),
        ("p.txt", "# nothing\n", None),
        ("p.json", '[{"prompt": "a"}]', None),
        ("p.txt", None, None),
    ],
)
def test_that_the_largest_sample_is_drawn_once(
    tmp_path: Path, name: str, content: str | None, wanted: str | None
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content, "utf-8")
    found = rehearsed(tmp_path, {"sample_prompts": name, "sample_every_n_epochs": 2})
    assert found["sample_every_n_steps"] == 8
    chosen = Path(found["sample_prompts"])
    assert (chosen.read_text("utf-8") if chosen.parent.name == "scratch" else None) == wanted


def test_that_the_isolation_test_is_calm(tmp_path: Path) -> None:
    own = {"optimizer_type": "Prodigy", "optimizer_args": ["d_coef=2"], "unet_lr": 1.0, "sample_prompts": "p"}
    found = rehearsed(tmp_path, own, "isolation")
    assert (found["optimizer_type"], found["learning_rate"], found["unet_lr"]) == ("AdamW", 1e-4, 1e-4)
    assert "optimizer_args" not in found and "sample_prompts" not in found


# --- what it has shown -----------------------------------------------------------------------------


def record(tmp_path: Path, order: RehearsalOrder = ORDER, **more: Any) -> RunFolder:
    """Write a rehearsal of 8 steps, one each second from 20 s on, at 10 GiB."""
    run = RunFolder(tmp_path / "rehearsals" / "r")
    run.path.mkdir(parents=True, exist_ok=True)
    question = asked(batch=4, checkpointing=False) if "room" in more else asked()
    losses = more.pop("losses", [0.5] * 8)
    expected = MemoryExpectation(
        question=question, forecast=forecast(question, TABLES, PRIOR), room=more.pop("room", None)
    )
    Manifest(program="1", rehearsal=order, memory=expected, practice=more.pop("practice", False)).write(
        run.manifest
    )
    events = [
        Phase(phase="loading", t=0.0),
        Phase(phase="caching-latents", t=10.0),
        Phase(phase="training", t=14.0),
        *(
            Step(step=n, total=8, avr_loss=loss, t=19.0 + n + (2.0 if n > 5 else 0.0))
            for n, loss in enumerate(losses, 1)
        ),
        Phase(phase="saving", t=30.0),
        Phase(phase="done", t=33.0),
        *more.pop("events", []),
    ]
    run.events.write_text("".join(event.model_dump_json() + "\n" for event in events), "utf-8")
    held = int(more.pop("held", 10.0) * GIB)
    rows = [
        GpuRow(
            t=t,
            index=0,
            uuid=GPU,
            used_bytes=held,
            total_bytes=24 * GIB,
            peak_used_bytes=held,
            peak_process_bytes=held,
        )
        for t in (20.0, 25.0)
    ]
    written = rows if held else []
    run.metrics.write_text("".join(row.model_dump_json() + "\n" for row in written), "utf-8")
    status = {"state": "ended", "verdict": GOOD, "files": tuple(files()), **more}
    RunStatus(name="r", **status).write(run.status)
    return run


def files() -> list[FileNow]:
    return [
        FileNow(path=Path("/out/rehearsal.safetensors"), kind="model", complete=True, size=GIB),
        FileNow(path=Path("/out/rehearsal-state"), kind="state", complete=True, size=2 * GIB),
    ]


def shown(tmp_path: Path, order: RehearsalOrder = ORDER, **more: Any) -> RehearsalResult:
    return rehearsal_result(record(tmp_path, order, **more))


def test_that_time_memory_and_disk_of_the_whole_plan_follow(tmp_path: Path) -> None:
    found = shown(tmp_path, last_sample=tmp_path / "gone.png")
    assert (found.verdict, found.reasons, found.finite) == ("go", (), True)
    assert found.seconds_per_step == 1.0
    # 10 s of loading, 5 s more in the first step; 4 s of caching for 4 of 40 images; 3 s a save.
    assert found.start_seconds == 15.0 and found.whole_seconds == 15 + 40 + 1000 + 9
    assert (found.save_bytes, found.state_bytes, found.whole_bytes) == (GIB, 2 * GIB, 5 * GIB)
    assert found.sample_bytes is None
    assert found.peak is not None and (found.peak.name, found.peak.measured) == ("step", 10.0)
    assert found.peak.likely is not None


def test_that_figures_beside_the_forecast_are_told(tmp_path: Path) -> None:
    more = shown(tmp_path, ORDER.model_copy(update={"free_gib": 20.5, "reserve_gib": 1.0}), held=20.0)
    assert more.verdict == "go"
    assert more.notes[0].startswith("It is tight: training step took 20.0 GiB of 20.5 GiB")
    assert "more than forecast" in more.notes[1]
    less = shown(tmp_path, held=1.0)
    assert [note for note in less.notes if "less than forecast" in note]
    none = shown(tmp_path, held=0.0, practice=True)
    assert none.peak is None and none.notes == (
        "The practice trainer ran: what it shows holds for no other.",
        "No memory of a GPU was measured.",
    )


def test_that_spilling_and_a_disk_that_is_too_small_speak_against_it(tmp_path: Path) -> None:
    spill = Troubled(id="memory-spill", sentence="It spills.", t=21.0)
    found = shown(tmp_path, ORDER.model_copy(update={"free_bytes": GIB}), events=[spill])
    assert found.verdict == "no-go" and len(found.reasons) == 2
    assert "spilled over" in found.reasons[0] and "5.0 GiB" in found.reasons[1]


def test_that_a_failure_is_told_with_its_cause(tmp_path: Path) -> None:
    cause = Cause(id="cuda-oom", title="The GPU's memory ran out.")
    verdict = Verdict(verdict="failed", reason="error", sentence="It failed.", causes=(cause,))
    found = shown(tmp_path, verdict=verdict, files=(), losses=[0.5, 0.4])
    assert (found.verdict, found.reasons) == ("no-go", ("It failed.", "The GPU's memory ran out."))
    assert found.seconds_per_step is None and found.whole_seconds is None and found.whole_bytes is None
    assert found.changes == {}
    room = Room.of(24.0, 23.5, "linux")
    training = [Phase(phase="training", t=34.0)]
    fitting = shown(tmp_path, verdict=verdict, files=(), losses=[0.5], room=room, events=training)
    assert fitting.changes == {"gradient_checkpointing": True}
    assert fitting.notes[0].startswith("gradient_checkpointing: saves about")
    early = shown(tmp_path, verdict=verdict, losses=[])
    assert early.finite is None and early.start_seconds is None


@pytest.mark.parametrize(
    ("losses", "falling", "verdict"),
    [
        ([1.0] * 20 + [0.5] * 20 + [0.4] * 20, True, "go"),
        ([1.0] * 40 + [1.05] * 20, None, "go"),
        ([1.0] * 40 + [1.5] * 20, False, "no-go"),
        ([1.0] * 40 + [float("nan")] * 20, None, "no-go"),
        ([1.0], None, "go"),
    ],
)
def test_that_the_isolation_test_tells_whether_the_loss_falls(
    tmp_path: Path, losses: list[float], falling: bool | None, verdict: str
) -> None:
    found = shown(tmp_path, ORDER.model_copy(update={"kind": "isolation"}), losses=losses)
    assert (found.falling, found.verdict) == (falling, verdict)
    assert "so few images" in rehearsal_verdict(found)


def test_that_a_record_that_was_kept_is_read_back(tmp_path: Path) -> None:
    run = record(tmp_path)
    result = rehearsal_result(run)
    (run.path / "rehearsal.json").write_text(result.model_dump_json(by_alias=True), "utf-8")
    run.events.unlink()
    assert rehearsal_result(run) == result
    assert json.loads((run.path / "rehearsal.json").read_text("utf-8"))["schema"] == 1
