"""Runs side by side: what differs comes first, as it was really used, and nothing is made up."""

from __future__ import annotations

import csv
import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from written_runs import write_run

from gui.cli.main import run as cli
from gui.engine.errors import RunRefused
from gui.engine.paths import Home
from gui.engine.runs.comparison import compare, last_good
from gui.engine.runs.comparison_lines import comparison_csv, comparison_lines, label_of
from gui.engine.runs.comparison_losses import LossCurve, loss_curve, loss_tables
from gui.engine.runs.comparison_models import ComparedRow, Comparison
from gui.engine.runs.events import FileSeen
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.metrics import StepRow
from gui.engine.runs.records import BaseModelFile, CommandRecord, Manifest
from gui.engine.trainer.events import Setting, Step

PLAN = """\
schema = 1
name = "{name}"
family = "sdxl"
kind = "lora"
presets = ["sdxl", "character", "safe"]

[arguments]
unet_lr = {rate}
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def a_run(
    home: Home,
    name: str,
    *,
    words: dict[str, str] | None = None,
    dataset: str = "",
    facts: dict[str, Any] | None = None,
    manifest: dict[str, Any] | None = None,
    losses: list[float] | None = None,
    samples: list[Path] | None = None,
    **more: Any,
) -> RunFolder:
    """Write a run with all that is compared."""
    run = write_run(home, name, **more)
    given = {"output_dir": "/out", "output_name": name, "unet_lr": "1e-4", **(words or {})}
    argv = [word for key, value in given.items() for word in (f"--{key}", *value.split())]
    CommandRecord(
        argv=("python", "train.py", *argv), cwd=home.root, python="python", output_name=given["output_name"]
    ).write(run.command)
    run.plan.write_text(PLAN.format(name=name, rate=given["unet_lr"]))
    run.dataset.write_text(dataset)
    told = [Setting(name=key, value=value) for key, value in (facts or {}).items()]
    seen = [FileSeen(path=str(path), kind="sample", complete=True, size=1) for path in samples or ()]
    later = [Step(step=1, total=2), Setting(name="num batches per epoch", value=999)]
    run.events.write_text("".join(event.model_dump_json() + "\n" for event in (*told, *seen, *later)))
    rows = (StepRow(step=n, loss=loss, avr_loss=9.0) for n, loss in enumerate(losses or (), 1))
    run.metrics.write_text("".join(row.model_dump_json() + "\n" for row in rows))
    if manifest:
        Manifest.read(run.manifest).model_copy(update=manifest).write(run.manifest)
    return run


def row(rows: tuple[ComparedRow, ...], name: str) -> ComparedRow:
    return next(each for each in rows if each.id == name)


def compared(home: Home, *runs: RunFolder) -> Comparison:
    return compare(runs, home)


# --- arguments -------------------------------------------------------------------------------------


def test_that_differing_arguments_come_first_and_places_last(home: Home):
    first = a_run(home, "one", words={"seed": "1", "network_dim": "32", "fp8_base": ""})
    second = a_run(home, "two", words={"seed": "1", "network_dim": "16", "unet_lr": "2e-4"})
    rows = compared(home, first, second).arguments
    differing = [each.id for each in rows if each.differs]
    assert differing == ["unet_lr", "network_dim", "fp8_base", "output_name"]
    assert [each.id for each in rows[: len(differing)]] == differing
    assert row(rows, "network_dim").values == ("32", "16")
    assert row(rows, "fp8_base").values == (True, None)
    assert row(rows, "fp8_base").shown == ("yes", "")
    assert row(rows, "output_name").place and not row(rows, "seed").differs


@pytest.mark.parametrize(("one", "other", "differs"), [("1e-4", "0.0001", False), ("1e-4", "1e-5", True)])
def test_that_the_same_number_written_otherwise_is_the_same(home: Home, one: str, other: str, differs: bool):
    runs = (a_run(home, "one", words={"unet_lr": one}), a_run(home, "two", words={"unet_lr": other}))
    assert row(compared(home, *runs).arguments, "unet_lr").differs is differs


def test_that_a_flag_is_not_the_number_one(home: Home):
    runs = (a_run(home, "one", words={"x": ""}), a_run(home, "two", words={"x": "1"}))
    assert row(compared(home, *runs).arguments, "x").differs


def test_that_what_lies_in_each_runs_own_folder_is_the_same(home: Home):
    runs = [a_run(home, name, age_days=days) for name, days in (("one", 1), ("two", 2))]
    for run in runs:
        command = CommandRecord.read(run.command)
        words = (*command.argv, "--dataset_config", str(run.dataset))
        command.model_copy(update={"argv": words}).write(run.command)
    found = row(compared(home, *runs).arguments, "dataset_config")
    assert found.values[0] == str(Path("<run>", "dataset.toml")) and not found.differs


def test_that_it_is_told_who_said_a_value(home: Home):
    words = {"lr_scheduler": "cosine", "network_module": "networks.lora", "logging_dir": "/logs"}
    run, other = a_run(home, "one", words=words), a_run(home, "two", words=words)
    other.plan.write_text("[")
    rows = compared(home, run, other).arguments
    assert row(rows, "unet_lr").origins == ("plan", None)
    assert row(rows, "logging_dir").origins[0] == "program"
    assert row(rows, "network_module").origins[0] == "family"
    preset = row(rows, "lr_scheduler").origins[0]
    assert preset is not None and preset.startswith("preset:")
    lines = "\n".join(comparison_lines(compared(home, run, other), everything=True))
    assert "(family)" in lines and "(set by the program)" in lines and "(preset " in lines


# --- dataset, environment, results -----------------------------------------------------------------


def images(folder: Path, count: int, captions: int) -> str:
    folder.mkdir(parents=True)
    for number in range(count):
        (folder / f"{number}.png").write_bytes(b"")
    for number in range(captions):
        (folder / f"{number}.txt").write_text("a")
    return f'[general]\ncaption_extension = ".txt"\n[[datasets]]\nbatch_size = 2\n[[datasets.subsets]]\n\
image_dir = "{folder.as_posix()}"\nnum_repeats = {count}\n'


def test_that_images_repeats_and_captions_are_compared(home: Home, tmp_path: Path):
    facts = {"num train images * repeats": 9, "num reg images": 0, "num batches per epoch": 5}
    one = a_run(home, "one", dataset=images(tmp_path / "a", 3, 2), facts=facts)
    two = a_run(home, "two", dataset=images(tmp_path / "b", 4, 4))
    rows = compared(home, one, two).dataset
    assert row(rows, "images now").values == (3, 4)
    assert row(rows, "captions now").values == (2, 4)
    assert row(rows, "num_repeats").values == (3, 4)
    assert row(rows, "images × repeats").values == (9, None)
    assert row(rows, "batches per epoch").values == (5, None)
    assert not row(rows, "batch_size").differs
    assert row(rows, "image_dir").place
    assert [each.differs for each in rows] == sorted((each.differs for each in rows), reverse=True)


def test_that_several_datasets_and_subsets_are_told_apart(home: Home):
    text = (
        "[[datasets]]\n[[datasets.subsets]]\nnum_repeats=1\n[[datasets.subsets]]\nnum_repeats=2\n[[datasets]]\n\
batch_size = 2\nresolution = [512, 768]\n"
    )
    one, two = a_run(home, "one", dataset=text), a_run(home, "two", dataset="datasets = 7\ngeneral = 1\n")
    rows = compared(home, one, two).dataset
    assert row(rows, "0.subsets.1.num_repeats").values == (2, None)
    assert row(rows, "1.resolution").values == ("[512, 768]", None)


def test_that_the_environment_is_compared_by_versions_and_hashes(home: Home):
    base = BaseModelFile(path="/models/base.safetensors", sha256="ab" * 32)
    one = a_run(home, "one", manifest={"torch": "2.5.1", "gpus": ("RTX 3060",), "base_model": base})
    two = a_run(home, "two", manifest={"torch": "2.6.0", "gpus": ("RTX 3060",), "base_model": base})
    rows = compared(home, one, two).environment
    assert rows[0].id == "torch" and rows[0].values == ("2.5.1", "2.6.0")
    assert row(rows, "base_model_sha256").shown == ("abababab" + "ab",) * 2
    assert not row(rows, "gpus").differs and row(rows, "base_model").values[0] == "base.safetensors"


def lora(path: Path, value: float) -> Path:
    """Write a model of one tensor."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {"lora_unet_x.lora_up.weight": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}}
    text = json.dumps(head).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + struct.pack("<4f", *[value] * 4))
    return path


