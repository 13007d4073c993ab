"""A training whose loss broke down is tried again by itself, as often as its plan allows and no further."""

from __future__ import annotations

from pathlib import Path

import pytest
from practice_runs import BASE, make_images
from run_helper import status

from gui.cli.main import run as cli
from gui.engine.paths import Home
from gui.engine.runs.alarms import alarms
from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.runs.records import Manifest
from gui.engine.runs.recovery_chain import chain_of
from gui.engine.runs.retry_record import read_retry

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("no_leftovers", "practice_is_known")]

PLAN = """
schema = 1
name = "fast"
family = "sd15"
[arguments]
pretrained_model_name_or_path = "{base}"
output_dir = "out"
output_name = "lora"
network_module = "networks.lora"
network_dim = 4
network_alpha = 64
network_train_unet_only = true
unet_lr = {rate}
max_train_steps = 24
save_every_n_steps = 4
max_data_loader_n_workers = 0
mixed_precision = "no"
optimizer_type = "AdamW"
seed = 1
[dataset]
resolution = [64, 64]
batch_size = 2
caption_extension = ".txt"
[[dataset.subsets]]
image_dir = "images"
num_repeats = 4
[guard]
recoveries = {recoveries}
"""


def test_that_a_broken_loss_is_tried_again_by_itself_with_the_first_try(
    tmp_path: Path, home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    make_images(tmp_path / "images", count=6)
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(base=BASE.as_posix(), rate=2e-3, recoveries=1), "utf-8")
    code = cli(["run", str(plan), "--practice", "--accept", "lr-range", "lr-effective"])
    said = capsys.readouterr()
    names = sorted(run_names(home))
    assert (code, len(names)) == (0, 2), said.out + said.err
    first, second = (RunFolder(home.runs / name) for name in names)
    retry = read_retry(first)
    assert retry is not None and retry.next == second.name and retry.sentence in said.out
    assert retry.changes["unet_lr"] == 1e-3
    assert retry.sentence in alarms(first)[0].done
    manifest = Manifest.read(second.manifest)
    assert manifest.retry.recoveries == 0, "no more than the plan allows"
    assert manifest.follows is not None and manifest.follows.by_itself
    assert status(second).verdict.verdict == "finished" and not second.retry.exists()
    chain = chain_of(home, second)
    assert [(each.run, each.by_itself) for each in chain.runs()] == [(first.name, False), (second.name, True)]
