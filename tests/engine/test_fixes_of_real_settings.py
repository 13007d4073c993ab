"""No way out that is offered leads into another stop: tried on settings of real people, on several GPUs."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from gui.engine.findings import Finding
from gui.engine.importers.reading import read_setup
from gui.engine.plan.changes import ACTION, apply_changes
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.check import Checker
from gui.engine.preflight.facts import Facts, TrainerFact
from gui.engine.preflight.fixing import apply_safe_fixes
from gui.engine.trainer.catalogue import Catalogue

SETTINGS = Path(__file__).parents[1] / "data" / "case_settings"
EXPECTED = tomllib.loads((SETTINGS / "expected.toml").read_text("utf-8"))
CATALOGUE = Catalogue.bundled()
SMALL_GPU = {"name": "NVIDIA GeForce RTX 3070", "vram_gib": 8.0, "free_gib": 7.2, "compute_capability": "8.6"}
SMALL = Facts.model_validate({"os": "windows", "ram_gib": 16.0, "gpu": [SMALL_GPU]})
OLD_GPU = {"name": "Tesla T4", "vram_gib": 16.0, "free_gib": 15.2, "compute_capability": "7.5"}
OLD = Facts.model_validate({"os": "linux", "ram_gib": 64.0, "gpu": [OLD_GPU]})
ABOUT_THE_GPU = {"vram", "vram-preflight", "opt-state"}
"""What can be said only once a fix has made known what the plan needs."""

OWN_RATE = [
    {"optimizer_type": "Prodigy", "learning_rate": 1.0},
    {"optimizer_type": "DAdaptAdam", "learning_rate": 1.0, "unet_lr": 1.0, "text_encoder_lr": [1.0]},
    {"optimizer_type": "Adafactor", "learning_rate": 1.0, "unet_lr": 1.0, "lr_scheduler": "adafactor"},
    {"optimizer_type": "prodigyopt.Prodigy", "unet_lr": 1.0, "text_encoder_lr": [1.0]},
]
RANKED = {"network_module": "networks.lora", "network_dim": 128, "network_alpha": 128}


def stops(findings: list[Finding]) -> set[tuple[str, str | None]]:
    return {(each.id, each.where) for each in findings if each.severity == "stop"}


def assert_no_fix_makes_a_stop(checker: Checker, plan: TrainingPlan) -> None:
    before = checker.findings(plan)
    for finding in before:
        for fix in finding.fixes:
            if ACTION in fix.changes:
                continue
            new = stops(checker.findings(apply_changes(plan, fix.changes))) - stops(before)
            worse = {each for each in new if each[0] not in ABOUT_THE_GPU}
            assert not worse, (finding.id, fix.id, fix.changes)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_that_no_fix_of_real_settings_makes_a_new_stop(name: str) -> None:
    plan = read_setup(SETTINGS / name, EXPECTED[name].get("script"), CATALOGUE).file.plan
    assert_no_fix_makes_a_stop(Checker(SETTINGS, CATALOGUE, SMALL, files_known=False), plan)


@pytest.mark.parametrize("name", ["NAN-01.txt", "RAM-02.json"])
def test_that_a_gpu_without_bf16_is_not_led_into_fp16_that_overflows(name: str) -> None:
    plan = read_setup(SETTINGS / name, EXPECTED[name].get("script"), CATALOGUE).file.plan
    assert_no_fix_makes_a_stop(Checker(SETTINGS, CATALOGUE, OLD, files_known=False), plan)


def test_that_a_fix_that_the_gpu_has_no_memory_for_says_so() -> None:
    plan = read_setup(SETTINGS / "NAN-01.txt", EXPECTED["NAN-01.txt"]["script"], CATALOGUE).file.plan
    checker = Checker(SETTINGS, CATALOGUE, OLD, files_known=False)
    (finding,) = [each for each in checker.findings(plan) if each.id == "nan-flux-fp16"]
    emulated, full = finding.fixes
    assert "GiB" not in emulated.label
    assert "vram" not in {each[0] for each in stops(checker.findings(apply_changes(plan, emulated.changes)))}
    assert "about 48" in full.label
    assert "15.2 GiB" in full.label
    assert "vram" in {each[0] for each in stops(checker.findings(apply_changes(plan, full.changes)))}


@pytest.mark.parametrize("optimizer", OWN_RATE, ids=lambda each: str(each["optimizer_type"]))
def test_that_another_optimizer_gets_a_rate_of_its_own(optimizer: dict[str, object]) -> None:
    facts = SMALL.model_copy(update={"trainer": TrainerFact(packages={"torch": "2.6.0"})})
    plan = TrainingPlan.model_validate(
        {
            "family": "sdxl",
            "arguments": {**RANKED, **optimizer, "output_dir": "/out", "max_train_epochs": 2},
            "dataset": {"resolution": 1024, "batch_size": 8, "subsets": [{"image_dir": "/images"}]},
        }
    )
    checker = Checker(Path("/"), CATALOGUE, facts, files_known=False)
    assert_no_fix_makes_a_stop(checker, plan)
    mended = apply_safe_fixes(plan, checker.findings)
    assert apply_safe_fixes(mended.plan, checker.findings).plan == mended.plan


def test_that_a_smaller_rank_keeps_the_strength_of_the_network() -> None:
    plan = TrainingPlan.model_validate(
        {
            "family": "sdxl",
            "arguments": {**RANKED, "output_dir": "/out", "max_train_epochs": 2, "learning_rate": 1e-4},
            "dataset": {"resolution": 1024, "batch_size": 4, "subsets": [{"image_dir": "/images"}]},
        }
    )
    checker = Checker(Path("/"), CATALOGUE, SMALL, files_known=False)
    (finding,) = [each for each in checker.findings(plan) if each.id == "vram"]
    (fix,) = finding.fixes
    after = apply_changes(plan, fix.changes)
    assert after.arguments["network_dim"] < 128
    assert after.arguments["network_alpha"] == after.arguments["network_dim"]


def test_that_no_fix_writes_a_dataset_beside_a_file_that_could_not_be_read() -> None:
    plan = TrainingPlan.model_validate(
        {
            "family": "sdxl",
            "arguments": {**RANKED, "dataset_config": "/elsewhere/d.toml", "output_dir": "/out"},
        }
    )
    for finding in Checker(Path("/"), CATALOGUE, SMALL, files_known=False).findings(plan):
        for fix in finding.fixes:
            assert not [target for target in fix.changes if target.startswith("dataset.")], finding.id


@pytest.mark.parametrize("half", ["bf16", "fp16"])
@pytest.mark.parametrize("optimizer", ["Adafactor", "AdamW"])
def test_that_what_saves_memory_is_nothing_that_another_rule_takes_away(optimizer: str, half: str) -> None:
    """``fine_tune.py`` ignores full_bf16, and fp16 weights become NaN with most optimizers."""
    plan = TrainingPlan.model_validate(
        {
            "family": "sd15",
            "kind": "full",
            "script": "fine_tune.py",
            "arguments": {
                **{"optimizer_type": optimizer, "mixed_precision": half, "output_dir": "/out"},
                **{"train_data_dir": "/i", "in_json": "/i.json", "max_train_epochs": 1, "sdpa": True},
            },
            "dataset": {"resolution": 512, "batch_size": 2},
        }
    )
    facts = Facts.model_validate({"gpu": [SMALL_GPU | {"vram_gib": 12.0, "free_gib": 11.0}]})
    checker = Checker(Path("/"), CATALOGUE, facts, files_known=False)
    for finding in checker.findings(plan):
        for fix in finding.fixes:
            after = {each.id for each in checker.findings(apply_changes(plan, fix.changes))}
            assert not after & {"no-effect", "full-fp16"}, (finding.id, fix.changes)
