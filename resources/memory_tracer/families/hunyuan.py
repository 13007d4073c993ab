"""HunyuanImage 2.1. Source: trainer: library/hunyuan_image_models.py, hunyuan_image_train_network.py."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from memory_tracer.families.base import Family
from memory_tracer.setting import Setting

BYT5_TOKENS = 128
"""Room for texts in the image. Source: trainer: library/hunyuan_image_text_encoder.py."""


class HunyuanImage(Family):
    """HunyuanImage 2.1; its VAE makes latents 32 times smaller."""

    adapter_module = "networks.lora_hunyuan_image"
    latent_channels = 64
    latent_scale = 32
    noisy_in_half = True
    has_text_encoders = False

    def build_network(self, setting: Setting) -> nn.Module:
        from library import hunyuan_image_models

        network: nn.Module = hunyuan_image_models.HYImageDiffusionTransformer("torch", False)
        return network

    def predict(
        self, network: nn.Module, noisy: torch.Tensor, texts: list[torch.Tensor], setting: Setting
    ) -> torch.Tensor:
        times = torch.zeros(setting.batch, dtype=torch.int64)
        prediction: torch.Tensor = network(noisy, times, *texts)
        return prediction

    def cached_texts(self, setting: Setting) -> list[torch.Tensor]:
        batch, length = setting.batch, setting.text_tokens
        return [
            torch.zeros(batch, length, 3584, dtype=torch.bfloat16),
            torch.ones(batch, length, dtype=torch.int64),
            torch.zeros(batch, BYT5_TOKENS, 1472, dtype=torch.float16),
            torch.ones(batch, BYT5_TOKENS, dtype=torch.int64),
        ]

    def item(self, setting: Setting) -> float:
        """Return a length that no sequence reaches: the masks count every token."""
        return 1 << 20

    def build_vae(self) -> nn.Module:
        from library import hunyuan_image_vae

        vae: nn.Module = hunyuan_image_vae.HunyuanVAE2D()
        return vae

    def encode_images(self, vae: Any, images: torch.Tensor) -> torch.Tensor:
        latents: torch.Tensor = vae.encode(images).sample()
        return latents

    def decode_latents(self, vae: Any, latents: torch.Tensor) -> torch.Tensor:
        image: torch.Tensor = vae.decode(latents)
        return image
