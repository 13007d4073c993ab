"""What is exported imports back to the same plan, and what cannot be said in a form is told."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.errors import WrongUsage
from gui.engine.importers.exports import Exported, export_command, export_toml, exportable
from gui.engine.importers.kohya_export import export_kohya
from gui.engine.importers.reading import read_setup
from gui.engine.plan.dataset_toml import dataset_document
from gui.engine.plan.model import TrainingPlan
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.values import words_for

CATALOGUE = Catalogue.bundled()
PEERS = os.environ.get("KOHYA_PREFLIGHT_PEER_PRESETS")
FORMS = {
    "posix": ("plan.sh", lambda ready: export_command(ready, "posix")),
    "cmd": ("plan.bat", lambda ready: export_command(ready, "cmd")),
    "powershell": ("plan.ps1", lambda ready: export_command(ready, "powershell")),
    "toml": ("plan.toml", export_toml),
    "kohya": ("plan.json", lambda ready: export_kohya(ready, CATALOGUE)),
}


def export(plan: TrainingPlan, folder: Path, form: str) -> tuple[Exported, TrainingPlan]:
    """Export a plan into a folder and read it from there; return both with absolute paths."""
    name, made = FORMS[form]
    ready = exportable(plan, folder, folder / name, CATALOGUE)
    exported = made(ready)
    for beside, text in exported.beside.items():
        (folder / beside).write_text(text, "utf-8", newline="\n")
    (folder / name).write_text(exported.text, "utf-8", newline="\n")
    back = read_setup(folder / name, None, CATALOGUE).file
    again = exportable(back.plan, back.base, folder / name, CATALOGUE)
    return exported, again.plan


def words(plan: TrainingPlan) -> dict[str, Any]:
    """Return the arguments as the trainer's parser would read them."""
    rows = CATALOGUE.script(str(plan.script)).arguments
    given = {"optimizer_type": "AdamW", **plan.arguments}  # what the trainer takes where none is named
    spelled = {name: words_for(rows[name], value) for name, value in given.items() if name in rows}
    return {name: each for name, each in spelled.items() if getattr(each, "words", True)}


def said(plan: TrainingPlan, folder: Path) -> Any:
    """Return the dataset as the trainer would read it; switches that are off say nothing."""

    def lean(value: Any) -> Any:
        if isinstance(value, dict):
            told = {key: lean(child) for key, child in value.items() if child is not False}
            return {key: child for key, child in told.items() if child != {}}
        return [lean(child) for child in value] if isinstance(value, list) else value

    return lean(dataset_document(plan.dataset, folder))


TEXT = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=12).filter(
    lambda text: text.strip() == text
)
PLANS = st.builds(
    TrainingPlan,
    script=st.sampled_from(["train_network.py", "sdxl_train_network.py", "flux_train_network.py"]),
    arguments=st.fixed_dictionaries(
        {"network_module": st.sampled_from(["networks.lora", "lycoris.kohya", "my.own"])},
        optional={
            "network_dim": st.integers(1, 256),
            "network_alpha": st.floats(0.5, 64),
            "learning_rate": st.floats(1e-7, 1),
            "unet_lr": st.floats(1e-7, 1),
            "text_encoder_lr": st.lists(st.floats(1e-7, 1), min_size=1, max_size=2),
            "lr_warmup_steps": st.integers(1, 500) | st.floats(0.01, 0.9),
            "max_train_epochs": st.integers(1, 50),
            "seed": st.integers(1, 2**31),
            "cache_latents": st.just(True),
            "sdpa": st.just(True),
            "output_name": TEXT,
            "training_comment": TEXT,
            "mixed_precision": st.sampled_from(["bf16", "fp16"]),
            "optimizer_type": st.sampled_from(["AdamW8bit", "Prodigy"]),
            "optimizer_args": st.just(["weight_decay=0.1", "betas=0.9,0.99"]),
            "network_args": st.sampled_from([["algo=lokr", "factor=8"], ["conv_dim=4", "conv_alpha=1"]]),
            "noise_offset": st.floats(0.01, 0.1),
            "multires_noise_iterations": st.integers(1, 8),
            "max_grad_norm": st.floats(0, 2),
        },
    ),
    dataset=st.fixed_dictionaries(
        {},
        optional={
            "resolution": st.just([768, 512]),
            "batch_size": st.integers(1, 8),
            "shuffle_caption": st.booleans(),
            "subsets": st.just([{"image_dir": "images", "num_repeats": 3, "class_tokens": "mira"}]),
        },
    ),
    launch=st.fixed_dictionaries(
        {}, optional={"num_processes": st.integers(1, 4), "gpu_ids": st.just((0, 2))}
    ),
)


