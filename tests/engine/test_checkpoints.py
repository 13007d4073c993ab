"""The files of a run are put in order and each is named for what it is."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from gui.engine.runs.checkpoints import (
    GROWN_SINCE_BEFORE,
    GROWN_SINCE_START,
    CheckpointVerdict,
    factor_text,
    first_bad,
    judge_series,
    last_clean,
)
from gui.engine.runs.series import in_order, saved_model
from gui.engine.trainer.tensors import BadTensor, GroupNorm, TensorReport

DATA = Path(__file__).parent.parent / "data" / "checkpoint_norms"


def measured(name: str) -> list[TensorReport]:
    """Return what was found in the files of a real training."""
    return [TensorReport.model_validate(row) for row in json.loads((DATA / f"{name}.json").read_text())]


def judgements(verdicts: list[CheckpointVerdict]) -> list[str]:
    return [verdict.judgement for verdict in verdicts]


def report(path: str, down: float = 0.02, up: float = 0.001, **more: object) -> TensorReport:
    groups = {
        "lora_unet.lora_down": GroupNorm(
            tensors=1, elements=100, rms=down, l2=down * 10, peak=down, start_rms=0.02
        ),
        "lora_unet.lora_up": GroupNorm(tensors=1, elements=100, rms=up, l2=up * 10, peak=up, start_rms=0.0),
        "lora_unet.alpha": GroupNorm(tensors=1, elements=1, rms=1, l2=1, peak=1),
    }
    facts = {"kind": "safetensors", "size_bytes": 1, "checked": True, "finite": True, "groups": groups} | more
    return TensorReport.model_validate({"path": path} | facts)


NONFINITE = {
    "finite": False,
    "bad": (BadTensor(name="a.b", nan_count=5, inf_count=0),),
    "bad_tensors": 1,
    "tensors": 3,
}


@pytest.mark.parametrize("name", ["sound_lr_1e-4", "sound_lr_1e-3"])
@pytest.mark.parametrize("every", [1, 2, 5, 9, 100])
def test_that_a_sound_training_is_clean_however_often_it_is_saved(name: str, every: int) -> None:
    reports = measured(name)
    some = [*reports[:-1][every - 1 :: every], reports[-1]]
    assert set(judgements(judge_series(some))) == {"clean"}
    assert set(judgements(judge_series([reports[0], reports[-1]]))) == {"clean"}


@pytest.mark.parametrize("name", ["mad_lr_1e-1", "mad_lr_1"])
def test_that_a_mad_learning_rate_shows_in_norms_although_all_losses_were_finite(name: str) -> None:
    verdicts = judge_series(measured(name))
    assert set(judgements(verdicts)[1:]) == {"grown"}
    assert judgements(judge_series(measured(name)[-1:])) == ["grown"]


def test_that_the_files_of_a_blow_up_are_told_apart() -> None:
    verdicts = judge_series(measured("mad_lr_1e3"), first_nonfinite_step=3)
    assert judgements(verdicts) == ["grown", "grown", *["nonfinite"] * 5]
    assert verdicts[0].sentence.startswith("finite, but grown 9×")
    assert verdicts[0].factor == pytest.approx(9.0, abs=0.05)
    assert [verdict.step for verdict in verdicts] == [1, 2, 3, 4, 5, 6, 6]
    assert last_clean(verdicts) is None
    bad = first_bad(verdicts)
    assert bad is not None
    assert bad.path == "demo-step00000001.safetensors"


def test_that_a_blow_up_after_a_sound_start_leaves_the_sound_files_clean() -> None:
    reports = [
        *measured("sound_lr_1e-4")[:5],
        *[r.model_copy(update={"steps": (r.steps or 0) + 5}) for r in measured("mad_lr_1e3")[:2]],
    ]
    steps = {r.path: i for i, r in enumerate(reports, 1)}
    assert judgements(judge_series(reports, steps=steps)) == [*["clean"] * 5, "grown", "grown"]


def test_that_a_jump_is_measured_against_the_last_clean_file() -> None:
    verdicts = judge_series(
        [
            report("a-step00000010.x"),
            report("a-step00000020.x", down=0.18),
            report("a-step00000030.x", down=0.2),
        ]
    )
    assert judgements(verdicts) == ["clean", "grown", "grown"]
    assert verdicts[1].sentence == "finite, but grown 9× against a-step00000010.x (lora_unet.lora_down)"
    assert (verdicts[2].factor, verdicts[2].against) == (pytest.approx(10), "a-step00000010.x")


def test_that_growth_from_zero_is_measured_against_what_is_usual() -> None:
    verdicts = judge_series([report("a-step00000010.x", up=0.0), report("a-step00000020.x", up=0.05)])
    assert judgements(verdicts) == ["clean", "clean"]
    [verdict] = judge_series([report("a.x", up=2.0)])
    assert verdict.judgement == "grown"
    assert verdict.against is None
    assert verdict.sentence == "finite, but 20× as large as is usual (lora_unet.lora_up)"


def test_that_most_of_a_training_between_two_files_may_move_more() -> None:
    between = 0.02 * (GROWN_SINCE_BEFORE + GROWN_SINCE_START) / 2
    near = [report("a-step00000010.x"), report("a-step00000020.x", down=between)]
    far = [report("a-step00000010.x"), report("a-step00000400.x", down=between)]
    assert judgements(judge_series(near)) == ["clean", "grown"]
    assert judgements(judge_series(far)) == ["clean", "clean"]


def test_that_a_model_without_a_known_start_is_judged_from_its_second_file_on() -> None:
    def full(path: str, rms: float) -> TensorReport:
        norm = GroupNorm(tensors=1, elements=9, rms=rms, l2=1, peak=1)
        return report(path, groups={"model.diffusion_model.weight": norm})

    verdicts = judge_series([full("a-000001.x", 0.02), full("a-000002.x", 0.021), full("a-000003.x", 0.07)])
    assert judgements(verdicts) == ["clean", "clean", "grown"]
    assert judgements(judge_series([full("a.x", 0.0), full("b.x", 5.0)])) == ["clean", "clean"]


def test_that_a_file_of_the_step_whose_loss_broke_down_was_saved_after_it() -> None:
    files = [report(f"a-step{step:08}.x") for step in (9, 10, 11)]
    verdicts = judge_series(files, first_nonfinite_step=10)
    assert judgements(verdicts) == ["clean", "after-nonfinite", "after-nonfinite"]
    assert verdicts[1].sentence == "finite, but saved after the loss broke down at step 10"
    clean, bad = last_clean(verdicts), first_bad(verdicts)
    assert clean is not None
    assert bad is not None
    assert (clean.step, bad.step) == (9, 10)


def test_that_a_file_of_unknown_step_is_not_called_clean_once_the_loss_broke_down() -> None:
    assert judgements(judge_series([report("a-000001.x")], first_nonfinite_step=10)) == ["not-checked"]
    assert judgements(judge_series([report("a-000001.x")], 10, steps={"a-000001.x": 9})) == ["clean"]
    later = judge_series([report("a-step00000012.x"), report("a.x")], first_nonfinite_step=10)
    assert judgements(later) == ["after-nonfinite", "after-nonfinite"]


def test_that_what_was_not_looked_into_is_not_called_clean() -> None:
    pickle = report("a.ckpt", checked=False, finite=None, groups={}, reason="it is a pickle")
    [verdict] = judge_series([pickle])
    assert (verdict.judgement, verdict.sentence) == ("not-checked", "not checked: it is a pickle")
    [verdict] = judge_series([pickle], 3, steps={"a.ckpt": 4})
    assert verdict.judgement == "after-nonfinite"
    assert verdict.sentence.startswith("not checked")
    assert first_bad(judge_series([pickle])) is None


def test_that_cut_and_poisoned_files_are_named_whatever_else_is_known() -> None:
    cut = report("a.x", complete=False, checked=False, finite=None, reason="5 of 9 bytes are there")
    poisoned = report("b.x", down=5.0, **NONFINITE)
    verdicts = judge_series([cut, poisoned], 1, steps={"a.x": 1, "b.x": 2})
    assert judgements(verdicts) == ["incomplete", "nonfinite"]
    assert verdicts[0].sentence == "incomplete: 5 of 9 bytes are there"
    assert verdicts[1].sentence == "1 of 3 tensors hold NaN or Inf, the first is a.b"


@pytest.mark.parametrize(
    ("factor", "text"),
    [
        (3.0, "3"),
        (4.07, "4.1"),
        (9.96, "10"),
        (3464.6, "3,465"),
        (1e9, "over a million"),
        (float("inf"),) * 2,
    ],
)
def test_that_factors_are_short(factor: float, text: str | float) -> None:
    assert factor_text(factor) == (text if isinstance(text, str) else "over a million")


def save(path: Path, steps: int | None = None, epoch: int | None = None, at: int = 0) -> Path:
    metadata = {"ss_steps": steps, "ss_epoch": epoch}
    save_file({"a": np.ones(3)}, path, {key: str(value) for key, value in metadata.items()})
    os.utime(path, ns=(at, at))
    return path


def names(series: list[list[object]]) -> list[list[str]]:
    return [[model.path.name for model in models] for models in series]  # type: ignore[attr-defined]


def test_that_files_are_ordered_as_the_trainer_saves_them(tmp_path: Path) -> None:
    save(tmp_path / "mira.safetensors", 20, 2)
    save(tmp_path / "mira-000001.safetensors", 10, 1)
    save(tmp_path / "mira-step00000010.safetensors", 10, 0)
    save(tmp_path / "mira-step00000020.safetensors", 20, 1)
    save(tmp_path / "mira-step00000005.safetensors", 5, 0)
    save(tmp_path / "other.safetensors")
    assert names(in_order(tmp_path.iterdir())) == [
        [
            "mira-step00000005.safetensors",
            "mira-step00000010.safetensors",
            "mira-000001.safetensors",
            "mira-step00000020.safetensors",
            "mira.safetensors",
        ],
        ["other.safetensors"],
    ]


def test_that_epochs_order_files_that_tell_no_steps(tmp_path: Path) -> None:
    for name, at in (("a.ckpt", 1), ("a-000002.ckpt", 1), ("a-000010.ckpt", 0), ("a-000001.ckpt", 5)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, ns=(at, at))
    assert names(in_order(tmp_path.iterdir())) == [
        ["a-000001.ckpt", "a-000002.ckpt", "a-000010.ckpt", "a.ckpt"]
    ]


def test_that_time_orders_what_steps_and_epochs_cannot(tmp_path: Path) -> None:
    for name, at in (("a.ckpt", 1), ("a-000002.ckpt", 30), ("a-step00000010.ckpt", 20)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, ns=(at, at))
    assert names(in_order(tmp_path.iterdir())) == [["a-step00000010.ckpt", "a-000002.ckpt", "a.ckpt"]]


def test_that_the_trainer_s_default_names_are_one_series(tmp_path: Path) -> None:
    paths = [tmp_path / n for n in ("last.ckpt", "epoch-000001.ckpt", "at-step00000010.ckpt")]
    assert len(in_order(paths)) == 1


def test_that_a_folder_s_name_has_no_suffix(tmp_path: Path) -> None:
    folder = tmp_path / "mira.v1-000002"
    folder.mkdir()
    model = saved_model(folder)
    assert (model.base, model.epoch, model.final) == ("mira.v1", 2, False)


def test_that_a_broken_file_has_its_place_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "a-step00000007.safetensors"
    path.write_bytes(b"nonsense")
    assert saved_model(path).step == 7
    assert saved_model(tmp_path / "gone.safetensors").step is None
