"""Puts the small models in the place of those that the trainer would load.

Runs in the trainer's own Python; see ``oracle_standins.py``.
"""

from __future__ import annotations

import oracle_standins as early
import oracle_standins_late as late


def warm_up() -> None:
    """Make the large ones once, for all jobs."""
    for v2 in (False, True):
        early.sd(v2)
    for make in (early.sdxl, early.flux, early.chroma, late.mmdit):
        make()
    late.lumina(use_flash_attn=False, use_sage_attn=False)
    late.hunyuan("torch", False)
    late.anima("torch", False)


def put_in_place() -> None:
    """Let the trainer's loaders return the small models."""
    from library import (
        anima_utils,
        flux_utils,
        hunyuan_image_models,
        hunyuan_image_text_encoder,
        hunyuan_image_vae,
        lumina_util,
        model_util,
        qwen_image_autoencoder_kl,
        sd3_utils,
        sdxl_model_util,
    )

    model_util.load_models_from_stable_diffusion_checkpoint = early.load_sd
    model_util.load_vae = early.load_vae
    model_util.save_stable_diffusion_checkpoint = early.save_sd
    sdxl_model_util.load_models_from_sdxl_checkpoint = early.load_sdxl
    flux_utils.analyze_checkpoint_state = early.analyze_flux
    flux_utils.load_flow_model = early.load_flux
    flux_utils.load_clip_l = early.loads(early.clip)
    flux_utils.load_t5xxl = early.loads(early.t5)
    flux_utils.load_ae = early.loads(early.flux_vae)
    flux_utils.load_controlnet = early.load_flux_controlnet
    sd3_utils.load_mmdit = late.load_mmdit
    sd3_utils.load_clip_l = late.optional(lambda: early.clip(projection=True))
    sd3_utils.load_clip_g = late.optional(lambda: early.clip(4, projection=True))
    sd3_utils.load_t5xxl = late.optional(early.t5)
    sd3_utils.load_vae = late.load_sd3_vae
    lumina_util.load_lumina_model = late.load_lumina
    lumina_util.load_gemma2 = early.loads(late.gemma)
    lumina_util.load_ae = early.loads(early.flux_vae)
    hunyuan_image_text_encoder.load_qwen2_5_vl = late.load_qwen_vl
    hunyuan_image_text_encoder.load_byt5 = late.load_byt5
    hunyuan_image_vae.load_vae = late.load_hunyuan_vae
    hunyuan_image_models.load_hunyuan_image_model = late.load_hunyuan
    anima_utils.load_anima_model = late.load_anima
    anima_utils.load_qwen3_text_encoder = late.load_qwen3
    qwen_image_autoencoder_kl.load_vae = late.load_anima_vae
    anima_utils.save_file = late.apart(anima_utils.save_file)
