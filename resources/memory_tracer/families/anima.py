"""Anima. Source: trainer: library/anima_models.py, anima_utils.py, anima_train_network.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import nn

from memory_tracer.families.base import Family
from memory_tracer.families.text_encoders import tokens
from memory_tracer.setting import Setting

NETWORK = {
    "max_img_h": 512,
    "max_img_w": 512,
    "max_frames": 128,
    "in_channels": 16,
    "out_channels": 16,
    "patch_spatial": 2,
    "patch_temporal": 1,
    "model_channels": 2048,
    "concat_padding_mask": True,
    "crossattn_emb_channels": 1024,
    "pos_emb_cls": "rope3d",
    "pos_emb_learnable": True,
    "pos_emb_interpolation": "crop",
    "min_fps": 1,
    "max_fps": 30,
    "use_adaln_lora": True,
    "adaln_lora_dim": 256,
    "num_blocks": 28,
    "num_heads": 16,
    "extra_per_block_abs_pos_emb": False,
    "rope_h_extrapolation_ratio": 4.0,
    "rope_w_extrapolation_ratio": 4.0,
    "rope_t_extrapolation_ratio": 1.0,
    "rope_enable_fps_modulation": False,
    "use_llm_adapter": True,
    "attn_mode": "torch",
    "split_attn": False,
}
"""Source: trainer: library/anima_utils.py, load_anima_model."""


class Anima(Family):
    """Anima, with Qwen3 0.6B; T5's token numbers go into the network itself."""

    adapter_module = "networks.lora_anima"
    latent_channels = 16
    noisy_in_half = True

    def build_network(self, setting: Setting) -> nn.Module:
        from library import anima_models

        network: nn.Module = anima_models.Anima(**NETWORK)
        return network

    def predict(
        self, network: nn.Module, noisy: torch.Tensor, texts: list[torch.Tensor], setting: Setting
    ) -> torch.Tensor:
        text, mask, words, words_mask = texts
        height, width = noisy.shape[-2:]
        prediction: torch.Tensor = network(
            noisy.unsqueeze(2),
            torch.rand(setting.batch),
            text.to(noisy.dtype),
            padding_mask=torch.zeros(setting.batch, 1, height, width, dtype=noisy.dtype),
            target_input_ids=words,
            target_attention_mask=words_mask,
            source_attention_mask=mask,
        )
        return prediction.squeeze(2)

    def cached_texts(self, setting: Setting) -> list[torch.Tensor]:
        return self._with_masks(torch.zeros(setting.batch, setting.text_tokens, 1024), setting)

    def build_text_encoders(self, setting: Setting) -> list[nn.Module]:
        from library import anima_utils
        from transformers import Qwen3Config, Qwen3Model

        place = Path(anima_utils.__file__).parents[1] / "configs" / "qwen3_06b" / "config.json"
        return [Qwen3Model(Qwen3Config(**json.loads(place.read_text("utf-8"))))]

    def encode_texts(self, encoders: list[Any], setting: Setting) -> list[torch.Tensor]:
        out = encoders[0](tokens(setting.batch, setting.text_tokens), use_cache=False)
        return self._with_masks(out.last_hidden_state, setting)

    def _with_masks(self, text: torch.Tensor, setting: Setting) -> list[torch.Tensor]:
        words = tokens(setting.batch, setting.text_tokens)
        return [text, torch.ones_like(words), words, torch.ones_like(words)]

    def build_vae(self) -> nn.Module:
        from library import qwen_image_autoencoder_kl

        vae: nn.Module = qwen_image_autoencoder_kl.AutoencoderKLQwenImage()
        return vae

    def encode_images(self, vae: Any, images: torch.Tensor) -> torch.Tensor:
        latents: torch.Tensor = vae.encode_pixels_to_latents(images)
        return latents

    def decode_latents(self, vae: Any, latents: torch.Tensor) -> torch.Tensor:
        image: torch.Tensor = vae.decode_to_pixels(latents)
        return image