def test_that_results_tell_how_each_run_went(home: Home, tmp_path: Path):
    files = [lora(tmp_path / "a.safetensors", 0.5), tmp_path / "gone.safetensors"]
    told = [
        {
            "path": str(path),
            "kind": "model",
            "complete": True,
            "size": 1,
            "judgement": "clean",
            "sentence": "ok",
        }
        for path in files[:1]
    ]
    gpu = {"index": 0, "uuid": "a", "peak_process_bytes": 3 << 30}
    host = {"peak_tree_rss_bytes": 5 << 30}
    more = {"files": told, "gpus": [gpu], "host": host, "mean_rate": 2.0}
    one = a_run(home, "one", status=more)
    two = a_run(home, "two", verdict="stopped", reason="guard", status={"step": 5, "first_nonfinite_step": 5})
    three = a_run(home, "three", verdict=None, status={"state": "running", "step": None, "total": None})
    rows = compared(home, one, two, three).results
    assert row(rows, "verdict").values == ("finished", "stopped", "running")
    assert row(rows, "verdict").shown[1] == "stopped by the guard"
    assert row(rows, "steps").shown == ("1,000 of 1,000", "5 of 1,000", "")
    assert row(rows, "first_nonfinite_step").values == (None, 5, None)
    assert row(rows, "peak_gpu_bytes").shown == ("3.0 GiB", "", "")
    assert row(rows, "peak_ram_bytes").shown == ("5.0 GiB", "", "")
    assert row(rows, "last_file_rms").values == (0.5, None, None)
    assert row(rows, "last_file_judgement").shown[0] == "ok"
    assert "last_file_rms" not in [each.id for each in compare((one, two), home, norms=False).results]
    files[0].unlink()
    assert "last_file_rms" not in [each.id for each in compared(home, one, two).results]


