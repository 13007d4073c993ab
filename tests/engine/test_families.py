"""Families are data, judged when they are read, and true of the trainer's own parsers."""

import shutil
from pathlib import Path

import pytest

from gui.engine.errors import CannotRead, PlanNotRunnable, UnknownFamily
from gui.engine.plan.families import families, family, script_for
from gui.engine.plan.model import TrainingPlan
from gui.engine.resources import resource_path
from gui.engine.trainer.catalogue import Catalogue

ALL = list(families().values())


@pytest.fixture(scope="module")
def catalogue():
    return Catalogue.bundled()


def test_that_the_first_families_are_there_in_order():
    assert [name for name in families() if name in ("sd15", "sdxl", "flux1")] == ["sd15", "sdxl", "flux1"]


@pytest.mark.parametrize("kin", ALL, ids=lambda kin: kin.name)
def test_that_every_argument_exists_in_the_scripts(kin, catalogue):
    for name, kind in kin.kinds.items():
        known = catalogue.script(kind.script).arguments
        wanted = {*kind.needs, *kind.arguments, *kin.arguments}
        wanted |= {file.argument for file in kin.files if not file.kinds or name in file.kinds}
        assert wanted <= known.keys(), name


@pytest.mark.parametrize("kin", ALL, ids=lambda kin: kin.name)
def test_that_what_cannot_be_done_is_absent_or_there_as_said(kin, catalogue):
    for entry in kin.cannot:
        for name in entry.arguments:
            kinds = [kind for key, kind in kin.kinds.items() if not entry.kinds or key in entry.kinds]
            there = [name in catalogue.script(kind.script).arguments for kind in kinds]
            assert not any(there) if entry.effect == "absent" else any(there), (name, entry.effect)


@pytest.mark.parametrize("kin", ALL, ids=lambda kin: kin.name)
def test_that_figures_make_sense(kin):
    width, height = kin.resolution.default_px
    assert kin.resolution.smallest_px <= min(width, height)
    assert max(width, height) <= kin.resolution.largest_px
    for kind in kin.kinds.values():
        assert width % kind.bucket_step_px == 0
    assert kin.precision.best not in [avoided.value for avoided in kin.precision.avoid]
    assert kin.sources


def test_that_every_sentence_of_a_family_reaches_the_translators():
    from translations import collect

    catalog = collect()
    for kin in ALL:
        sentences = [kin.title, kin.captions.note, *(file.title for file in kin.files)]
        sentences += [file.note for file in kin.files] + [entry.reason for entry in kin.cannot]
        sentences += [avoided.reason for avoided in kin.precision.avoid]
        missing = [sentence for sentence in sentences if sentence and sentence not in catalog]
        assert missing == []


def test_that_needed_files_depend_on_the_kind():
    assert [file.argument for file in family("flux1").needed_files("lora")] == [
        "pretrained_model_name_or_path",
        "clip_l",
        "t5xxl",
        "ae",
    ]


def test_that_the_script_follows_from_family_and_kind():
    assert script_for(TrainingPlan(family="sdxl")) == "sdxl_train_network.py"
    assert script_for(TrainingPlan(family="sd15", kind="dreambooth")) == "train_db.py"
    assert script_for(TrainingPlan(script="my_train")) == "my_train.py"


@pytest.mark.parametrize(
    ("plan", "kind"),
    [
        (TrainingPlan(), "family-unknown"),
        (TrainingPlan(family="sd9"), "family-unknown"),
        (TrainingPlan(family="sdxl", kind="voice"), "kind-unknown"),
    ],
)
def test_that_an_unknown_family_or_kind_is_a_finding(plan, kind):
    with pytest.raises(PlanNotRunnable) as caught:
        script_for(plan)
    (finding,) = caught.value.findings
    assert finding.id == kind
    assert "sd" in finding.detail or "lora" in finding.detail


def test_that_an_unknown_family_names_the_known_ones():
    with pytest.raises(UnknownFamily, match=r"“sd9”.*sdxl"):
        family("sd9")


# --- files of other families --------------------


def put(folder: Path, name: str, text: str) -> None:
    (folder / f"{name}.yaml").write_text(text, "utf-8")


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(resource_path("families"), tmp_path / "families")
    return tmp_path / "families"


def test_that_a_descendant_takes_over_what_it_does_not_say(folder):
    put(
        folder,
        "pony",
        "{schema: 1, name: pony, title: Pony, extends: sdxl, order: 21, arguments: {v2: false}}",
    )
    put(
        folder,
        "colt",
        "{schema: 1, name: colt, title: Colt, extends: pony, order: 22, arguments: {no_half_vae: true}}",
    )
    known = families(folder)
    assert known["pony"].kinds == known["sdxl"].kinds
    assert known["colt"].arguments == {"v2": False, "no_half_vae": True}
    assert list(known).index("pony") == list(known).index("sdxl") + 1


CHROMA = """
schema: 1
name: chroma
title: Chroma
extends: flux1
kinds:
  lora:
    script: flux_train_network.py
    network_modules: [networks.lora_flux]
    bucket_step_px: 64
    needs: [network_module]
arguments: {model_type: chroma, apply_t5_attn_mask: true, guidance_scale: 0.0}
files:
  - {argument: pretrained_model_name_or_path, title: Transformer, required: true}
  - {argument: t5xxl, title: T5-XXL, required: true}
  - {argument: ae, title: Autoencoder, required: true}
cannot: []
"""

SD3 = """
schema: 1
name: sd3
title: Stable Diffusion 3.5
kinds:
  lora: {script: sd3_train_network.py, network_modules: [networks.lora_sd3], bucket_step_px: 32}
  full: {script: sd3_train.py, bucket_step_px: 8}
files:
  - {argument: pretrained_model_name_or_path, title: Checkpoint, required: true}
  - {argument: clip_l, title: CLIP-L, together_with: [clip_g, t5xxl]}
  - {argument: clip_g, title: CLIP-G, together_with: [clip_l, t5xxl]}
  - {argument: t5xxl, title: T5-XXL, together_with: [clip_l, clip_g]}
resolution: {default_px: [1024, 1024], smallest_px: 512, largest_px: 1536}
captions: {style: natural, tokens: 256}
precision: {best: bf16}
limits: {blocks_to_swap: 36}
"""


def test_that_the_shape_carries_families_of_other_kinds(folder):
    put(folder, "chroma", CHROMA)
    put(folder, "sd3", SD3)
    known = families(folder)
    assert known["chroma"].limits.blocks_to_swap == 35
    assert [file.argument for file in known["chroma"].files if file.required][1:] == ["t5xxl", "ae"]
    assert known["sd3"].files[1].together_with == ("clip_g", "t5xxl")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "YAML"),
        ("- 1", "no family"),
        ("{schema: 1, name: other, title: X, extends: sdxl}", "name must be that of the file"),
        ("{schema: 1, name: bad, title: X, extends: nobody}", "nobody"),
        ("{schema: 1, name: bad, title: X, extends: bad}", "bad"),
        ("{schema: 2, name: bad, title: X, extends: sdxl}", "schema"),
        ("{schema: 1, name: bad, title: X, extends: sdxl, wings: 2}", "wings"),
        (
            "{schema: 1, name: bad, title: X, extends: sdxl, kinds: {x: {script: a.py, bucket_step_px: 8}}}",
            "kinds that the family does not have",
        ),
    ],
)
def test_that_a_bad_family_file_is_named(folder, text, said):
    put(folder, "bad", text)
    with pytest.raises(CannotRead, match=r"bad\.yaml") as caught:
        families(folder)
    assert said in str(caught.value)
