"""What a run leaves behind: names, formats, how often."""

import pytest
from table import assert_fixes_mend, findings, make_plan, make_view

from gui.engine.trainer.final_file import is_written_by

SDXL, FULL, TI = "sdxl_train_network.py", "sdxl_train.py", "train_textual_inversion.py"
NAME = {"output_name": "mira"}
THERE = {"existing_outputs": ["mira.safetensors", "mira-000002-state"]}
BASE = {"pretrained_model_name_or_path": "/m/base.safetensors"}
LOCKED = {"paths": {"/o": {"kind": "folder", "writable": False}}}
IMAGES = {"dataset": {"images": 100, "repeats": 10}}

FIRES = [
    ("output-exists", "danger", SDXL, NAME, THERE, None),
    ("output-exists", "hint", SDXL, {**NAME, "resume": "/o/mira-000001-state"}, THERE, None),
    ("output-exists", "danger", SDXL, {}, {"existing_outputs": ["last.safetensors"]}, None),
    ("output-name", "stop", SDXL, {"output_name": "mira/v1"}, {}, None),
    ("output-name", "stop", SDXL, {"output_name": "mira: v1?"}, {"os": "windows"}, None),
    ("output-writable", "stop", SDXL, {"output_dir": "/o"}, LOCKED, ()),
    ("save-format", "warning", FULL, BASE, {}, None),
    ("save-format", "warning", TI, BASE, {}, None),
    ("save-format", "hint", SDXL, {"save_model_as": "ckpt"}, {}, None),
    ("save-last", "warning", SDXL, {"save_last_n_epochs": 2, "save_last_n_epochs_state": 1}, {}, None),
    ("save-last", "warning", SDXL, {"save_last_n_steps": 100, "save_every_n_epochs": 1}, {}, None),
    ("save-state", "warning", SDXL, {"save_state": True}, {}, None),
    ("save-cadence", "hint", SDXL, {"max_train_steps": 1500}, {}, None),
    ("save-cadence", "hint", SDXL, {"max_train_epochs": 2}, IMAGES, None),
]


@pytest.mark.parametrize(("identity", "severity", "script", "arguments", "facts", "fixes"), FIRES)
def test_that_the_rule_fires_and_its_fixes_mend(identity, severity, script, arguments, facts, fixes) -> None:
    view = make_view(make_plan(arguments), script, **facts)
    assert [finding.severity for finding in findings(identity, view)] == [severity]
    assert_fixes_mend(identity, view, fixes)


SILENT = [
    ("output-exists", SDXL, {"output_name": "mir"}, THERE),
    ("output-exists", SDXL, NAME, {}),
    ("output-name", SDXL, {"output_name": "mira: v1?"}, {"os": "linux"}),
    ("output-name", SDXL, {}, {}),
    ("output-writable", SDXL, {"output_dir": "/o"}, {"paths": {"/o": {"kind": "missing", "writable": True}}}),
    ("output-writable", SDXL, {"output_dir": "/o"}, {}),
    ("save-format", FULL, {**BASE, "use_safetensors": True}, {}),
    ("save-format", FULL, {"pretrained_model_name_or_path": "org/name"}, {}),
    ("save-format", FULL, {"save_model_as": "diffusers"}, {}),
    ("save-format", "flux_train.py", BASE, {}),
    ("save-format", SDXL, BASE, {}),
    ("save-last", SDXL, {"save_last_n_epochs": 2, "save_every_n_epochs": 1}, {}),
    ("save-last", SDXL, {"save_last_n_epochs": 2, "save_n_epoch_ratio": 4}, {}),
    ("save-state", SDXL, {"save_state": True, "save_every_n_steps": 100}, {}),
    ("save-state", SDXL, {}, {}),
    ("save-cadence", SDXL, {"max_train_steps": 1500, "save_every_n_epochs": 1}, {}),
    ("save-cadence", SDXL, {"max_train_steps": 200}, {}),
    ("save-cadence", SDXL, {"max_train_epochs": 10}, {}),
]


@pytest.mark.parametrize(("identity", "script", "arguments", "facts"), SILENT)
def test_that_the_rule_keeps_silent(identity, script, arguments, facts) -> None:
    assert not findings(identity, make_view(make_plan(arguments), script, **facts))


@pytest.mark.parametrize(
    ("name", "base", "written"),
    [
        ("mira.safetensors", "mira", True),
        ("mira-000012.safetensors", "mira", True),
        ("mira-step00000500.ckpt", "mira", True),
        ("mira-state", "mira", True),
        ("mira-step00000500-state", "mira", True),
        ("mira-000012", "mira", True),
        ("mira-2.safetensors", "mira", False),
        ("mira.txt", "mira", False),
        ("amira.safetensors", "mira", False),
        ("m.x.safetensors", "m.x", True),
        ("mxx.safetensors", "m.x", False),
        ("last.safetensors", None, True),
        ("epoch-000001.safetensors", None, True),
        ("at-step00000001-state", None, True),
        ("mira.safetensors", None, False),
    ],
)
def test_that_names_which_a_run_writes_are_known(name, base, written) -> None:
    assert is_written_by(name, base) is written