def test_that_a_file_that_cannot_be_measured_leaves_a_gap(home: Home, tmp_path: Path, monkeypatch):
    path = tmp_path / "a.ckpt"
    path.write_bytes(b"no model")
    file = {"path": str(path), "kind": "model", "complete": True, "size": 1}
    runs = [a_run(home, name, status={"files": [file]}) for name in ("one", "two")]
    assert "last_file_rms" not in [each.id for each in compared(home, *runs).results]
    monkeypatch.setattr("gui.engine.runs.comparison_results.LARGEST_MEASURED_BYTES", 1)
    assert row(compared(home, *runs).results, "last_file").values == ("a.ckpt", "a.ckpt")


def test_that_broken_and_newer_runs_are_compared_as_far_as_they_can_be_read(home: Home):
    one, two, three = (a_run(home, name) for name in ("one", "two", "three"))
    for path in (two.status, two.manifest, two.command, two.dataset, two.plan, two.events, two.metrics):
        path.write_text("{")
    three.status.write_text('{"schema": 99}')
    three.events.unlink()
    found = compared(home, one, two, three)
    assert [run.verdict for run in found.runs] == ["finished", None, None]
    assert row(found.arguments, "unet_lr").values == ("1e-4", None, "1e-4")


def test_that_one_run_is_no_comparison(home: Home):
    run = a_run(home, "one")
    with pytest.raises(RunRefused, match="two runs"):
        compare([run, run], home)


# --- losses ----------------------------------------------------------------------------------------


def test_that_losses_are_put_side_by_side_by_steps_and_by_images(home: Home):
    facts = {"batch size per device": 4, "gradient accumulation steps": 2}
    one = a_run(home, "one", losses=[1.0] * 100, facts=facts, words={"num_processes": "2"})
    two = a_run(home, "two", losses=[*[2.0] * 50, *[4.0] * 50, float("nan")])
    found = compared(home, one, two)
    assert [run.images_per_step for run in found.runs] == [16, 1]
    by_steps, by_images = found.losses
    assert by_steps.ends == tuple(range(10, 101, 10))
    assert by_steps.losses == ((1.0,) * 10, (*(2.0,) * 5, *(4.0,) * 5))
    assert by_images.by == "images" and by_images.ends[0] == 200
    assert by_images.losses[1][:2] == (3.0, None)


def test_that_the_same_count_of_images_needs_no_second_table(home: Home):
    runs = [a_run(home, name, losses=[1.0] * 3) for name in ("one", "two")]
    assert [table.by for table in compared(home, *runs).losses] == ["steps"]
    mixed = a_run(home, "three", losses=[1.0], facts={"batch size per device": "4, 2"})
    found = compared(home, runs[0], mixed)
    assert found.runs[1].images_per_step is None and len(found.losses) == 1


@given(
    st.lists(
        st.tuples(st.lists(st.integers(1, 5000), unique=True).map(sorted), st.integers(1, 64)),
        min_size=2,
        max_size=3,
    )
)
def test_that_every_loss_is_counted_once(runs: list[tuple[list[int], int]]):
    curves = [LossCurve(steps, [float(n) for n in range(len(steps))], each) for steps, each in runs]
    for table in loss_tables(curves):
        assert len(table.ends) <= 11
        for (steps, _each), losses in zip(runs, table.losses, strict=True):
            known = [loss for loss in losses if loss is not None]
            assert bool(known) == bool(steps)
            assert all(0 <= loss <= len(steps) for loss in known)


def test_that_the_trainers_mean_serves_where_no_single_losses_are_known(home: Home):
    run = a_run(home, "one", losses=[float("inf")] * 3)
    assert loss_curve(run, 1).losses == [9.0, 9.0, 9.0]
    run.metrics.unlink()
    assert loss_curve(run, 1).steps == []


# --- samples ---------------------------------------------------------------------------------------


def sample(folder: Path, name: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"")
    return folder / name


