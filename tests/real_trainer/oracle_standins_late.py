"""Small models of SD 3, Lumina 2, HunyuanImage and Anima in the place of those that would be loaded.

Runs in the trainer's own Python; see ``oracle_standins.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from oracle_standins import WIDTH, fresh, there

# --- SD 3 ---------------------------------------------------------------------------------------


@fresh
def mmdit() -> Any:
    from library import sd3_models

    params = sd3_models.SD3Params(
        patch_size=2,
        depth=24,
        num_patches=96 * 96,
        pos_embed_max_size=96,
        adm_in_channels=2 * WIDTH,
        qk_norm=None,
        x_block_self_attn_layers=[],
        context_embedder_in_features=64,
        context_embedder_out_features=96,
        model_type="medium",
    )
    model = sd3_models.create_sd3_mmdit(params)
    torch.nn.init.zeros_(model.pos_embed)
    return model


def load_sd3_file(path: Any, *_rest: Any, **_more: Any) -> dict[str, Any]:
    there(path)
    return {"text encoders": "in it"}


def load_mmdit(state_dict: Any, dtype: Any, device: Any, attn_mode: str = "torch") -> Any:
    return mmdit().to(dtype) if dtype is not None else mmdit()


def optional(make: Callable[[], Any]) -> Callable[..., Any]:
    """Return a loader whose path may be missing, where the checkpoint was read: it holds the part."""

    def load(path: str | None, dtype: Any = None, *_rest: Any, state_dict: Any = None, **_more: Any) -> Any:
        if path is not None or not state_dict:
            there(path)
        model = make()
        return model.to(dtype) if isinstance(dtype, torch.dtype) else model

    return load


def load_sd3_vae(path: str | None, dtype: Any, *_rest: Any, **_more: Any) -> Any:
    from library import sd3_models

    if path:
        there(path)
    return sd3_models.SDVAE(dtype or torch.float32)


# --- Lumina 2, HunyuanImage, Anima --------------------------------------------------------------


@fresh
def lumina(**attention: bool) -> Any:
    from library import lumina_models

    params = lumina_models.LuminaParams(
        patch_size=2,
        in_channels=16,
        dim=48,
        n_layers=26,
        n_heads=3,
        n_kv_heads=1,
        axes_dims=[4, 6, 6],
        axes_lens=[300, 512, 512],
        qk_norm=True,
        cap_feat_dim=WIDTH,
    )
    return lumina_models.NextDiT_2B_GQA_patch2_Adaln_Refiner(params, **attention)


def load_lumina(
    path: str,
    dtype: Any,
    device: Any,
    disable_mmap: bool = False,
    use_flash_attn: bool = False,
    use_sage_attn: bool = False,
) -> Any:
    there(path)
    return lumina(use_flash_attn=use_flash_attn, use_sage_attn=use_sage_attn).to(dtype)


def gemma() -> Any:
    from transformers import Gemma2Config, Gemma2Model

    return Gemma2Model(
        Gemma2Config(
            vocab_size=32128,
            hidden_size=WIDTH,
            intermediate_size=32,
            num_hidden_layers=3,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=8,
        )
    )


def load_qwen_vl(path: str, *_rest: Any, dtype: Any = None, **_more: Any) -> tuple[None, Any]:
    from transformers import Qwen2Config, Qwen2ForCausalLM

    there(path)
    config = Qwen2Config(
        vocab_size=152064,
        hidden_size=WIDTH,
        intermediate_size=32,
        num_hidden_layers=3,
        num_attention_heads=2,
        num_key_value_heads=2,
    )
    return None, Qwen2ForCausalLM(config).to(dtype)


def load_byt5(path: str, *_rest: Any, dtype: Any = None, **_more: Any) -> tuple[None, Any]:
    from transformers import T5Config
    from transformers.models.t5.modeling_t5 import T5ForConditionalGeneration

    there(path)
    config = T5Config(vocab_size=2000, d_model=WIDTH, d_kv=8, d_ff=32, num_layers=2, num_heads=2)
    return None, T5ForConditionalGeneration(config).get_encoder().to(dtype)


def load_hunyuan_vae(
    path: str, device: Any, disable_mmap: bool = False, chunk_size: int | None = None
) -> Any:
    from library import hunyuan_image_vae

    class FullPrecision(hunyuan_image_vae.HunyuanVAE2D):
        """The trainer casts it to fp16, in which a CPU takes seconds for an image."""

        def to(self, *args: Any, dtype: Any = None, **more: Any) -> Any:
            return super().to(*args, dtype=None if dtype is torch.float16 else dtype, **more)

    there(path)
    return FullPrecision(chunk_size=chunk_size)


@fresh
def hunyuan(attn_mode: str, split_attn: bool) -> Any:
    from library import hunyuan_image_models

    return hunyuan_image_models.HYImageDiffusionTransformer(attn_mode, split_attn)


def load_hunyuan(
    device: Any,
    path: str,
    attn_mode: str,
    split_attn: bool,
    loading_device: Any,
    dit_weight_dtype: Any,
    fp8_scaled: bool = False,
) -> Any:
    there(path)
    return hunyuan(attn_mode, bool(split_attn)).to(dit_weight_dtype or torch.bfloat16)


@fresh
def anima(attn_mode: str, split_attn: bool) -> Any:
    from library import anima_models

    return anima_models.Anima(
        max_img_h=512,
        max_img_w=512,
        max_frames=128,
        in_channels=16,
        out_channels=16,
        patch_spatial=2,
        patch_temporal=1,
        model_channels=32,
        concat_padding_mask=True,
        crossattn_emb_channels=16,
        pos_emb_cls="rope3d",
        pos_emb_learnable=True,
        pos_emb_interpolation="crop",
        use_adaln_lora=True,
        adaln_lora_dim=8,
        num_blocks=28,
        num_heads=2,
        rope_h_extrapolation_ratio=4.0,
        rope_w_extrapolation_ratio=4.0,
        rope_t_extrapolation_ratio=1.0,
        rope_enable_fps_modulation=False,
        use_llm_adapter=True,
        attn_mode=attn_mode,
        split_attn=split_attn,
    )


def load_anima(
    device: Any,
    path: str,
    attn_mode: str,
    split_attn: bool,
    loading_device: Any,
    dit_weight_dtype: Any,
    fp8_scaled: bool = False,
) -> Any:
    there(path)
    model = anima(attn_mode, bool(split_attn))
    return model.to(dit_weight_dtype) if dit_weight_dtype is not None else model


def load_qwen3(path: str, dtype: Any = torch.bfloat16, device: Any = "cpu", **_more: Any) -> Any:
    from library import anima_utils
    from transformers import Qwen3Config, Qwen3Model

    there(path)
    config = Qwen3Config(
        vocab_size=151936,
        hidden_size=WIDTH,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=8,
        use_cache=False,
    )
    model = Qwen3Model(config).requires_grad_(False).to(dtype=dtype)
    return model, anima_utils.load_qwen3_tokenizer(path)


def load_anima_vae(
    path: str,
    input_channels: int = 3,
    device: Any = "cpu",
    disable_mmap: bool = False,
    spatial_chunk_size: int | None = None,
    disable_cache: bool = False,
) -> Any:
    from library import qwen_image_autoencoder_kl as vae

    there(path)
    if spatial_chunk_size is not None and spatial_chunk_size % 2 != 0:
        spatial_chunk_size += 1
    return vae.AutoencoderKLQwenImage(
        base_dim=8,
        dim_mult=[1, 1, 1, 1],
        num_res_blocks=1,
        temperal_downsample=[False, True, True],
        spatial_chunk_size=spatial_chunk_size,
        disable_cache=disable_cache,
    )


def apart(save: Callable[..., Any]) -> Callable[..., Any]:
    """Save copies: blocks that are swapped from a CPU to the same CPU share their memory."""

    def saved(tensors: dict[str, Any], *where: Any, **how: Any) -> Any:
        return save({name: tensor.clone() for name, tensor in tensors.items()}, *where, **how)

    return saved
