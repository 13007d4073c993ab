"""Stable Diffusion 3 and 3.5. Source: trainer: library/sd3_models.py, sd3_utils.py, sd3_train_network.py."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from memory_tracer.families.base import Family
from memory_tracer.families.text_encoders import CLIP_G, CLIP_L, clip, t5_xxl, tokens
from memory_tracer.setting import Setting

CLIP_TOKENS = 77


class StableDiffusion3(Family):
    """Stable Diffusion 3 medium, with CLIP-L, OpenCLIP-bigG and T5-XXL.

    Attributes:
        depth: Number of joint blocks.
        positions: How many patches wide the table of positions is.
        qk_norm: Kind of the norm of queries and keys.
        dual_blocks: Blocks with a second attention of the image to itself.
    """

    adapter_module = "networks.lora_sd3"
    latent_channels = 16
    depth = 24
    positions = 192
    qk_norm: str | None = None
    dual_blocks = 0
    model_type = "medium"

    def build_network(self, setting: Setting) -> nn.Module:
        from library import sd3_models

        width = 64 * self.depth
        network: nn.Module = sd3_models.create_sd3_mmdit(
            sd3_models.SD3Params(
                patch_size=2,
                depth=self.depth,
                num_patches=self.positions**2,
                pos_embed_max_size=self.positions,
                adm_in_channels=2048,
                qk_norm=self.qk_norm,
                x_block_self_attn_layers=list(range(self.dual_blocks)),
                context_embedder_in_features=4096,
                context_embedder_out_features=width,
                model_type=self.model_type,
            )
        )
        return network

    def predict(
        self, network: nn.Module, noisy: torch.Tensor, texts: list[torch.Tensor], setting: Setting
    ) -> torch.Tensor:
        clips, t5, pooled = texts
        context = torch.cat([nn.functional.pad(clips, (0, 4096 - clips.shape[-1])), t5], dim=-2)
        prediction: torch.Tensor = network(noisy, torch.rand(setting.batch), context=context, y=pooled)
        return prediction * -torch.rand(setting.batch, 1, 1, 1) + noisy

    def cached_texts(self, setting: Setting) -> list[torch.Tensor]:
        batch = setting.batch
        return [
            torch.zeros(batch, CLIP_TOKENS, 2048),
            torch.zeros(batch, setting.text_tokens - CLIP_TOKENS, 4096),
            torch.zeros(batch, 2048),
        ]

    def build_text_encoders(self, setting: Setting) -> list[nn.Module]:
        return [clip(CLIP_L, projection=True), clip(CLIP_G, projection=True), t5_xxl()]

    def trainable_encoders(self, encoders: list[nn.Module]) -> list[nn.Module]:
        """Return the two CLIPs: T5-XXL is trained only with ``train_t5xxl``."""
        return encoders[:2]

    def encode_texts(self, encoders: list[nn.Module], setting: Setting) -> list[torch.Tensor]:
        words = tokens(setting.batch, CLIP_TOKENS)
        hidden, pooled = [], []
        for encoder in encoders[:2]:
            out = encoder(words, None, output_hidden_states=True)
            hidden.append(out.hidden_states[-2])
            pooled.append(out[0])
        length = setting.text_tokens - CLIP_TOKENS
        t5, _all = encoders[2](
            tokens(setting.batch, length), None, return_dict=False, output_hidden_states=True
        )
        return [torch.cat(hidden, dim=-1), t5, torch.cat(pooled, dim=-1)]

    def build_vae(self) -> nn.Module:
        from library import sd3_models

        vae: nn.Module = sd3_models.SDVAE()
        return vae

    def encode_images(self, vae: Any, images: torch.Tensor) -> torch.Tensor:
        latents: torch.Tensor = vae.encode(images)
        return latents

    def decode_latents(self, vae: Any, latents: torch.Tensor) -> torch.Tensor:
        image: torch.Tensor = vae.decode(latents)
        return image


class StableDiffusion35Medium(StableDiffusion3):
    """Stable Diffusion 3.5 medium."""

    positions = 384
    qk_norm = "rms"
    dual_blocks = 13
    model_type = "5-medium"


class StableDiffusion35Large(StableDiffusion3):
    """Stable Diffusion 3.5 large."""

    depth = 38
    qk_norm = "rms"
    model_type = "5-large"