def test_that_samples_of_the_same_prompt_and_seed_are_put_together(home: Home, tmp_path: Path):
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("a cat --d 7\na dog\n")
    words = {"sample_prompts": str(prompts), "sample_every_n_epochs": "1"}
    facts = {"num batches per epoch": 9, "gradient accumulation steps": 2}
    names = ("e000002_00_20260101000000_7", "e000001_00_20260101000000_7", "000030_01_20260101000001")
    folder = tmp_path / "sample"
    one = [sample(folder, f"one_{name}.png") for name in names]
    two = [sample(folder, "two_e000001_00_20260101000000_7.png"), sample(folder, "two_nothing.png")]
    runs = (
        a_run(home, "one", words=words, facts=facts, samples=[*one, tmp_path / "one_gone.png"]),
        a_run(home, "two", words=words, samples=two),
    )
    cat, dog = compared(home, *runs).samples
    assert (cat.prompt, cat.seed, dog.prompt, dog.seed) == ("a cat --d 7", 7, "a dog", None)
    assert [(each.epoch, each.step) for each in cat.samples[0]] == [(1, 5), (2, 10)]
    assert [(each.epoch, each.step) for each in cat.samples[1]] == [(1, None)]
    assert [each.step for each in dog.samples[0]] == [30] and dog.samples[1] == ()
    prompts.unlink()
    assert compared(home, *runs).samples[0].prompt == "#1"


# --- the last good run -----------------------------------------------------------------------------


def test_that_the_last_good_run_is_the_newest_before_it_of_the_same_output_or_plan(home: Home):
    same = {"output_name": "mira"}
    a_run(home, "older", words=same, age_days=9)
    good = a_run(home, "good", words=same, age_days=8)
    a_run(home, "bad", words=same, verdict="failed", age_days=7)
    a_run(home, "now", words={"output_name": "other"}, age_days=6)
    run = a_run(home, "now", words=same, verdict="stopped", age_days=5)
    a_run(home, "later", words=same, age_days=1)
    assert last_good(run, home) == good
    named = a_run(home, "now", words={"output_name": "third"}, verdict="failed", age_days=4)
    assert last_good(named, home).name.endswith("-now")
    assert last_good(a_run(home, "alone", words={"output_name": "x"}, age_days=3), home) is None
    named.command.unlink()
    named.status.write_text("{")
    assert last_good(named, home) is None


def test_that_a_run_that_lies_elsewhere_has_a_last_good_one_too(home: Home, tmp_path: Path):
    good = a_run(home, "mira", age_days=3)
    run = a_run(home, "mira", age_days=1, verdict="failed")
    moved = run.path.rename(tmp_path / run.name)
    assert last_good(RunFolder(moved), home) == good


# --- the command -----------------------------------------------------------------------------------


def test_that_the_terminal_tells_what_differs(home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    place = ["--home", str(home.root)]
    long = "x" * 100
    a_run(home, "mira", words={"seed": "1", "note": f"a{long}"}, losses=[0.5] * 20, age_days=2)
    a_run(home, "mira2", words={"output_name": "mira", "seed": "2", "note": f"b{long}"}, losses=[0.25] * 9)
    assert cli(["compare", "mira", "mira2", *place]) == 0
    out = capsys.readouterr().out
    assert "seed" in out and "xx…xx" in out and "unet_lr" not in out and " the same" in out
    assert "Mean loss by steps" in out and "0.25" in out
    table = tmp_path / "t.csv"
    assert cli(["compare", "mira2", "--last-good", "--all", "--no-norms", "--csv", str(table), *place]) == 0
    assert "unet_lr" in capsys.readouterr().out
    rows = list(csv.reader(table.read_text("utf-8").splitlines()))
    assert rows[0][2].endswith("-mira") and ["arguments", "seed", "1", "2"] in rows
    assert any(each[0] == "mean loss by steps" for each in rows)
    assert cli(["compare", "mira", "mira2", "--csv", str(table), *place]) == 2
    capsys.readouterr()
    assert cli(["compare", "mira", "mira2", "--json", *place]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == 1 and document["arguments"][0]["id"] == "seed"
    assert cli(["compare", "mira", *place]) == 2
    assert "two runs" in capsys.readouterr().err
    assert cli(["compare", "mira", "--last-good", *place]) == 2
    assert "No finished run before" in capsys.readouterr().err


def test_that_samples_are_told_in_the_terminal(home: Home, tmp_path: Path):
    names = ("000010_00_20260101000000_7", "000010_00_20260101000000")
    runs = [
        a_run(home, run, samples=[sample(tmp_path, f"{run}_{name}.png") for name in names])
        for run in ("one", "two")
    ]
    text = "\n".join(comparison_lines(compared(home, *runs)))
    assert "#1 · seed 7\n    A  10\n    B  10" in text and "no seed of its own" in text
    assert label_of(30) == "31"
    assert "one" in comparison_csv(compared(home, *runs))
