"""Stable Diffusion 1, 2 and XL. Source: trainer: library/original_unet.py, sdxl_original_unet.py."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from memory_tracer.families.base import Family
from memory_tracer.families.text_encoders import CLIP_G, CLIP_H, CLIP_L, clip, tokens
from memory_tracer.setting import Setting

CHUNK_TOKENS = 75
"""Longer captions are encoded in pieces of so many tokens; CLIP's 77 count the begin and the end."""


class _StableDiffusion(Family):
    def use_attention(self, network: nn.Module, attention: str) -> None:
        switch: Any = network
        switch.set_use_sdpa(attention == "sdpa")

    def build_vae(self) -> nn.Module:
        """Make the VAE of Stable Diffusion with SDPA, which diffusers takes by itself."""
        from diffusers import AutoencoderKL
        from library import model_util

        vae: nn.Module = AutoencoderKL(**model_util.create_vae_diffusers_config())
        return vae

    def encode_images(self, vae: Any, images: torch.Tensor) -> torch.Tensor:
        latents: torch.Tensor = vae.encode(images).latent_dist.sample()
        return latents

    def decode_latents(self, vae: Any, latents: torch.Tensor) -> torch.Tensor:
        image: torch.Tensor = vae.decode(latents).sample
        return image


class StableDiffusion1(_StableDiffusion):
    """Stable Diffusion 1, with CLIP-L."""

    clip_config = CLIP_L
    unet_config: dict[str, Any] = {"sample_size": 64, "attention_head_dim": 8, "cross_attention_dim": 768}  # noqa: RUF012

    def build_network(self, setting: Setting) -> nn.Module:
        from library.original_unet import UNet2DConditionModel

        network: nn.Module = UNet2DConditionModel(**self.unet_config)
        return network

    def predict(
        self, network: nn.Module, noisy: torch.Tensor, texts: list[torch.Tensor], setting: Setting
    ) -> torch.Tensor:
        times = torch.zeros(setting.batch, dtype=torch.long)
        prediction: torch.Tensor = network(noisy, times, texts[0].to(_half(setting))).sample
        return prediction

    def cached_texts(self, setting: Setting) -> list[torch.Tensor]:
        width = self.clip_config["hidden_size"]
        return [torch.zeros(setting.batch, setting.text_tokens, int(str(width)))]

    def build_text_encoders(self, setting: Setting) -> list[nn.Module]:
        return [clip(self.clip_config)]

    def encode_texts(self, encoders: list[nn.Module], setting: Setting) -> list[torch.Tensor]:
        chunks = _chunks(setting)
        hidden = encoders[0](tokens(setting.batch * chunks, 77))[0]
        return [_joined(hidden, setting.batch, chunks)]


class StableDiffusion2(StableDiffusion1):
    """Stable Diffusion 2, with OpenCLIP-H."""

    clip_config = CLIP_H
    unet_config: dict[str, Any] = {  # noqa: RUF012
        "sample_size": 64,
        "attention_head_dim": [5, 10, 20, 20],
        "cross_attention_dim": 1024,
        "use_linear_projection": True,
    }


class StableDiffusionXl(_StableDiffusion):
    """Stable Diffusion XL, with CLIP-L and OpenCLIP-bigG."""

    def build_network(self, setting: Setting) -> nn.Module:
        from library.sdxl_original_unet import SdxlUNet2DConditionModel

        network: nn.Module = SdxlUNet2DConditionModel()
        return network

    def predict(
        self, network: nn.Module, noisy: torch.Tensor, texts: list[torch.Tensor], setting: Setting
    ) -> torch.Tensor:
        half = _half(setting)
        first, second, pooled = texts
        sizes = torch.zeros(setting.batch, 6 * 256, dtype=half)
        vector = torch.cat([pooled, sizes], dim=1).to(half)
        context = torch.cat([first, second], dim=2).to(half)
        times = torch.zeros(setting.batch, dtype=torch.long)
        prediction: torch.Tensor = network(noisy.to(half), times, context, vector)
        return prediction

    def cached_texts(self, setting: Setting) -> list[torch.Tensor]:
        batch, length = setting.batch, setting.text_tokens
        return [
            torch.zeros(batch, length, 768),
            torch.zeros(batch, length, 1280),
            torch.zeros(batch, 1280),
        ]

    def build_text_encoders(self, setting: Setting) -> list[nn.Module]:
        return [clip(CLIP_L), clip(CLIP_G, projection=True)]

    def encode_texts(self, encoders: list[nn.Module], setting: Setting) -> list[torch.Tensor]:
        chunks = _chunks(setting)
        words = tokens(setting.batch * chunks, 77)
        first = encoders[0](words, output_hidden_states=True, return_dict=True)["hidden_states"][11]
        second = encoders[1](words, output_hidden_states=True, return_dict=True)
        pooled = second["text_embeds"].view(setting.batch, chunks, -1)[:, 0]
        return [
            _joined(first, setting.batch, chunks),
            _joined(second["hidden_states"][-2], setting.batch, chunks),
            pooled,
        ]


def _half(setting: Setting) -> torch.dtype:
    """Return the trainer's ``weight_dtype``."""
    return torch.bfloat16 if setting.autocast else torch.float32


def _chunks(setting: Setting) -> int:
    return max(1, (setting.text_tokens - 2) // CHUNK_TOKENS)


def _joined(hidden: torch.Tensor, batch: int, chunks: int) -> torch.Tensor:
    """Return pieces of a caption as one sequence."""
    return hidden.reshape(batch, chunks * hidden.shape[1], hidden.shape[2])
