"""``estimate`` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gui.cli.main import run

PLAN = """schema = 1
name = "mira"
family = "{family}"
[arguments]
pretrained_model_name_or_path = "model.safetensors"
output_dir = "out"
mixed_precision = "bf16"
max_train_epochs = 2
network_module = "networks.lora"
network_dim = 16
sdpa = true
cache_latents = true
gradient_checkpointing = true
optimizer_type = "AdamW8bit"
[dataset]
resolution = {resolution}
batch_size = {batch}
[[dataset.subsets]]
image_dir = "images"
"""
MACHINE = """os = "linux"
[[gpu]]
vram_gib = {gib}
free_gib = {gib}
[dataset]
images = 20
repeats = 10
"""


@pytest.fixture
def estimated(tmp_path: Path, capsys):
    """Estimate a plan for a machine: status, output, errors."""

    def call(
        *more: str, family="sdxl", resolution="[1024, 1024]", batch=1, gib=24.0, changes=()
    ) -> tuple[int, str, str]:
        plan, machine = tmp_path / "plan.toml", tmp_path / "machine.toml"
        text = PLAN.format(family=family, resolution=resolution, batch=batch)
        for before, after in changes:
            text = text.replace(before, after)
        plan.write_text(text, "utf-8")
        machine.write_text(MACHINE.format(gib=gib), "utf-8")
        status = run(["estimate", str(plan), "--machine", str(machine), "--home", str(tmp_path), *more])
        return (status, *capsys.readouterr())

    return call


def test_that_an_estimate_is_one_json_document(estimated) -> None:
    status, out, _err = estimated("--json")
    report = json.loads(out)
    assert (status, report["schema"], report["script"]) == (0, 1, "sdxl_train_network.py")
    assert report["peak"] == "step"
    assert [phase["name"] for phase in report["phases"]] == ["latents", "load", "step", "saving"]
    assert set(report["phases"][0]["parts"]) == {
        "weights",
        "adapter",
        "gradients",
        "optimizer",
        "activations",
        "context",
        "fragmentation",
    }
    assert report["forecast"]["vram_gib"]["likely"] == pytest.approx(9.0, abs=0.8)
    assert report["forecast"]["seconds"] is None
    assert report["steps"]["total_steps"] == 40
    assert report["advice"] is None


def test_that_an_estimate_is_told_plainly(estimated) -> None:
    _status, out, _err = estimated()
    lines = out.splitlines()
    (peak,) = [line for line in lines if line.startswith(" →")]
    assert "training step" in peak
    assert "weights 6.3" in peak
    assert any("24.0 GiB, 24.0 free" in line for line in lines)
    assert any(line.startswith("Traced on sdxl") for line in lines)
    assert lines[-1] == "time: unknown until such a plan ran here (40 steps)"


def test_that_what_makes_it_fit_is_told_with_what_it_saves(estimated) -> None:
    _status, out, _err = estimated(batch=8, gib=12.0)
    assert "so that it fits:" in out
    assert "batch_size 1, gradient_accumulation_steps 8: saves" in out
    assert "saves" in out
    _status, out, _err = estimated(gib=2.0)
    assert "what saves memory, though not enough:" in out
    assert "which does not fit." in out
    assert ".:" not in estimated(family="flux1", gib=8.0)[1], "also where a file has to be changed by hand"


def test_that_it_is_said_when_it_fits_and_when_nothing_helps(estimated) -> None:
    assert "It fits, and" in estimated(gib=14.0)[1]
    all_taken = "fp8_base = true\nnetwork_train_unet_only = true\ncache_text_encoder_outputs = true"
    small = [("network_dim = 16", f"network_dim = 8\n{all_taken}")]
    out = estimated(gib=2.0, resolution="[768, 768]", changes=small)[1]
    assert "does not fit, and nothing that is known would save more." in out
    assert "so that it fits" not in out


def test_that_it_is_told_what_room_that_is_left_is_good_for(estimated) -> None:
    _status, out, _err = estimated(gib=80.0)
    assert "what the room that is left is good for:" in out
    assert "images at once fit" in out
    spare = json.loads(estimated("--json", gib=80.0)[1])["left_over"]["advice"]
    assert {advice["id"] for advice in spare} == {"no-checkpointing", "larger-batch"}


def test_that_what_is_unknown_is_said(estimated) -> None:
    _status, out, _err = estimated(resolution="[1000000, 1000000]")
    assert "GPU memory: unknown. The resolution is not known, or makes no sense." in out
    assert json.loads(estimated("--json", resolution="[1000000, 1000000]")[1])["forecast"]["vram_gib"] is None


def test_that_a_plan_that_no_script_trains_is_no_estimate(estimated) -> None:
    status, out, err = estimated(family="no-such")
    assert (status, out) == (1, "")
    assert err


def test_that_the_check_reports_the_peak(tmp_path: Path, capsys) -> None:
    plan, machine = tmp_path / "plan.toml", tmp_path / "machine.toml"
    plan.write_text(PLAN.format(family="sdxl", resolution=1024, batch=1), "utf-8")
    machine.write_text(MACHINE.format(gib=24.0), "utf-8")
    run(["check", str(plan), "--machine", str(machine), "--json"])
    vram = json.loads(capsys.readouterr().out)["forecast"]["vram_gib"]
    assert vram["low"] < vram["likely"] < vram["high"]
