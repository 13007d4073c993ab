"""Small models with random weights in the place of those that the trainer would load.

Runs in the trainer's own Python. What a loader says about its path is kept: None, or a file that is
not there, fails as it does with the real one.
"""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Callable
from typing import Any

import torch

WIDTH = 16
"""Of text encoders."""


def there(path: Any) -> None:
    """Fail as ``safe_open`` does for what is no file."""
    with pathlib.Path(path).open("rb"):
        pass


def fresh(make: Callable[..., Any]) -> Callable[..., Any]:
    """Make a model once; each job runs in a process of its own and may change it."""
    return functools.lru_cache(maxsize=None)(make)


def clip(layers: int = 12, *, projection: bool = False) -> Any:
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTextModelWithProjection

    config = CLIPTextConfig(
        vocab_size=49412,
        hidden_size=WIDTH,
        intermediate_size=32,
        num_hidden_layers=layers,
        num_attention_heads=2,
        max_position_embeddings=77,
        projection_dim=WIDTH,
    )
    return (CLIPTextModelWithProjection if projection else CLIPTextModel)(config)


def t5(vocabulary: int = 32128) -> Any:
    from transformers import T5Config, T5EncoderModel

    config = T5Config(
        vocab_size=vocabulary,
        d_model=64,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        feed_forward_proj="gated-gelu",
        is_encoder_decoder=False,
        use_cache=False,
    )
    return T5EncoderModel(config)


def sd_vae() -> Any:
    from diffusers import AutoencoderKL

    return AutoencoderKL(
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        block_out_channels=(8, 8, 8, 8),
        norm_num_groups=4,
        latent_channels=4,
    )


def flux_vae() -> Any:
    from library import flux_models

    return flux_models.AutoEncoder(
        flux_models.AutoEncoderParams(
            resolution=256,
            in_channels=3,
            ch=32,
            out_ch=3,
            ch_mult=[1, 1, 1, 1],
            num_res_blocks=1,
            z_channels=16,
            scale_factor=0.3611,
            shift_factor=0.1159,
        )
    )


# --- SD 1.5, SD 2, SDXL -------------------------------------------------------------------------


@fresh
def sd(v2: bool) -> tuple[Any, Any, Any]:
    from library import model_util, original_unet

    config = model_util.create_unet_diffusers_config(v2, False)
    heads = [2, 2, 4, 4] if v2 else config["attention_head_dim"]
    unet = original_unet.UNet2DConditionModel(
        **{**config, "cross_attention_dim": WIDTH, "attention_head_dim": heads}
    )
    return clip(23 if v2 else 12), sd_vae(), unet


def load_sd(v2: bool, path: str, device: str = "cpu", dtype: Any = None, **_rest: Any) -> Any:
    return sd(bool(v2))


@fresh
def sdxl() -> tuple[Any, Any, Any]:
    from library import sdxl_original_unet

    return clip(), clip(4, projection=True), sdxl_original_unet.SdxlUNet2DConditionModel()


def load_sdxl(
    version: str, path: str, device: str, dtype: Any = None, disable_mmap: bool = False
) -> tuple[Any, ...]:
    first, second, unet = sdxl()
    return first, second, sd_vae(), unet.to(dtype) if dtype else unet, torch.tensor(4.6), (0, 0)


def load_vae(path: str, dtype: Any) -> Any:
    there(path)
    return sd_vae()


def save_sd(v2: bool, output_file: str, text_encoder: Any, unet: Any, *_rest: Any, **_more: Any) -> int:
    """Write what was trained: the real one fills up from the base model's file, which is none here."""
    torch.save(unet.state_dict(), output_file)
    return 0


# --- FLUX, Chroma -------------------------------------------------------------------------------


def flux_sizes() -> Any:
    from library import flux_models

    return flux_models.FluxParams(
        in_channels=64,
        vec_in_dim=WIDTH,
        context_in_dim=64,
        hidden_size=32,
        mlp_ratio=4.0,
        num_heads=2,
        depth=19,
        depth_single_blocks=38,
        axes_dim=[4, 6, 6],
        theta=10_000,
        qkv_bias=True,
        guidance_embed=True,
    )


@fresh
def flux() -> Any:
    from library import flux_models

    return flux_models.Flux(flux_sizes())


@fresh
def chroma() -> Any:
    from dataclasses import replace

    from library import chroma_models

    return chroma_models.Chroma(
        replace(
            chroma_models.chroma_params,
            context_in_dim=64,
            hidden_size=32,
            num_heads=2,
            axes_dim=[4, 6, 6],
            approximator_hidden_size=32,
        )
    )


def analyze_flux(path: str) -> tuple[bool, bool, tuple[int, int], list[str]]:
    there(path)
    return False, False, (19, 38), [path]


def load_flux(
    path: str, dtype: Any, device: Any, disable_mmap: bool = False, model_type: str = "flux"
) -> Any:
    there(path)
    if model_type not in ("flux", "chroma"):
        raise ValueError(f"Unsupported model_type: {model_type}")
    model = chroma() if model_type == "chroma" else flux()
    return False, model.to(dtype) if dtype is not None else model


def loads(make: Callable[[], Any]) -> Callable[..., Any]:
    """Return a loader of (path, dtype, …)."""

    def load(path: str, dtype: Any = None, *_rest: Any, **_more: Any) -> Any:
        there(path)
        model = make()
        return model.to(dtype) if isinstance(dtype, torch.dtype) else model

    return load


def load_flux_controlnet(
    path: str | None, is_schnell: bool, dtype: Any, device: Any, disable_mmap: bool = False
) -> Any:
    from library import flux_models

    if path is not None:
        there(path)
    return flux_models.ControlNetFlux(flux_sizes(), controlnet_depth=2).to(dtype)
