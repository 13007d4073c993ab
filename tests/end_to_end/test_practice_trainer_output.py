"""What the practice trainer says is what the real one says: the same events in the same order."""

from __future__ import annotations

import json
import logging
import re
import sys
from pathlib import Path

import pytest
from practice_runs import part, practice

from gui.cli.main import run as cli
from gui.engine.plan.sample import copy_sample_project
from gui.engine.trainer.events import Epoch, Phase, Saved, Setting, Step
from gui.engine.trainer.output import OutputParser

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

RECORDINGS = Path(__file__).parents[1] / "data" / "recordings"


def recorded(name: str) -> str:
    return (RECORDINGS / name / "combined.bin").read_bytes().decode("utf-8")


def events_of(data: bytes):
    parser = OutputParser()
    return [*parser.feed(data), *parser.finish()]


def shape(events) -> list[tuple]:
    """What happened, in order, without figures and paths that differ from run to run."""
    found = []
    for event in events:
        match event:
            case Phase():
                found.append(("phase", event.phase))
            case Epoch():
                found.append(("epoch", event.epoch, event.total))
            case Step():
                found.append(("step", event.step, event.total, event.epoch))
            case Saved():
                name = Path(event.path).name
                found.append(("saved", event.kind, event.final, re.sub(r"^[a-z]+", "", name)))
            case Setting():
                found.append(("setting", event.name, event.value))
    return found


@pytest.fixture(scope="module")
def as_recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("practice")
    (folder / "prompts.txt").write_text("sks thing --w 64 --h 64 --s 2 --d 2\n", "utf-8")
    return practice(
        folder,
        *("--max_train_epochs", 2, "--save_every_n_epochs", 1, "--save_every_n_steps", 6),
        *("--sample_every_n_epochs", 1, "--sample_prompts", folder / "prompts.txt"),
        *("--cache_latents", "--network_train_unet_only", "--sample_sampler", "euler_a"),
    )


def test_that_a_run_gives_the_events_of_the_real_trainer_in_the_same_order(as_recorded):
    real = shape(events_of((RECORDINGS / "v_sdpa_and_flags_passed" / "combined.bin").read_bytes()))

    assert shape(as_recorded.events) == real
    assert as_recorded.status == 0
    assert as_recorded.tally.model_saved


def test_that_the_header_has_the_lines_of_the_real_trainer(as_recorded):
    def header(text):
        begin = text.index("override steps.")
        lines = text[begin:].splitlines()
        return [line for line in lines[:30] if re.match(r"override|running|  (num|batch|grad|total) ", line)]

    assert header(as_recorded.text) == header(recorded("v_sdpa_and_flags_passed"))


def test_that_each_step_is_drawn_with_its_own_loss_after_that_of_the_step_before(as_recorded):
    bars = re.findall(r"\rsteps: [^\r\n]*?\| (\d+)/20 \[[^\]]*?(?:avr_loss=([\d.e+-]+))?\]", as_recorded.text)
    last = {int(step): loss for step, loss in bars}

    assert list(last) == sorted(last)
    assert [float(last[step]) for step in range(1, 21)] == as_recorded.losses
    assert as_recorded.text.endswith("\n")


def test_that_samples_lie_under_the_trainer_s_names(as_recorded):
    names = sorted(path.name for path in (as_recorded.out / "sample").iterdir())

    assert len(names) == 2
    for name, epoch in zip(names, (1, 2), strict=True):
        assert re.fullmatch(rf"demo_e{epoch:06d}_00_\d{{14}}_2\.png", name)


def test_that_records_are_wrapped_as_the_real_trainer_s_are():
    records = part("records")
    wide = re.findall(
        r"^(?:[\d-]{10} [\d:]{8}|\s{19}) (INFO|WARNING|ERROR) +(\S.*?) +([a-z_]+\.py):(\d+)$",
        recorded("v_sdpa_and_flags_passed"),
        re.MULTILINE,
    )
    narrow = recorded("a_no_accelerate")
    handler = records.RecordHandler()
    compared = 0
    for level, message, file, line in wide:
        record = logging.LogRecord("x", getattr(logging, level), f"/a/{file}", int(line), message, (), None)
        first, *rest = handler.rows(record, 80)
        expected = "\n".join([first[20:], *rest])
        if message.startswith(("epoch is", "prompt", "saving", "Enable", "generating", "seed")):
            continue
        compared += expected in narrow
    assert compared >= 25


@pytest.mark.parametrize("name", ["a_normal", "j_samples", "n_small_dataset", "g_notimage_cache"])
def test_that_bars_are_drawn_as_the_real_trainer_s_are(name):
    progress = part("progress")
    bars = re.findall(r"\|([^|]{10})\| (\d+)/(\d+) \[", recorded(name))
    losses = re.findall(r"avr_loss=([\d.]+)", recorded(name))

    assert bars
    for bar, done, total in bars:
        assert progress.drawing(int(done), int(total), progress._BLOCKS) == bar
    for loss in losses:
        assert progress.figure(float(loss) + 1e-9) == loss


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "00:00"), (65.9, "01:05"), (3600, "1:00:00"), (360_000, "100:00:00")]
)
def test_that_times_are_written_as_the_real_trainer_s_are(seconds, text):
    assert part("progress").duration(seconds) == text


def test_that_a_pipe_without_columns_gets_eighty(tmp_path):
    run = practice(tmp_path, "--max_train_steps", 1, env={"PYTHONUTF8": "1", "COLUMNS": ""})
    # From its first cell on: another pipe's line can stand before it when both are read as one.
    whole = re.compile(r"(?:[\d-]{10} [\d:]{8}| {19}) .* {2,}[a-z_]+\.py:\d+")
    records = [line for line in run.text.splitlines() if whole.fullmatch(line)]

    assert records
    assert {part("records").cells(line) for line in records if "\r" not in line} == {80}
    assert run.tally.model_saved


def test_that_simple_records_are_bare_lines(tmp_path):
    run = practice(tmp_path, "--max_train_steps", 2, "--console_log_simple")

    assert "\nfound directory " in run.text
    assert "\nmodel saved.\n" in run.text
    assert "INFO" not in run.text
    assert run.tally.model_saved


def test_that_a_pipe_that_is_not_utf8_kills_it_as_it_kills_the_real_one(tmp_path):
    run = practice(tmp_path, env={"PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252"})

    assert run.status == 1
    assert "UnicodeEncodeError: 'charmap' codec can't encode" in run.data.decode("cp1252")


def test_that_loader_workers_are_processes_that_each_tell_of_the_epoch(tmp_path):
    run = practice(tmp_path, "--max_train_epochs", 2, "--max_data_loader_n_workers", 2, images=4)

    assert run.text.count("epoch is incremented.") == 4 if sys.platform == "linux" else True
    assert run.tally.last_step == 8


def test_that_nothing_speaks_against_the_sample_plan(tmp_path, capsys):
    plan = copy_sample_project(tmp_path)

    assert cli(["check", str(plan), "--trainer", "practice", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["verdict"] == "go"
    assert [finding["id"] for finding in answer["findings"] if finding["severity"] != "hint"] == []
    assert answer["steps"]["total_steps"] == 108
