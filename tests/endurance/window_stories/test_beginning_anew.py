"""A training that was mad from its first step is begun anew, with what the presets take, by one click."""

from __future__ import annotations

from pathlib import Path

import pytest

from gui.engine.runs.folder import run_names
from gui.engine.trainer.tensors import check_tensors

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("no_leftovers")]


def test_that_a_mad_rate_begins_anew_with_that_of_the_presets(sit_down, known_home, write_plan):
    person = sit_down(known_home)
    person.open_plan(write_plan("mad", unet_lr=1e4, text_encoder_lr=None, network_train_unet_only=True))
    person.click("launch-safely")
    person.click("ask-dangers-yes")
    person.until(lambda: person.is_seen("run-other-ways"), "the ways on", 120_000)
    person.click("run-other-ways")
    person.reads_until("it begins anew", "run-recovery-point")
    person.reads_until("unet_lr: 10000.0 → 0.0001", "run-try-safe-rate-diff")
    person.click("run-try-safe-rate-launch")
    person.until(lambda: len(run_names(known_home)) == 2, "the second run", 120_000)
    person.reads_until("Finished: 8 of 8 steps", "run-verdict", 120_000)
    assert check_tensors(Path(person.says("run-final-file"))).finite