@pytest.mark.parametrize("form", FORMS)
@given(plan=PLANS)
def test_that_what_is_exported_imports_back(tmp_path_factory, form: str, plan: TrainingPlan) -> None:
    folder = tmp_path_factory.mktemp("export")
    try:
        exported, back = export(plan, folder, form)
    except WrongUsage:
        return  # a value that this shell cannot be given
    before = exportable(plan, folder, folder / "x", CATALOGUE).plan
    missed = {
        name for name in {**words(before), **words(back)} if words(before).get(name) != words(back).get(name)
    }
    assert all(any(note.startswith(f"{name} ") for note in exported.notes) for name in missed), missed
    if form != "kohya":
        assert not missed
    assert back.script == before.script
    assert said(back, folder) == said(before, folder)
    if form != "toml":
        assert back.launch == before.launch
    elif before.launch != back.launch:
        assert any("accelerate" in note for note in exported.notes)


@pytest.mark.skipif(
    not PEERS, reason="KOHYA_PREFLIGHT_PEER_PRESETS names no folder of presets of the kohya_ss GUI"
)
@pytest.mark.parametrize("form", FORMS)
def test_that_every_preset_of_the_gui_survives_the_way_out_and_back(tmp_path: Path, form: str) -> None:
    for file in sorted(Path(PEERS or "").rglob("*.json")):
        given = read_setup(file, None, CATALOGUE).file
        before = exportable(given.plan, given.base, tmp_path / "x", CATALOGUE).plan
        exported, back = export(before, tmp_path, form)
        assert words(back) == words(before), file.name
        assert (back.script, back.launch) == (before.script, before.launch)
        assert said(back, tmp_path) == said(before, tmp_path)
        assert exported.notes == ()


def test_that_folders_named_by_repeats_stay_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "train" / "5_mira").mkdir(parents=True)
    subset = {"image_dir": "train/5_mira", "num_repeats": 5, "class_tokens": "mira"}
    plan = TrainingPlan(family="sdxl", dataset={"subsets": [subset]}, launch={"env": {"HF_HOME": "a b's"}})
    for form in FORMS:
        exported, back = export(plan, tmp_path, form)
        assert back.dataset["subsets"][0]["num_repeats"] == 5
        assert bool(exported.beside) == (form == "toml")
        assert back.launch.env == ({} if form in ("toml", "kohya") else {"HF_HOME": "a b's"})


def test_that_nothing_is_said_of_what_the_plan_does_not_name(tmp_path: Path) -> None:
    arguments = {"network_module": "networks.lora", "output_dir": "out", "learning_rate": 1e-4}
    plan = TrainingPlan.model_validate(
        {"family": "sd15", "script": "train_network.py", "arguments": arguments}
    )
    ready = exportable(plan, tmp_path, tmp_path / "plan.json", CATALOGUE)
    exported = export_kohya(ready, CATALOGUE)
    assert exported.notes == ()
    (tmp_path / "plan.json").write_text(exported.text, "utf-8")
    assert not read_setup(tmp_path / "plan.json", None, CATALOGUE).file.notes


def test_that_tokens_and_unknown_arguments_do_not_leave(tmp_path: Path) -> None:
    arguments = {"huggingface_token": "secret-token", "my_own": 5, "seed": None, "cache_latents": "perhaps"}
    plan = TrainingPlan(
        family="sd15", arguments=arguments, launch={"dynamo_backend": "inductor", "num_machines": 2}
    )
    for form in FORMS:
        exported, back = export(plan, tmp_path, form)
        assert "secret-token" not in exported.text
        assert any(note.startswith("my_own ") for note in exported.notes)
        assert "seed" not in back.arguments
    assert json.loads(exported.text)["LoRA_type"] == "Standard"


def test_that_a_training_which_the_gui_does_not_have_is_said(tmp_path: Path) -> None:
    plan = TrainingPlan(script="train_control_net.py")
    with pytest.raises(WrongUsage, match=r"train_control_net\.py"):
        export(plan, tmp_path, "kohya")


@pytest.mark.parametrize(
    ("family", "kind", "arguments"),
    [
        ("sdxl", "full", {"in_json": "meta.json", "train_data_dir": "i", "learning_rate": 1e-5}),
        ("sd15", "dreambooth", {"learning_rate": 1e-6, "stop_text_encoder_training": 100}),
        ("sd15", "textual_inversion", {"token_string": "mira", "num_vectors_per_token": 4}),
        ("sdxl", "lora", {"network_module": "networks.lora", "network_train_unet_only": True}),
        ("flux1", "lora", {"network_module": "networks.lora_flux", "network_args": ["img_attn_dim=4"]}),
    ],
)
def test_that_other_kinds_of_training_go_to_the_gui(tmp_path: Path, family, kind, arguments) -> None:
    plan = TrainingPlan(family=family, kind=kind, arguments=arguments)
    exported, back = export(plan, tmp_path, "kohya")
    before = exportable(plan, tmp_path, tmp_path / "x", CATALOGUE).plan
    assert back.script == before.script
    missed = {name for name in words(before) if words(before)[name] != words(back).get(name)}
    if "in_json" in arguments:
        subset = {"image_dir": str(tmp_path / "i"), "metadata_file": str(tmp_path / "meta.json")}
        assert back.dataset == {"enable_bucket": True, "subsets": [subset]}
        missed -= {"in_json", "train_data_dir"}
    assert all(any(note.startswith(f"{name} ") for note in exported.notes) for name in missed)
