"""Presets compose to settings that the trainer takes, that no rule stops, and that say why."""

import itertools
from pathlib import Path

import pytest

from gui.engine.errors import UnknownFamily, UnknownPreset
from gui.engine.plan.families import families
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.plan.presets import Composition, compose
from gui.engine.preflight.check import Checker
from gui.engine.preflight.facts import DatasetFact, Facts, GpuFact, TrainerFact
from gui.engine.trainer.catalogue import Catalogue

LIBRARY = PresetLibrary()
FAMILIES = families()
BUNDLED = Catalogue.bundled()
PURPOSES, CAUTIONS = tuple(LIBRARY.on("purpose")), tuple(LIBRARY.on("caution"))
PACKAGES = dict.fromkeys(("bitsandbytes", "lycoris-lora", "tensorboard", "xformers"), "1")
MEMORY = (None, 6.0, 8.0, 12.0, 15.0, 24.0, 48.0, 80.0)
IMAGES = (8, 20, 50, 100, 400)


def composed(family, kind="lora", purpose="character", caution="safe", vram=None, **more) -> Composition:
    return compose(family, kind, purpose, caution, vram, library=LIBRARY, **more)


def values(*parts, **more) -> dict:
    composition = composed(*parts, **more)
    assert composition.impossible == ()
    return {target: value.value for target, value in composition.values.items()}


def whole_plan(composition: Composition):
    """A plan on these layers, with files and images as a user would add."""
    kin = FAMILIES[composition.family]
    arguments = {file.argument: "/models/x.safetensors" for file in kin.needed_files(composition.kind)}
    arguments |= {"output_dir": "/out", "output_name": "x"}
    subset = {"image_dir": "/images"}
    if composition.kind == "textual_inversion":
        arguments |= {"token_string": "mira", "init_word": "girl"}
    if kin.kinds[composition.kind].script == "fine_tune.py":
        subset["metadata_file"] = "/images/metadata.json"
    if composition.kind.startswith("controlnet"):
        subset["conditioning_data_dir"] = "/edges"
    return composition.plan().model_copy(update={"arguments": arguments, "dataset": {"subsets": [subset]}})


def machine(vram, capability, images, os="linux") -> Facts:
    """The machine that a composition is meant for."""
    gpu = GpuFact(name="GPU", vram_gib=vram, free_gib=vram and vram * 0.95, compute_capability=capability)
    return Facts(
        os=os,
        ram_gib=64.0,
        disk_free_gib=2000.0,
        gpu=(gpu,),
        trainer=TrainerFact(version="0.10.1", torch="2.6.0", cuda="12.4", packages=PACKAGES),
        dataset=DatasetFact(images=images, repeats=1) if images else None,
    )


def grave(composition: Composition, facts: Facts) -> list[tuple[str, str, str]]:
    checker = Checker(Path("/plans"), BUNDLED, facts, files_known=False)
    findings = checker.findings(whole_plan(composition))
    return [
        (finding.severity, finding.id, finding.title)
        for finding in findings
        if finding.severity in ("stop", "danger") or finding.id == "rule-failed"
    ]


def capability_of(text):
    return tuple(map(int, text.split("."))) if text else None


@pytest.mark.parametrize("family", FAMILIES)
def test_that_nothing_that_is_composed_is_stopped_on_its_machine(family):
    seen = set()
    for kind, purpose, caution, vram, capability in itertools.product(
        FAMILIES[family].kinds, PURPOSES, CAUTIONS, MEMORY, ("8.6", "7.5")
    ):
        given = (family, kind, purpose, caution, vram)
        composition = composed(*given, compute_capability=capability_of(capability))
        settings = repr((kind, vram, capability, composition.values))
        if not composition.impossible and settings not in seen:
            seen.add(settings)
            assert grave(composition, machine(vram, capability, None)) == [], given


@pytest.mark.parametrize("family", FAMILIES)
def test_that_no_size_of_the_dataset_changes_that(family):
    for kind, caution, images in itertools.product(FAMILIES[family].kinds, CAUTIONS, IMAGES):
        vram = 24.0
        composition = composed(family, kind, "style", caution, vram, images=images)
        if not composition.impossible:
            facts = machine(vram, "8.9", images, os="windows")
            assert grave(composition, facts) == [], (kind, caution, vram, images)


