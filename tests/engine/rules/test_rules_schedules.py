"""Schedulers, step counts and intervals."""

import pytest
from table import assert_fixes_mend, findings, make_plan, make_view

SDXL = "sdxl_train_network.py"
STEPS = {"max_train_steps": 1000}

FIRES = [
    ("warmup", "stop", {"lr_warmup_steps": 100}),
    ("warmup", "stop", {"lr_warmup_steps": "10%", "lr_scheduler": "constant"}),
    ("warmup", "stop", {"lr_warmup_steps": 0.1, "optimizer_type": "Adafactor", "lr_scheduler": "cosine"}),
    (
        "warmup",
        "stop",
        {"lr_warmup_steps": 5, "lr_scheduler_type": "CosineAnnealingLR", "lr_scheduler": "cosine"},
    ),
    (
        "warmup",
        "stop",
        {
            "lr_warmup_steps": 5,
            "optimizer_type": "Adafactor",
            "optimizer_args": ["relative_step=False", "warmup_init=True"],
        },
    ),
    ("sched-adafactor", "stop", {"lr_scheduler": "adafactor"}),
    (
        "sched-adafactor",
        "stop",
        {
            "lr_scheduler": "adafactor",
            "optimizer_type": "Adafactor",
            "optimizer_args": ["relative_step=False"],
        },
    ),
    ("scheduler", "stop", {"lr_scheduler": "cosinus"}),
    ("scheduler", "stop", {"lr_scheduler": "reduce_lr_on_plateau"}),
    ("scheduler", "stop", {"lr_scheduler": "cosine_with_min_lr"}),
    ("scheduler", "stop", {"lr_scheduler": "piecewise_constant"}),
    ("steps-default", "stop", {}),
    ("steps-default", "stop", {"epoch": 200}),
    ("steps-both", "warning", {"max_train_steps": 2500, "max_train_epochs": 10}),
    ("zero-interval", "stop", {"save_every_n_epochs": 0}),
    ("zero-interval", "stop", {"gradient_accumulation_steps": 0}),
    ("no-steps", "stop", {"max_train_steps": 0}),
    ("no-steps", "stop", {"max_train_epochs": -1}),
    ("workers-persistent", "stop", {"persistent_data_loader_workers": True, "max_data_loader_n_workers": 0}),
]


@pytest.mark.parametrize(("identity", "severity", "arguments"), FIRES)
def test_that_the_rule_fires_and_its_fixes_mend(identity, severity, arguments) -> None:
    view = make_view(make_plan(arguments), SDXL)
    assert [finding.severity for finding in findings(identity, view)] == [severity]
    assert_fixes_mend(identity, view)


SILENT = [
    ("warmup", {"lr_warmup_steps": 100, "lr_scheduler": "cosine"}),
    ("warmup", {"lr_warmup_steps": 100, "lr_scheduler": "constant_with_warmup"}),
    ("warmup", {"lr_warmup_steps": 0}),
    ("warmup", {"lr_warmup_steps": 100, "optimizer_type": "AdamWScheduleFree"}),
    ("sched-adafactor", {"lr_scheduler": "adafactor", "optimizer_type": "AdaFactor"}),
    ("sched-adafactor", {"lr_scheduler": "cosine"}),
    ("scheduler", {"lr_scheduler": "cosine_with_restarts"}),
    ("scheduler", {"lr_scheduler": "cosine_with_min_lr", "lr_scheduler_min_lr_ratio": 0.1}),
    ("scheduler", {"lr_scheduler": "whatever", "lr_scheduler_type": "CosineAnnealingLR"}),
    ("scheduler", {"lr_scheduler": "piecewise_constant", "lr_scheduler_args": ["step_rules='1:10,0.1'"]}),
    ("steps-default", STEPS),
    ("steps-default", {"max_train_epochs": 10}),
    ("steps-both", STEPS),
    ("zero-interval", {"save_every_n_steps": 100}),
    ("zero-interval", {"sample_every_n_steps": 0}),
    ("no-steps", STEPS),
    ("workers-persistent", {"persistent_data_loader_workers": True}),
    ("workers-persistent", {"max_data_loader_n_workers": 0}),
]


@pytest.mark.parametrize(("identity", "arguments"), SILENT)
def test_that_the_rule_keeps_silent(identity, arguments) -> None:
    assert not findings(identity, make_view(make_plan(arguments), SDXL))


def test_that_meant_epochs_become_the_offer() -> None:
    (finding,) = findings("steps-default", make_view(make_plan({"epoch": 200}), SDXL))
    assert finding.fixes[0].changes == {"max_train_epochs": 200}
