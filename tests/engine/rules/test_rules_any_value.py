"""Whatever a plan says, no rule fails, each finding can be told from the others, and each fix can be made."""

import random
from typing import Any

import pytest
from table import CATALOGUE, make_view

from gui.engine.findings import Finding
from gui.engine.plan.changes import ACTION, apply_changes
from gui.engine.plan.dataset_options import OPTIONS
from gui.engine.plan.families import families
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.rule import run_rules
from gui.engine.preflight.rules import ALL_RULES
from gui.engine.trainer.argument import Argument

SCRIPTS = sorted(CATALOGUE.scripts)
ODD: list[Any] = [
    *(None, True, False, "", " ", "0", "1e-4", "512,512", "0,0", "=", "a=b=c", "fp16", "\ud800", "{x}"),
    *(0, -1, 3, 10**400, -(10**400), 2**63, 0.0, 1e308, 1e-320, float("nan"), float("inf"), 1.5),
    *([], [None], ["a=1", "b"], [1, 2, 3], [0, -5], {}, {"a": 1}, [[]], [{"image_dir": 3}]),
]
LIKELY: dict[str, list[Any]] = {
    "network_module": [
        "networks.lora",
        "networks.dylora",
        "networks.oft",
        "networks.lora_flux",
        "lycoris.kohya",
    ],
    "network_args": [["conv_dim=x", "unit=0", "train_t5xxl=True"], ["verbose=yes", "loraplus_lr_ratio=4"]],
    "optimizer_type": ["Prodigy", "Adafactor", "AdamW8bit", "RAdamScheduleFree", "SGD", "nonsense"],
    "model_type": ["chroma", "flux"],
    "pretrained_model_name_or_path": ["/m/vpred.safetensors", "/m/x.gguf", "/there", "/gone"],
    "output_name": ["mira", "a/b", " mira"],
    "output_dir": ["/there", "/gone", " /o"],
    "log_with": ["wandb", "tensorboard"],
    "loss_type": ["huber"],
    "resume": ["/there", "x", "/gone"],
}
FACTS: list[dict[str, Any]] = [
    {},
    {
        "os": "windows",
        "disk_free_gib": 0.01,
        "gpu": [{"name": "NVIDIA GeForce GTX 1660", "compute_capability": "7.5"}],
        "trainer": {"packages": {}, "torch": "2.0.0"},
        "model": [{"argument": "pretrained_model_name_or_path", "family": "noobai-vpred"}],
        "dataset": {"images": 7, "repeats": 2, "layout": "flat"},
        "paths": {"/gone": {"kind": "missing"}, "/there": {"kind": "folder", "writable": False}},
        "existing_outputs": ["mira.safetensors", "last.safetensors"],
        "state": {"path": "/there", "has_optimizer": True, "step": 3, "scheduled": 9, "rates": [1e-4]},
    },
    {
        "disk_free_gib": 3.0,
        "model": [{"argument": "pretrained_model_name_or_path", "family": "sd2"}],
        "gpu": [{"name": "RTX 3060", "compute_capability": "8.6"}],
        "dataset": {
            "layout": "leaf",
            "subsets": [
                {"image_dir": "/a", "images": 3, "captions": 0, "sizes": {"5x0": 1, "900x9": 2}},
                {"image_dir": "/b", "images": 0, "sub_folders": 1},
            ],
        },
    },
    {"dataset": {"images": 0}, "model": [{"argument": "pretrained_model_name_or_path", "family": "new"}]},
    {
        "os": "windows",
        "ram_gib": 8,
        "ram_available_gib": 2,
        "commit_limit_gib": 10,
        "commit_available_gib": 3,
        "gpu": [
            {
                "name": "NVIDIA GeForce GTX 1080",
                "vram_gib": 8,
                "free_gib": 3,
                "compute_capability": "6.1",
                "holder": [{"pid": 7, "gib": 4, "run": "old"}, {"pid": 8}],
            },
            {"index": 1, "name": "RTX 5090", "compute_capability": "12.0"},
        ],
        "trainer": {
            "torch": "2.0.1+cpu",
            "python": "3.9.1",
            "version": "0.9",
            "packages": {"bitsandbytes": "0.35.0", "diffusers": "9"},
            "pins": {"diffusers": "0.32.1"},
            "unusable": {"prodigyopt": "x", "lycoris-lora": "y", "xformers": "z"},
            "root": "C:\\a b",
            "gpu": [{"usable": False, "name": "x"}],
        },
        "accelerate": {"num_processes": 2},
        "power": {"on_battery": True, "sleep_minutes": 5},
        "hub": [],
        "offline": True,
        "disk": [
            {"argument": "output_dir", "path": "/o", "kind": "network", "answers": False},
            {"argument": "dataset.subsets.0.image_dir", "path": "/a", "kind": "network", "free_gib": 0.001},
        ],
        "text": [
            {"argument": "sample_prompts", "path": "/p.txt", "problem": "encoding"},
            {"argument": "dataset_config", "path": "/d.toml", "problem": "escape", "line": 3},
        ],
        "run": [
            {"name": "old", "watched": False, "output_dir": "/there", "output_name": "mira"},
            {"name": "now", "output_dir": "/there", "output_name": "mira"},
        ],
        "existing_outputs": ["mira.safetensors", "mira-000001.safetensors", "mira-step00000002-state"],
        "locked_outputs": ["mira.safetensors"],
        "state": {
            "path": "x",
            "has_optimizer": True,
            "lacks": ["scheduler.bin"],
            "has_scaler": False,
            "has_random": False,
            "finite": False,
            "step_in_name": 4,
            "counts": "epochs",
            "step": 3,
            "scheduled": 1,
            "optimizer": "torch.optim.AdamW(betas=(0.9, 0.99),weight_decay=1)",
            "network": "/m.safetensors",
        },
        "dataset": {"images": 7, "repeats": 2},
    },
]