@pytest.mark.parametrize("family", FAMILIES)
def test_that_every_network_of_a_family_composes(family):
    for network, layer in LIBRARY.on("network").items():
        composition = composed(family, vram=24.0, network=network)
        modules = FAMILIES[family].kinds["lora"].network_modules
        assert bool(composition.impossible) == (layer.module not in modules)
        if not composition.impossible:
            assert composition.values["network_module"].value == layer.module
            assert grave(composition, machine(24.0, "8.6", None)) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_that_every_value_says_why_and_where_from(family):
    for kind, caution, vram in itertools.product(FAMILIES[family].kinds, CAUTIONS, (8.0, 24.0)):
        composition = composed(family, kind, "style", caution, vram, images=20)
        for target, value in composition.values.items():
            assert value.reason.endswith("."), target
            assert value.sources, target
            assert value.layer in LIBRARY.layers


def test_that_stable_first_for_stable_diffusion_1_5_is_the_reference_command():
    reference = {
        "network_dim": 16,
        "network_alpha": 16,
        "dataset.resolution": [512, 512],
        "dataset.enable_bucket": False,
        "dataset.batch_size": 2,
        "gradient_accumulation_steps": 4,
        "max_train_steps": 4000,
        "learning_rate": 1e-4,
        "unet_lr": 1e-4,
        "text_encoder_lr": 1e-5,
        "lr_scheduler": "cosine",
        "lr_warmup_steps": 200,
        "mixed_precision": "bf16",
        "clip_skip": 2,
        "max_grad_norm": 1.0,
        "save_every_n_steps": 500,
    }
    for purpose, vram, images in itertools.product(PURPOSES, (*MEMORY, 10.0), (None, *IMAGES)):
        found = values("sd15", "lora", purpose, "stable-first", vram, images=images)
        assert {target: found.get(target) for target in reference} == reference


@pytest.mark.parametrize(
    ("given", "options", "wanted"),
    [
        # T5: the usual rates
        (("sd15", "lora", "style", "standard"), {}, {"unet_lr": 3e-4, "text_encoder_lr": 1.5e-4}),
        (("sdxl", "lora", "style", "standard", 24), {}, {"unet_lr": 2e-4, "text_encoder_lr": 1e-4}),
        (("flux1", "lora", "style", "standard", 24), {}, {"unet_lr": 1e-4, "text_encoder_lr": 5e-5}),
        # N9, S3: the careful ones
        (("sd15", "lora", "style", "safe"), {}, {"unet_lr": 1e-4, "text_encoder_lr": 1e-5}),
        (("sdxl", "lora", "style", "safe", 24), {}, {"unet_lr": 8e-5, "text_encoder_lr": 8e-6}),
        (("flux1", "lora", "style", "safe", 24), {}, {"unet_lr": 1e-4, "network_train_unet_only": True}),
        # T4, S4: rank and alpha
        (("sd15", "lora", "character", "safe"), {}, {"network_dim": 32, "network_alpha": 16}),
        (("sd15", "lora", "style", "safe"), {}, {"network_dim": 16, "network_alpha": 8}),
        (("sd15", "lora", "character", "safe"), {"images": 8}, {"network_dim": 16, "network_alpha": 8}),
        # T6: rates follow the data
        (("sdxl", "lora", "style", "standard", 24), {"images": 20}, {"unet_lr": 1.2e-4}),
        (("sdxl", "lora", "style", "standard", 24), {"images": 100}, {"unet_lr": 2.4e-4}),
        (("sdxl", "lora", "style", "standard", 24), {"images": 50}, {"unet_lr": 2e-4}),
        # T7: steps
        (("flux1", "lora", "character", "safe", 24), {}, {"max_train_steps": 1000}),
        (("sdxl", "lora", "character", "safe", 24), {}, {"max_train_steps": 2000}),
        (("sdxl", "lora", "character", "safe", 24), {"images": 8}, {"max_train_steps": 1300}),
        # FLUX by memory
        (("flux1", "lora", "style", "safe", 48), {}, {"fp8_base": None, "blocks_to_swap": None}),
        (("flux1", "lora", "style", "safe", 24), {}, {"fp8_base": True, "blocks_to_swap": None}),
        (("flux1", "lora", "style", "safe", 12), {}, {"fp8_base": True, "blocks_to_swap": 20}),
        (("flux1", "lora", "style", "safe", 12), {}, {"guidance_scale": 1.0, "model_prediction_type": "raw"}),
        # number formats
        (("sdxl", "lora", "style", "safe", 24), {"compute_capability": (8, 0)}, {"mixed_precision": "bf16"}),
        (
            ("sdxl", "lora", "style", "safe", 24),
            {"compute_capability": (7, 5)},
            {"mixed_precision": "fp16", "save_precision": "fp16", "no_half_vae": True},
        ),
        (("sd2-v", "lora", "style", "safe", 24), {"compute_capability": (6, 1)}, {"mixed_precision": "no"}),
        (("flux1", "lora", "style", "safe", 24), {"compute_capability": (7, 5)}, {"mixed_precision": "bf16"}),
        # the trainer's defaults that would spoil it
        (("sdxl", "lora", "style", "safe", 24), {}, {"dataset.max_bucket_reso": 2048}),
        (("hunyuan-image", "lora", "style", "safe", 24), {}, {"dataset.resolution": [2048, 2048]}),
        (("sd15", "lora", "style", "safe"), {}, {"dataset.caption_extension": ".txt"}),
        (("sd15", "full", "style", "safe"), {}, {"dataset.caption_extension": None}),
        (("sd15", "textual_inversion", "style", "safe"), {}, {"save_model_as": "safetensors"}),
        (("pony", "lora", "style", "safe", 24), {}, {"dataset.shuffle_caption": True}),
        (("pony", "lora", "style", "safe", 8), {}, {"dataset.shuffle_caption": None}),
    ],
)
def test_that_composed_values_follow_the_guides(given, options, wanted):
    found = values(*given, **options)
    assert {target: found.get(target) for target in wanted} == wanted


