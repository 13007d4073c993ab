"""A practice training with the memory hook and without: the same but for the row that says what was seen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from practice_runs import BASE, make_images

from gui.cli.main import run as cli
from gui.engine.paths import Home
from gui.engine.runs.events import read_events
from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.runs.memory_hook import read_memory
from gui.engine.runs.processes import read_exit
from gui.engine.trainer.events import Step

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("no_leftovers", "practice_is_known")]

PLAN = """
schema = 1
name = "{name}"
family = "sd15"
[arguments]
pretrained_model_name_or_path = "{base}"
output_dir = "{name}"
output_name = "lora"
network_dim = 4
learning_rate = 4e-4
text_encoder_lr = 4e-5
max_train_steps = 4
max_data_loader_n_workers = 0
mixed_precision = "no"
seed = 1
[dataset]
resolution = [64, 64]
caption_extension = ".txt"
[[dataset.subsets]]
image_dir = "images/sks"
[launch]
measure_memory = {hook}
"""


def train(tmp_path: Path, home: Home, name: str, *, hook: bool) -> RunFolder:
    plan = tmp_path / f"{name}.toml"
    plan.write_text(PLAN.format(name=name, base=BASE.as_posix(), hook=str(hook).lower()), "utf-8")
    before = set(run_names(home))
    assert cli(["run", str(plan), "--practice"]) == 0
    (fresh,) = set(run_names(home)) - before
    return RunFolder(home.runs / fresh)


def printed(run: RunFolder, name: str) -> list[str]:
    text = run.output_log.read_text("utf-8").replace(run.name, "RUN").replace(name, "NAME")
    # Within one second a record's time is left blank.
    text = re.sub(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d", " " * 19, text)
    lines = [line for line in re.split(r"[\r\n]+", text) if line.strip() and "%|" not in line]
    return [re.sub(r"\d\d:\d\d:\d\d|\d+\.\d+ ?s\b|20\d\d-\d\d-\d\d", "TIME", line) for line in lines]


def test_that_the_hook_changes_nothing_and_says_that_there_is_no_cuda(tmp_path: Path, home: Home) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("this torch has a GPU")
    make_images(tmp_path / "images" / "sks", count=4)
    plain = train(tmp_path, home, "hook_off", hook=False)
    hooked = train(tmp_path, home, "hook_was", hook=True)
    losses = [[e.loss for e in read_events(run.events) if isinstance(e, Step)] for run in (plain, hooked)]
    assert losses[0] == losses[1] and len(losses[0]) == 4
    assert printed(hooked, "hook_was") == printed(plain, "hook_off")
    assert not plain.memory.exists()
    (row,) = read_memory(hooked.memory)
    assert (row.event, row.device, row.reserved_peak) == ("no-cuda", None, None)
    assert hooked.phase.read_text("ascii").strip() in ("training", "saving", "done")
    exits = [read_exit(run.path) for run in (plain, hooked)]
    assert [each and each.status for each in exits] == [0, 0]
