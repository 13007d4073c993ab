"""The power was cut while a run trained: the truth is found afterwards, and the last clean file leads on."""

from __future__ import annotations

from pathlib import Path

import pytest
from acting import weights
from run_helper import launched_before_a_restart, make_run

from gui.engine.runs.recovery import recovery_of
from gui.engine.runs.session import look_after

WORDS = (
    *("--network_module", "networks.lora", "--unet_lr", "0.0004", "--optimizer_type", "AdamW"),
    *("--max_train_steps", "100", "--save_every_n_steps", "20"),
)
PLAN = 'schema = 1\nname = "a run"\n[arguments]\nunet_lr = 4e-4\nmax_train_steps = 100\n'
LOG = (
    "running training / 学習開始\n"
    "  num batches per epoch / 1epochのバッチ数: 100\n"
    "  total optimization steps / 学習ステップ数: 100\n"
    "\rsteps:  20%|██        | 20/100 [00:20<01:20,  1.00it/s, avr_loss=0.14]\n"
    "saving checkpoint: {out}/lora-step00000020.safetensors\n"
    "\rsteps:  43%|████▎     | 43/100 [00:43<00:57,  1.00it/s, avr_loss=0.12]"
)


@pytest.mark.parametrize("saved", [True, False])
def test_that_after_a_power_cut_the_last_clean_file_leads_on(tmp_path: Path, saved: bool) -> None:
    run, _order = make_run(tmp_path, "", words=WORDS)
    run.plan.write_text(PLAN, "utf-8")
    out = tmp_path / "out"
    launched_before_a_restart(run)
    run.output_log.write_text(LOG.format(out=out), "utf-8")
    if saved:
        (out / "lora-step00000020.safetensors").write_bytes(weights())
    (out / "lora-step00000040.safetensors").write_bytes(weights()[:-400])

    verdict = look_after(run, None)
    assert verdict is not None
    assert (verdict.verdict, verdict.reason, verdict.step) == ("failed", "rebooted", 43)
    assert "restarted" in verdict.sentence
    assert [path.name for path in verdict.clean] == ["lora-step00000020.safetensors"] * saved

    recovery = recovery_of(run)
    assert recovery.kind == "power" and recovery.tries
    first = recovery.tries[0]
    if saved:
        assert recovery.point is not None and recovery.point.step == 20
        assert first.changes["network_weights"] == str(out / "lora-step00000020.safetensors")
        assert first.changes["max_train_steps"] == 80
    else:
        assert recovery.point is None and "network_weights" not in first.changes
