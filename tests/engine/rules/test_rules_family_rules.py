"""The family: what it cannot do, and whether the base model is of it."""

import pytest
from table import CATALOGUE, assert_fixes_mend, findings, make_plan, make_view

from gui.engine.plan.changes import apply_changes
from gui.engine.plan.families import script_for
from gui.engine.preflight.view import View

SDXL, SD15, FLUX = "sdxl_train_network.py", "train_network.py", "flux_train_network.py"
MODEL = "pretrained_model_name_or_path"
NOOB = {MODEL: "/models/noobaiXL_vpred.safetensors"}
GTX = {"gpu": [{"name": "NVIDIA GeForce GTX 1660 SUPER"}]}


def known(family: str) -> dict:
    return {"model": [{"argument": MODEL, "family": family}]}


FIRES = [
    ("family-cannot", "stop", SDXL, {"v2": True}, {}, "sdxl"),
    ("family-cannot", "stop", FLUX, {"weighted_captions": True}, {}, "flux1"),
    ("family-cannot", "stop", "hunyuan_image_train_network.py", {"weighted_captions": True}, {}, ""),
    ("no-effect", "hint", SDXL, {"clip_skip": 2}, {}, ""),
    ("no-effect", "hint", FLUX, {"noise_offset": 0.05, "min_snr_gamma": 5}, {}, ""),
    ("no-effect", "hint", "lumina_train.py", {"blocks_to_swap": 4}, {}, "lumina2"),
    ("no-effect", "hint", "train_db.py", {"full_bf16": True}, {}, "sd15"),
    ("vpred", "warning", SDXL, NOOB, {}, ""),
    ("vpred", "warning", SDXL, {MODEL: "/models/x.safetensors"}, known("noobai-vpred"), "sdxl"),
    (
        "vpred",
        "hint",
        SDXL,
        {MODEL: "/models/x.safetensors", "v_parameterization": True},
        known("sdxl"),
        "sdxl",
    ),
    ("v2", "stop", SD15, {}, known("sd2"), "sd15"),
    ("v2", "stop", "train_db.py", {"v2": True}, known("sd15"), "sd15"),
    ("gtx16", "warning", SD15, {"mixed_precision": "fp16"}, GTX, ""),
    ("t5-dtype", "warning", "sd3_train_network.py", {"t5xxl_dtype": "fp16"}, {}, "sd3"),
]


@pytest.mark.parametrize(("identity", "severity", "script", "arguments", "facts", "family"), FIRES)
def test_that_the_rule_fires_and_its_fixes_mend(identity, severity, script, arguments, facts, family) -> None:
    view = make_view(make_plan(arguments, family=family), script, **facts)
    assert [finding.severity for finding in findings(identity, view)] == [severity]
    assert_fixes_mend(identity, view)


SILENT = [
    ("family-cannot", SD15, {"v2": True}, {}, ""),
    ("family-cannot", SDXL, {"v2": False}, {}, ""),
    ("family-cannot", SDXL, {"cpu_offload_checkpointing": True}, {}, "sdxl"),
    ("family-cannot", "flux_train.py", {"weighted_captions": True}, {}, "flux1"),
    ("no-effect", SD15, {"clip_skip": 2}, {}, ""),
    ("no-effect", SDXL, {"noise_offset": 0.05}, {}, "pony"),
    ("no-effect", "lumina_train_network.py", {"blocks_to_swap": 4}, {}, "lumina2"),
    ("vpred", SDXL, {**NOOB, "v_parameterization": True}, {}, ""),
    ("vpred", SDXL, {MODEL: "/m.safetensors", "v_parameterization": True}, {}, "sdxl"),
    ("vpred", SDXL, {"v_parameterization": True}, known("sdxl"), "noobai-vpred"),
    ("vpred", FLUX, {MODEL: "/models/flux_vpred.safetensors"}, {}, ""),
    ("v2", SD15, {"v2": True}, known("sd2-v"), "sd2"),
    ("v2", SD15, {"v2": True}, {}, "sd2"),
    ("v2", SDXL, {"v2": True}, known("sdxl"), "sdxl"),
    ("gtx16", SD15, {"mixed_precision": "no"}, GTX, ""),
    ("gtx16", SD15, {"mixed_precision": "fp16"}, {"gpu": [{"name": "NVIDIA GeForce RTX 3060"}]}, ""),
    ("gtx16", SD15, {"mixed_precision": "fp16"}, {}, ""),
    ("t5-dtype", "sd3_train_network.py", {"t5xxl_dtype": "bf16"}, {}, "sd3"),
    ("family", SDXL, {}, known("sdxl"), "pony"),
    ("family", SD15, {}, known("sd2"), "sd15"),
    ("family", SDXL, {}, {}, "sdxl"),
    ("family", SDXL, {}, known("something new"), "sdxl"),
    ("family", FLUX, {"model_type": "chroma"}, known("chroma"), "chroma"),
]


@pytest.mark.parametrize(("identity", "script", "arguments", "facts", "family"), SILENT)
def test_that_the_rule_keeps_silent(identity, script, arguments, facts, family) -> None:
    assert not findings(identity, make_view(make_plan(arguments, family=family), script, **facts))


@pytest.mark.parametrize(
    ("family", "script", "arguments", "found"),
    [
        ("sd15", None, {}, "sdxl"),
        ("sdxl", None, {}, "sd15"),
        ("sd15", "train_network.py", {}, "flux1"),
        ("flux1", None, {}, "chroma"),
        ("chroma", None, {"model_type": "chroma"}, "flux1"),
    ],
)
def test_that_a_model_of_another_family_is_refused_and_the_plan_can_follow_it(
    family, script, arguments, found
) -> None:
    plan = make_plan(arguments, family=family, script=script)
    view = make_view(plan, script_for(plan), **known(found))
    (finding,) = findings("family", view)
    assert finding.severity == "stop"
    (fix,) = finding.fixes
    mended = apply_changes(plan, fix.changes)
    filled = mended.model_copy(
        update={"arguments": {"model_type": "chroma"} if found == "chroma" else mended.arguments}
    )
    name = script_for(mended)
    assert not findings("family", View(filled, view.facts, name, CATALOGUE.script(name)))


def test_that_a_kind_which_the_model_cannot_gets_no_offer() -> None:
    plan = make_plan({}, family="sd15", kind="textual_inversion")
    view = make_view(plan, "train_textual_inversion.py", **known("flux1"))
    (finding,) = findings("family", view)
    assert not finding.fixes


def test_that_a_preset_makes_changing_the_family_a_question() -> None:
    view = make_view(make_plan({}, family="sd15", presets=["sd15"]), SD15, **known("sd2"))
    (finding,) = findings("v2", view)
    assert not finding.fixes[0].safe
