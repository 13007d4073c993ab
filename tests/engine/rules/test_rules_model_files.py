"""Model files: broken, dangerous, in the wrong place, of the wrong family."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from model_headers import shapes_of, write_model
from table import assert_fixes_mend, findings, make_plan, make_view

from gui.engine.plan.changes import apply_changes
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.check import Checker
from gui.engine.preflight.collect import Collector
from gui.engine.preflight.facts import Facts
from gui.engine.preflight.model_facts import ModelLooker
from gui.engine.trainer.catalogue import Catalogue

SDXL, SD, FLUX = "sdxl_train_network.py", "train_network.py", "flux_train_network.py"
SD3, LUMINA, ANIMA = "sd3_train_network.py", "lumina_train_network.py", "anima_train_network.py"
BASE = "pretrained_model_name_or_path"
FOLDER = {"/m": {"kind": "folder"}}
FILE = {"/m": {"kind": "file"}}


def fact(argument: str = BASE, path: str = "/m.safetensors", **more) -> dict:
    return {"argument": argument, "path": path, "title": "something", **more}


def view(script: str, *models: dict, arguments: dict | None = None, paths: dict | None = None, **facts):
    """Return a plan that names the files, with what is known about them."""
    named = {}
    for model in models:
        value = model["path"]
        named[model["argument"]] = [value] if model["argument"] == "base_weights" else value
    family = {SDXL: "sdxl", SD: "sd15", FLUX: "flux1", SD3: "sd3", LUMINA: "lumina2", ANIMA: "anima"}
    plan = make_plan(named | (arguments or {}), family=family.get(script, "flux1"))
    return make_view(plan, script, model=list(models), paths=paths or {}, **facts)


def test_that_a_folder_holds_its_vae_in_diffusers_layout() -> None:
    vae = fact("vae", path="/m", kind="vae", variant="sd", layout="diffusers")
    assert not findings("vae-file", view(SDXL, vae, paths=FOLDER))
    assert findings("vae-file", view(SDXL, vae, paths=FILE))


@pytest.mark.parametrize(
    ("script", "argument", "path", "fires"),
    [
        (SD, BASE, "/m.ckpt", True),
        (SD, BASE, "/m.SAFETENSORS", False),
        (FLUX, BASE, "/m.sft", False),
        (FLUX, "network_weights", "/m.pt", True),
        (SD, "network_weights", "/m.safetensors", False),
    ],
)
def test_that_the_ending_must_fit_where_the_trainer_goes_by_it(script, argument, path, fires) -> None:
    known = {path: {"kind": "file"}}
    seen = view(script, fact(argument, path=path, loads=True, complete=True), paths=known)
    assert [f.severity for f in findings("model-ending", seen)] == (["stop"] if fires else [])


def test_that_swapped_text_encoders_can_be_swapped_back() -> None:
    seen = view(FLUX, fact("clip_l", path="/t5", kind="t5xxl"), fact("t5xxl", path="/clip", kind="clip-l"))
    first, _second = findings("te-files", seen)
    (fix,) = first.fixes
    plan = apply_changes(seen.plan, fix.changes)
    assert (plan.arguments["clip_l"], plan.arguments["t5xxl"]) == ("/clip", "/t5")
    right = view(FLUX, fact("clip_l", path="/clip", kind="clip-l"), fact("t5xxl", path="/t5", kind="t5xxl"))
    assert not findings("te-files", right)


E5M2 = {"dtypes": {"F8_E5M2": 9}}


@pytest.mark.parametrize(
    ("script", "models", "arguments", "count"),
    [
        (FLUX, [fact(**E5M2), fact("t5xxl", **E5M2)], {"fp8_base": True}, 2),
        (FLUX, [fact(**E5M2), fact("t5xxl", **E5M2)], {"fp8_base": True, "fp8_base_unet": True}, 1),
        (FLUX, [fact(**E5M2)], {}, 0),
        (FLUX, [fact(dtypes={"F8_E4M3": 9})], {"fp8_base": True}, 0),
        (FLUX, [fact(dtypes={"BF16": 9})], {"fp8_base": True}, 0),
        (SDXL, [fact(**E5M2)], {"fp8_base": True}, 0),
    ],
)
def test_that_fp8_base_takes_one_kind_of_fp8(script, models, arguments, count) -> None:
    seen = view(script, *models, arguments=arguments)
    assert [f.severity for f in findings("fp8-kind", seen)] == ["stop"] * count
    if count:
        assert_fixes_mend("fp8-kind", seen)


@pytest.mark.parametrize(("torch", "fires"), [("2.3.1", True), ("2.6.0", False), (None, False)])
def test_that_fp8_files_want_a_newer_torch(torch, fires) -> None:
    seen = view(FLUX, fact(dtypes={"F8_E4M3": 9}), arguments={"fp8_base": True}, trainer={"torch": torch})
    assert bool(findings("fp8-torch", seen)) is fires
    assert not findings("fp8-file", seen)


def test_that_the_practice_trainer_takes_any_file() -> None:
    models = [fact(kind="network"), fact("vae", kind="t5xxl"), fact("network_weights", kind="vae")]
    seen = view(SDXL, *models, trainer={"practice": True})
    for identity in ("model-kind", "vae-file", "network-file", "te-files", "flux-ae", "flux-fp8file"):
        assert not findings(identity, seen)


@pytest.mark.parametrize(
    ("model", "arguments", "severity"),
    [
        ({"prediction": "v"}, {}, "warning"),
        ({"prediction": "v"}, {"v_parameterization": True}, None),
        ({"prediction": "epsilon"}, {"v_parameterization": True}, "warning"),
        ({"prediction": "epsilon", "path": "/my_vpred.safetensors"}, {}, None),
        ({}, {"v_parameterization": True}, "hint"),
    ],
)
def test_that_v_prediction_follows_what_the_file_says(model, arguments, severity) -> None:
    seen = view(SDXL, fact(**{"kind": "checkpoint", "family": "sdxl"} | model), arguments=arguments)
    assert [f.severity for f in findings("vpred", seen)] == ([severity] if severity else [])
    if severity:
        assert_fixes_mend("vpred", seen)


def test_that_the_fix_trains_down_to_full_noise_where_the_file_was() -> None:
    seen = view(SDXL, fact(kind="checkpoint", family="sdxl", prediction="v", zero_terminal_snr=True))
    ((fix,),) = (found.fixes for found in findings("vpred", seen))
    assert (fix.changes, fix.safe) == ({"v_parameterization": True, "zero_terminal_snr": True}, True)


def checked(base: Path, plan: TrainingPlan) -> dict[str, str]:
    check = Checker(base, Catalogue.bundled(), Facts(), collector=Collector())
    return {found.id: found.severity for found in check.findings(plan)}


def test_that_real_files_are_found_out(tmp_path: Path) -> None:
    write_model(tmp_path / "xl.safetensors", shapes_of("sdxl-checkpoint"), dtype="F16")
    write_model(tmp_path / "lora.safetensors", shapes_of("lora-flux"))
    write_model(tmp_path / "cut.safetensors", shapes_of("vae-ldm"), less=5)
    plan = make_plan(
        {BASE: "xl.safetensors", "network_weights": "lora.safetensors", "vae": "cut.safetensors"},
        family="sd15",
    )
    found = checked(tmp_path, plan)
    assert {found[identity] for identity in ("family", "network-file", "st-header")} == {"stop"}
    right = make_plan({BASE: "xl.safetensors"}, family="sdxl")
    assert not {"family", "model-kind", "st-header", "pickle"} & checked(tmp_path, right).keys()


def test_that_a_file_is_looked_at_again_only_when_it_has_changed(tmp_path: Path, monkeypatch) -> None:
    path = write_model(tmp_path / "m.safetensors", shapes_of("flux-ae"))
    plan = make_plan(
        {"ae": str(path), "vae": "owner/name", BASE: str(tmp_path / "none"), "base_weights": [3]}
    )
    looker = ModelLooker()
    (first,) = looker.facts(plan)
    assert (first.argument, first.kind, first.dtype) == ("ae", "vae", "BF16")
    monkeypatch.setattr("gui.engine.preflight.model_facts.model_kind", None)
    assert looker.facts(plan) == (first,)
    monkeypatch.undo()
    write_model(path, shapes_of("flux-ae"), less=1)
    assert looker.facts(plan)[0].complete is False


def test_that_a_folder_is_looked_at_again_when_something_in_it_has_changed(tmp_path: Path) -> None:
    plan, looker = make_plan({BASE: str(tmp_path)}), ModelLooker()
    (tmp_path / "unet").mkdir()
    (tmp_path / "unet" / "config.json").write_text('{"cross_attention_dim": 768}', "utf-8")
    (empty,) = looker.facts(plan)
    write_model(tmp_path / "unet" / "model.safetensors", {"conv_in.weight": (4, 4)})
    os.utime(tmp_path / "unet", (2e9, 2e9))  # some disks count in whole seconds
    (full,) = looker.facts(plan)
    assert (empty.family, full.family) == (None, "sd15")


def test_that_what_may_not_be_read_is_unknown_and_the_memory_is_bounded(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("gui.engine.preflight.model_facts.KEPT", 1)
    looker = ModelLooker()
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "b").write_bytes(b"y")
    plan = make_plan({"ae": str(tmp_path / "a"), "vae": str(tmp_path / "b"), "clip_l": "/a\0b"})
    assert [known.kind for known in looker.facts(plan)] == [None, None]

    def refuse(path: Path) -> None:
        from gui.engine.errors import CannotRead

        raise CannotRead(path, "no")

    monkeypatch.setattr("gui.engine.preflight.model_facts.model_kind", refuse)
    assert ModelLooker().facts(plan) == ()