@pytest.mark.parametrize("family", FAMILIES)
def test_that_less_memory_keeps_the_images_of_a_step(family):
    for caution, kind in itertools.product(CAUTIONS, ("lora", "textual_inversion")):
        if kind not in FAMILIES[family].kinds:
            continue
        sizes = set()
        for vram in MEMORY:
            composition = composed(family, kind, "style", caution, vram)
            if not composition.impossible:
                found = {target: value.value for target, value in composition.values.items()}
                sizes.add(found["dataset.batch_size"] * found["gradient_accumulation_steps"])
        assert len(sizes) == 1, (caution, kind)


def test_that_fp8_and_swapping_always_go_with_checkpointing():
    for family, vram in itertools.product(FAMILIES, MEMORY):
        for kind in FAMILIES[family].kinds:
            composition = composed(family, kind, vram=vram)
            found = composition.values
            if {"fp8_base", "fp8_scaled", "blocks_to_swap"} & found.keys():
                assert found["gradient_checkpointing"].value is True


def test_that_swapped_blocks_stay_below_the_family_limit():
    for family, vram in itertools.product(FAMILIES, MEMORY):
        for kind in FAMILIES[family].kinds:
            swapped = composed(family, kind, vram=vram).values.get("blocks_to_swap")
            assert swapped is None or swapped.value <= FAMILIES[family].limits.blocks_to_swap


@pytest.mark.parametrize(
    ("reported", "layer"),
    [
        (5.79, "6gib"),
        (7.996, "8gib"),
        (10.9, "8gib"),
        (11.99, "12gib"),
        (14.75, "16gib"),
        (22.49, "24gib"),
        (31.8, "24gib"),
        (44.99, "48gib"),
        (79.6, "80gib"),
        (141.0, "80gib"),
    ],
)
def test_that_cards_are_known_by_what_they_report(reported, layer):
    assert layer in composed("sd15", vram=reported).layers


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("flux1", "full", "style", "safe", 8.0), ["not possible", "16 GB", "blocks_to_swap 26", "lora"]),
        (("sdxl", "full", "style", "safe", 8.0), ["not possible", "12 GB", "full_bf16", "lora"]),
        (("flux1", "lora", "style", "safe", 6.0), ["not possible", "8 GB", "fp8_base"]),
        (("sd15", "lora", "style", "safe", 3.9), ["3.9 GB", "6 GB"]),
        (("chroma", "full", "style", "safe", 80.0), ["would build FLUX", "Possible are: lora"]),
        (("sd3", "textual_inversion", "style", "safe"), ["text encoders of Stable Diffusion", "lora, full"]),
        (("sd15", "voice", "style", "safe"), ["voice", "dreambooth"]),
    ],
)
def test_that_what_cannot_be_done_says_why_and_what_could(given, said):
    composition = composed(*given)
    assert composition.values == {}
    text = " ".join(composition.impossible)
    assert [word for word in said if word not in text] == []


