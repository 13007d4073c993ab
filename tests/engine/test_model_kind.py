"""What a model file is, is told from its header as the trainer's own loaders would take it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_headers import HEADERS, header_of, shapes_of, write_model
from pydantic import ValidationError

from gui.engine.errors import CannotRead
from gui.engine.plan.families import families
from gui.engine.resources import resources_root
from gui.engine.trainer.model_kind import ModelKind, kind_of_header
from gui.engine.trainer.model_look import LARGEST_HEADER_BYTES, model_kind
from gui.engine.trainer.model_signatures import Signature, model_signatures

KINDS = [
    ("anima", "denoiser", "anima", None),
    ("byt5", "byt5", None, None),
    ("chroma", "denoiser", "chroma", None),
    ("clip-g", "clip-g", None, None),
    ("clip-l", "clip-l", None, None),
    ("flux-ae", "vae", None, "flux"),
    ("flux-controlnet", "controlnet", "flux1", None),
    ("flux-dev", "denoiser", "flux1", "dev"),
    ("flux-dev-diffusers", "denoiser", "flux1", "dev"),
    ("flux-schnell", "denoiser", "flux1-schnell", "schnell"),
    ("gemma2", "gemma2", None, None),
    ("hunyuan-image", "denoiser", "hunyuan-image", None),
    ("hunyuan-vae", "vae", None, "hunyuan"),
    ("lllite-sdxl", "lllite", "sdxl", None),
    ("locon-sdxl", "network", "sdxl", None),
    ("lora-anima", "network", "anima", None),
    ("lora-chroma", "network", None, None),  # FLUX.1 without its modulation has the same names
    ("lora-flux", "network", "flux1", None),
    ("lora-hunyuan-image", "network", "hunyuan-image", None),
    ("lora-lumina2", "network", "lumina2", None),
    ("lora-sd15", "network", "sd15", None),
    ("lora-sd2", "network", "sd2", None),
    ("lora-sd3-medium", "network", "sd3", None),
    ("lora-sd35-large", "network", "sd35-large", None),
    ("lora-sd35-medium", "network", "sd35-medium", None),
    ("lora-sdxl", "network", "sdxl", None),
    ("lumina2", "denoiser", "lumina2", None),
    ("oft-flux", "network", None, None),
    ("oft-sdxl", "network", "sdxl", None),
    ("qwen-image-vae", "vae", None, "qwen-image"),
    ("qwen25-vl", "qwen2.5-vl", None, None),
    ("qwen3", "qwen3", None, None),
    ("sd15-checkpoint", "checkpoint", "sd15", None),
    ("sd15-unet-diffusers", "denoiser", "sd15", None),
    ("sd2-checkpoint", "checkpoint", "sd2", None),
    ("sd2-unet-diffusers", "denoiser", "sd2", None),
    ("sd3-medium", "denoiser", "sd3", "medium"),
    ("sd35-large", "denoiser", "sd35-large", "large"),
    ("sd35-medium", "denoiser", "sd35-medium", "medium"),
    ("sdxl-checkpoint", "checkpoint", "sdxl", None),
    ("sdxl-controlnet", "controlnet", "sdxl", None),
    ("sdxl-unet-diffusers", "denoiser", "sdxl", None),
    ("t5xxl", "t5xxl", None, None),
    ("vae-diffusers", "vae", None, "sd"),
    ("vae-ldm", "vae", None, "sd"),
]


@pytest.mark.parametrize(("name", "kind", "family", "variant"), KINDS)
def test_that_each_model_of_the_trainer_is_told(name, kind, family, variant) -> None:
    found = kind_of_header(header_of(shapes_of(name)))
    assert (found.kind, found.family, found.variant) == (kind, family, variant)
    assert found.title in found.sentence
    assert found.dtypes == {"BF16": len(shapes_of(name))}


def test_that_every_header_is_asked_about() -> None:
    assert {name for name, *_rest in KINDS} == {file.stem for file in HEADERS.glob("*.txt")}


def test_that_the_table_names_no_family_that_does_not_exist() -> None:
    table = model_signatures()
    rows = (*table.parts, *table.network_bases, *table.descendants, *table.folders, *table.unet_widths)
    assert {row.family for row in rows} - {None} <= families().keys()


@pytest.mark.parametrize(
    ("name", "prefix", "family"),
    [
        ("flux-dev", "model.diffusion_model.", "flux1"),
        ("lumina2", "model.diffusion_model.", "lumina2"),
        ("chroma", "model.diffusion_model.", "chroma"),
    ],
)
def test_that_the_prefixes_which_the_trainer_takes_off_do_not_matter(name, prefix, family) -> None:
    assert kind_of_header(header_of(shapes_of(name, prefix))).family == family


def test_that_anima_is_told_without_the_word_before_its_names() -> None:
    shapes = {name.removeprefix("net."): shape for name, shape in shapes_of("anima").items()}
    assert kind_of_header(header_of(shapes)).family == "anima"


def test_that_a_checkpoint_is_one_only_with_what_belongs_to_it() -> None:
    flux = shapes_of("flux-dev", "model.diffusion_model.")
    whole = flux | shapes_of("clip-l", "text_encoders.clip_l.transformer.") | shapes_of("flux-ae", "vae.")
    assert kind_of_header(header_of(flux)).kind == "denoiser"
    found = kind_of_header(header_of(whole))
    assert (found.kind, set(found.parts)) == ("checkpoint", {"denoiser", "vae", "clip-l"})


@pytest.mark.parametrize(("name", "family"), [("sd15-checkpoint", "sd15"), ("sd2-checkpoint", "sd2")])
def test_that_a_model_for_inpainting_is_told_by_its_nine_channels(name, family) -> None:
    shapes = shapes_of(name) | {"model.diffusion_model.input_blocks.0.0.weight": (320, 9, 3, 3)}
    found = kind_of_header(header_of(shapes))
    assert (found.kind, found.family, found.variant) == ("checkpoint", family, "inpainting")


def test_that_the_refiner_is_no_base_model() -> None:
    shapes = {
        "model.diffusion_model.input_blocks.0.0.weight": (384, 4, 3, 3),
        "model.diffusion_model.label_emb.0.0.weight": (1536, 2560),
        "conditioner.embedders.0.model.positional_embedding": (77, 1280),
        "conditioner.embedders.0.model.transformer.resblocks.0.attn.in_proj_weight": (3840, 1280),
    }
    found = kind_of_header(header_of(shapes))
    assert (found.kind, found.family, found.variant) == ("checkpoint", "sdxl", "refiner")


@pytest.mark.parametrize(
    ("marks", "metadata", "family", "prediction"),
    [
        ({}, {}, "sdxl", None),
        ({"v_pred": (0,), "ztsnr": (0,)}, {}, "sdxl", "v"),
        ({"v_pred": (0,)}, {"modelspec.title": "NoobAI XL"}, "noobai-vpred", "v"),
        ({}, {"modelspec.title": "NoobAI-XL 1.1"}, "illustrious", None),
        ({}, {"modelspec.prediction_type": "v"}, "sdxl", "v"),
        ({}, {"modelspec.prediction_type": "epsilon"}, "sdxl", "epsilon"),
        ({}, {"modelspec.title": "Pony Diffusion V6"}, "pony", None),
        ({}, {"modelspec.title": "ponytail"}, "sdxl", None),
    ],
)
def test_that_descendants_and_predictions_are_told_by_what_the_file_says(
    marks, metadata, family, prediction
) -> None:
    found = kind_of_header(header_of(shapes_of("sdxl-checkpoint") | marks, metadata))
    assert (found.family, found.prediction) == (family, prediction)
    assert found.zero_terminal_snr is ("ztsnr" in marks)
    assert ("velocity" in found.sentence) is (prediction == "v")


def test_that_an_sd2_checkpoint_of_the_trainer_says_by_its_architecture_how_it_predicts() -> None:
    shapes = shapes_of("sd2-checkpoint")
    for architecture, prediction in (
        ("stable-diffusion-v2-768-v", "v"),
        ("stable-diffusion-v2-512", "epsilon"),
        ("stable-diffusion-xl-v1-base", None),
    ):
        header = header_of(shapes, {"modelspec.architecture": architecture})
        assert kind_of_header(header).prediction == prediction


@pytest.mark.parametrize(
    ("shapes", "network", "family"),
    [
        ({"lora_unet_down_blocks_0_attentions_0_transformer_blocks_0_attn2_to_k.hada_w1_a": (320, 4),
          "lora_unet_down_blocks_0_attentions_0_transformer_blocks_0_attn2_to_k.hada_w1_b": (4, 768)},
         "LoHa", "sd15"),
        ({"lora_unet_input_blocks_4_1_transformer_blocks_1_attn1_to_q.lokr_w1": (8, 8)}, "LoKr", "sdxl"),
        ({"lora_unet_down_blocks_0_attentions_0_transformer_blocks_0_attn1_to_q.lokr_w1": (8, 8)},
         "LoKr", None),
        ({"transformer.single_transformer_blocks.0.attn.to_q.lora_A.weight": (16, 3072)}, "LoRA", None),
    ],
)  # fmt: skip
def test_that_networks_of_other_makers_are_told(shapes, network, family) -> None:
    found = kind_of_header(header_of(shapes))
    assert (found.kind, found.network, found.family) == ("network", network, family)


def test_that_what_a_network_says_of_its_base_settles_what_its_names_leave_open() -> None:
    header = header_of(shapes_of("lora-chroma"), {"ss_base_model_version": "chroma"})
    assert kind_of_header(header).family == "chroma"


@pytest.mark.parametrize(
    ("shapes", "family"),
    [({"emb_params": (4, 768)}, "sd15"), ({"clip_l": (2, 768), "clip_g": (2, 1280)}, "sdxl")],
)
def test_that_a_textual_inversion_is_told(shapes, family) -> None:
    found = kind_of_header(header_of(shapes))
    assert (found.kind, found.family) == ("embedding", family)


@pytest.mark.parametrize(
    "more",
    [
        {"scaled_fp8": (2,)},
        {"double_blocks.0.img_attn.qkv.scale_weight": (1,)},
        {"double_blocks.0.img_attn.qkv.weight._data": (9216, 3072)},
        {"double_blocks.0.img_attn.qkv.weight.quant_state.bitsandbytes__nf4": (80,)},
    ],
)
def test_that_weights_with_scales_beside_them_are_told(more) -> None:
    shapes = shapes_of("flux-dev")
    assert not kind_of_header(header_of(shapes)).quantised
    assert kind_of_header(header_of(shapes | more)).quantised


def test_that_a_file_is_looked_at_and_a_cut_one_is_known(tmp_path: Path) -> None:
    path = write_model(tmp_path / "flux.safetensors", shapes_of("flux-dev"), dtype="F8_E4M3")
    found = model_kind(path)
    assert (found.family, found.dtypes, found.complete, found.loads) == (
        "flux1",
        {"F8_E4M3": 780},
        True,
        True,
    )
    assert found.problem is None
    cut = model_kind(write_model(path, shapes_of("flux-dev"), less=100))
    assert (cut.family, cut.complete, cut.loads) == ("flux1", False, False)
    assert "100 of" in cut.problem
    longer = model_kind(write_model(path, shapes_of("flux-dev"), less=-7))
    assert (longer.loads, "7 bytes longer" in longer.problem) == (False, True)


@pytest.mark.parametrize(
    ("name", "content", "container", "said"),
    [
        ("a.safetensors", b"", "empty", "empty"),
        ("a.ckpt", b"", "empty", "empty"),
        ("a.safetensors", b"PK\x03\x04" + bytes(600), "pickle", "wrong ending"),
        ("a.ckpt", b"PK\x03\x04" + bytes(600), "pickle", None),
        ("a.pt", b"\x80\x02}q\x00.", "pickle", None),
        ("a.safetensors", b"<!DOCTYPE html><html>", "web-page", "web page"),
        ("a.ckpt", b"\n<html>", "web-page", "web page"),
        ("a.gguf", b"GGUF\x03\0\0\0" + bytes(9), "gguf", "GGUF"),
        ("a.safetensors", b"{}{}{}{}\0\0\0\0", "other", "does not begin"),
        ("a.bin", b"version https://git-lfs", "other", None),
        ("a.safetensors", (10).to_bytes(8, "little") + b"{", "safetensors", "ends within its header"),
        ("a.safetensors", (99_000_000).to_bytes(8, "little") + b"{}", "safetensors", "99 MB"),
        ("a.safetensors", (2**62).to_bytes(8, "little") + b"{}", "safetensors", "too long"),
        ("a.safetensors", (11).to_bytes(8, "little") + b'{"a": [[[[[', "safetensors", "not JSON"),
    ],
)
def test_that_a_file_which_is_no_model_gets_a_sentence(tmp_path, name, content, container, said) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    found = model_kind(path)
    assert (found.container, found.kind) == (container, "unknown")
    assert found.sentence
    assert (said is None and found.problem is None) or said in found.problem
    assert found.loads is not True


def test_that_lying_offsets_are_told(tmp_path: Path) -> None:
    raw = json.dumps({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 2**50]}}).encode()
    path = tmp_path / "lie.safetensors"
    path.write_bytes(len(raw).to_bytes(8, "little") + raw)
    assert model_kind(path).loads is False


@given(st.binary(max_size=64))
def test_that_no_content_breaks_the_look(tmp_path_factory, content) -> None:
    path = tmp_path_factory.getbasetemp() / "any.safetensors"
    path.write_bytes(content)
    assert model_kind(path).sentence


def test_that_what_is_not_there_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in (tmp_path / "none", tmp_path / "loop", Path("a\0b")):
        with pytest.raises(CannotRead):
            model_kind(path)


def make_folder(folder: Path, pipeline: str, config: dict, inner: str = "unet", name: str = "x.safetensors"):
    (folder / inner).mkdir(parents=True)
    if pipeline:
        (folder / "model_index.json").write_text(json.dumps({"_class_name": pipeline}), "utf-8")
    (folder / inner / "config.json").write_text(json.dumps(config), "utf-8")
    if name.endswith(".bin"):
        (folder / inner / name).write_bytes(b"PK\x03\x04")
    else:
        write_model(folder / inner / name, {"conv_in.weight": (4, 4)}, dtype="F16")
    return folder


@pytest.mark.parametrize(
    ("pipeline", "config", "inner", "family", "variant"),
    [
        ("StableDiffusionPipeline", {"cross_attention_dim": 768, "in_channels": 4}, "unet", "sd15", None),
        ("StableDiffusionPipeline", {"cross_attention_dim": 1024}, "unet", "sd2", None),
        ("StableDiffusionInpaintPipeline", {"cross_attention_dim": 768, "in_channels": 9}, "unet", "sd15",
         "inpainting"),
        ("StableDiffusionXLPipeline", {"cross_attention_dim": 2048}, "unet", "sdxl", None),
        ("StableDiffusionXLImg2ImgPipeline", {"cross_attention_dim": 1280}, "unet", "sdxl", "refiner"),
        ("FluxPipeline", {"guidance_embeds": True}, "transformer", "flux1", None),
        ("FluxPipeline", {"guidance_embeds": False}, "transformer", "flux1-schnell", "schnell"),
        ("", {"_class_name": "SD3Transformer2DModel"}, "transformer", "sd3", None),
        ("SomethingElse", {"a": 1}, "transformer", None, None),
    ],
)  # fmt: skip
def test_that_a_diffusers_folder_is_told(tmp_path, pipeline, config, inner, family, variant) -> None:
    found = model_kind(make_folder(tmp_path / "m", pipeline, config, inner))
    assert (found.family, found.variant, found.layout) == (family, variant, "diffusers")
    assert (found.kind, found.complete) == ("checkpoint" if pipeline else "denoiser", True)
    assert found.dtypes == {"F16": 1}


def test_that_a_diffusers_folder_says_how_it_predicts(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "m", "StableDiffusionPipeline", {"cross_attention_dim": 1024})
    (folder / "scheduler").mkdir()
    (folder / "scheduler" / "scheduler_config.json").write_text(
        '{"prediction_type": "v_prediction"}', "utf-8"
    )
    assert model_kind(folder).prediction == "v"


def test_that_broken_and_pickled_folders_are_known(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "m", "FluxPipeline", {"a": 1}, "transformer")
    with (folder / "transformer" / "x.safetensors").open("ab") as file:
        file.write(b"more")
    found = model_kind(folder)
    assert (found.loads, "x.safetensors" in found.problem) == (False, True)
    (folder / "transformer" / "x.safetensors").write_bytes(b"no")
    assert model_kind(folder).loads is False
    pickled = make_folder(tmp_path / "p", "StableDiffusionPipeline", {"a": 1}, name="x.bin")
    assert (model_kind(pickled).container, model_kind(pickled).loads) == ("pickle", None)
    (tmp_path / "folder.safetensors").mkdir()


def test_that_a_folder_without_a_model_is_refused_and_the_file_in_it_named(tmp_path: Path) -> None:
    folder = tmp_path / "folder.safetensors"
    folder.mkdir()
    found = model_kind(folder)
    assert found.loads is False
    assert "no Diffusers model" in found.problem
    write_model(folder / "mine.safetensors", {"a": (1,)})
    assert model_kind(folder).problem.endswith("mine.safetensors")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes in folders")
def test_that_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.safetensors")
    assert model_kind(tmp_path / "pipe.safetensors").loads is False


def test_that_the_folder_of_a_vae_is_told_by_its_file(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"_class_name": "AutoencoderKL"}', "utf-8")
    path = write_model(tmp_path / "diffusion_pytorch_model.safetensors", shapes_of("vae-diffusers"))
    assert (model_kind(tmp_path).kind, model_kind(tmp_path).variant) == ("vae", "sd")
    path.rename(path.with_suffix(".bin"))
    assert (model_kind(tmp_path).kind, model_kind(tmp_path).container) == ("unknown", "pickle")


def test_that_the_practice_trainers_own_model_is_told() -> None:
    found = model_kind(next((resources_root() / "practice_trainer" / "models").glob("*.safetensors")))
    assert (found.variant, found.loads) == ("practice", True)


def test_that_a_header_far_too_long_is_not_read() -> None:
    assert LARGEST_HEADER_BYTES < 100_000_000


def test_that_the_table_is_judged(tmp_path: Path) -> None:
    for text in ("a: [", "schema: 2"):
        path = tmp_path / f"{len(text)}.yaml"
        path.write_text(text, "utf-8")
        with pytest.raises(CannotRead):
            model_signatures(path)
    for broken in ({"like": ["("]}, {"metadata": {"a": "("}}, {"shapes_like": {"(": (1,)}}):
        with pytest.raises(ValidationError):
            Signature(title="x", **broken)


def test_that_a_kind_survives_as_json() -> None:
    kind = kind_of_header(header_of(shapes_of("lora-flux")))
    assert ModelKind.model_validate_json(kind.model_dump_json()) == kind