def drawn_value(argument: Argument, lot: random.Random) -> Any:
    """Return what a plan may hold for an argument: something usual, or something odd."""
    if lot.random() < 0.3:
        return lot.choice(ODD)
    if argument.dest in LIKELY:
        return lot.choice(LIKELY[argument.dest])
    if argument.is_flag:
        return True
    if argument.choices:
        return lot.choice(argument.choices)
    if argument.type in ("int", "float", "int_or_float"):
        return lot.choice([0, 1, 2, 40, 0.1, 1e-3, 1000])
    return lot.choice(["x", "/there", "/gone", "1e-4"])


def drawn_options(lot: random.Random) -> dict[str, Any]:
    usual = {"resolution": [512, 500], "enable_bucket": True, "batch_size": 4, "bucket_no_upscale": True}
    drawn = {
        key: lot.choice([True, 1, 0.5, 2.0, *ODD]) for key in lot.sample(sorted(OPTIONS), lot.randint(0, 9))
    }
    return {**lot.choice([{}, usual]), **drawn}


def drawn_dataset(lot: random.Random) -> dict[str, Any]:
    subsets = [
        {**lot.choice([{"image_dir": "/a"}, {"image_dir": "/a", "is_reg": True}, {}]), **drawn_options(lot)}
        for _number in range(lot.randint(0, 3))
    ]
    inner: Any = lot.choice([subsets, subsets, subsets, lot.choice(ODD)])
    top = drawn_options(lot)
    shapes = [{**top, "subsets": inner}, {**top, "datasets": [{"subsets": inner}, {"subsets": subsets}]}]
    return lot.choice([*shapes, {"general": top, "datasets": lot.choice(ODD)}])


def drawn_plan(script: str, lot: random.Random) -> TrainingPlan:
    rows = list(CATALOGUE.script(script).arguments.values())
    arguments = {row.dest: drawn_value(row, lot) for row in lot.sample(rows, lot.randint(0, 90))}
    return TrainingPlan.model_validate(
        {
            "family": lot.choice([*families(), "", "none"]),
            "arguments": arguments,
            "dataset": drawn_dataset(lot),
            "launch": {"num_processes": lot.choice([1, 1, -1, 10**400])},
        }
    )


@pytest.mark.parametrize("script", SCRIPTS)
def test_that_no_value_makes_a_rule_fail(script) -> None:
    for number in range(40):
        lot = random.Random(f"{script} {number}")
        plan = drawn_plan(script, lot)
        found = run_rules(ALL_RULES, make_view(plan, script, **lot.choice(FACTS)))
        assert not [finding.detail for finding in found if finding.id == "rule-failed"]
        for finding in found:
            assert_usable(finding, plan)
        keys = [(finding.id, finding.where) for finding in found]
        assert len(keys) == len(set(keys)), sorted(key for key in keys if keys.count(key) > 1)


def assert_usable(finding: Finding, plan: TrainingPlan) -> None:
    assert finding.title and finding.sources and finding.arguments, finding
    assert len({fix.id for fix in finding.fixes}) == len(finding.fixes), finding
    for fix in finding.fixes:
        assert fix.label and fix.changes, finding
        if ACTION not in fix.changes:
            apply_changes(plan, fix.changes)