def test_that_older_gpus_have_limits_of_their_own():
    given = ("sdxl", "full", "style", "safe", 24.0)
    assert not composed(*given, compute_capability=(8, 6)).impossible
    old = composed(*given, compute_capability=(7, 0))
    assert "48 GB would be enough" in " ".join(old.impossible)
    notes = composed("flux1", vram=24.0, compute_capability=(7, 5)).notes
    assert any("emulated" in note for note in notes)


def test_that_a_network_has_no_place_where_none_is_trained():
    composition = composed("sd15", "full", vram=24.0, network="lycoris-locon")
    assert "trains no network" in composition.impossible[0]
    assert "networks.lora_flux" in " ".join(composed("flux1", vram=24.0, network="dylora").impossible)


def test_that_repeats_are_kept_in_the_plan():
    composition = composed("sd15", vram=8.0, images=20, repeats=10)
    assert composition.values["dataset.num_repeats"].value == 10
    assert composition.plan("mira").dataset == {"num_repeats": 10}


def test_that_a_new_plan_names_its_layers():
    plan = composed("sdxl", "lora", "style", "safe", 12.0, images=20).plan("mira")
    assert plan.presets == ("sdxl", "style", "safe", "12gib", "15-25-images")
    assert (plan.name, plan.family, plan.kind, plan.arguments) == ("mira", "sdxl", "lora", {})


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (("sd9",), UnknownFamily),
        (("sd15", "lora", "opera"), UnknownPreset),
        (("sd15", "lora", "style", "reckless"), UnknownPreset),
        (("sd15", "lora", "safe", "style"), UnknownPreset),
    ],
)
def test_that_unknown_names_are_refused(given, error):
    with pytest.raises(error, match=given[-1]):
        composed(*given)


def test_that_an_unknown_network_is_refused():
    with pytest.raises(UnknownPreset, match="dylora"):
        composed("sd15", network="safe")


def test_that_every_family_has_a_layer_and_every_layer_a_title():
    for name in FAMILIES:
        assert LIBRARY.layers[name].axis == "family"
        assert LIBRARY.layers[name].families == (name,) or name in LIBRARY.layers[name].families
    for name, layer in LIBRARY.layers.items():
        assert layer.title, name
        assert set(layer.layers) <= LIBRARY.layers.keys()


def test_that_conditions_name_families_kinds_and_layers_that_exist():
    kinds = {kind for kin in FAMILIES.values() for kind in kin.kinds}
    for name, layer in LIBRARY.layers.items():
        for entry in (*layer.values, *layer.notes, *layer.least_memory):
            when = entry.when
            assert {*when.families, *when.not_families} <= FAMILIES.keys(), name
            assert {*when.kinds, *when.not_kinds} <= kinds, name
            assert {*when.layers, *when.not_layers} <= LIBRARY.layers.keys(), name


def test_that_every_sentence_of_the_presets_reaches_the_translators():
    from translations import collect

    catalog = collect()
    for layer in LIBRARY.layers.values():
        sentences = [layer.title, layer.description, *(entry.reason for entry in layer.values)]
        sentences += [entry.note for entry in layer.notes] + [entry.reason for entry in layer.least_memory]
        assert [sentence for sentence in sentences if sentence and sentence not in catalog] == []


def test_that_a_composition_speaks_the_users_language(pseudo_language):
    composition = composed("flux1", "full", vram=8.0)
    assert "not possible" not in composition.impossible[0]
    assert composed("sd15").values["seed"].reason != "A fixed seed makes runs comparable."
