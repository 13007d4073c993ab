"""FLUX.1 and Chroma. Source: trainer: library/flux_models.py, chroma_models.py, flux_train_network.py."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from memory_tracer.families.base import Family
from memory_tracer.families.text_encoders import CLIP_L, clip, t5_xxl, tokens
from memory_tracer.setting import Setting


class FluxVae(Family):
    """Families that have the VAE of FLUX.1."""

    latent_channels = 16
    decodes_with_autocast = True

    def build_vae(self) -> nn.Module:
        from library import flux_models

        vae: nn.Module = flux_models.AutoEncoder(flux_models.configs["dev"].ae_params)
        return vae

    def encode_images(self, vae: Any, images: torch.Tensor) -> torch.Tensor:
        latents: torch.Tensor = vae.encode(images)
        return latents

    def decode_latents(self, vae: Any, latents: torch.Tensor) -> torch.Tensor:
        image: torch.Tensor = vae.decode(latents)
        return image


class Flux(FluxVae):
    """FLUX.1 dev, with CLIP-L and T5-XXL; schnell only lacks the guidance's embedding."""

    adapter_module = "networks.lora_flux"
    noisy_in_half = True

    def build_network(self, setting: Setting) -> nn.Module:
        from library import flux_models

        network: nn.Module = flux_models.Flux(flux_models.configs["dev"].params)
        return network

    def predict(
        self, network: Any, noisy: torch.Tensor, texts: list[torch.Tensor], setting: Setting
    ) -> torch.Tensor:
        from library import flux_utils

        height, width = noisy.shape[2] // 2, noisy.shape[3] // 2
        packed = flux_utils.pack_latents(noisy)
        image_ids = flux_utils.prepare_img_ids(setting.batch, height, width)
        guidance = torch.full((setting.batch,), 1.0)
        times = torch.rand(setting.batch)
        with torch.no_grad():
            modulation = network.get_mod_vectors(timesteps=times, guidance=guidance, batch_size=setting.batch)
        if setting.checkpointing:
            for tensor in (image_ids, guidance, modulation):
                if tensor is not None:
                    tensor.requires_grad_(True)
        pooled, text, text_ids, mask = texts
        packed_prediction = network(
            img=packed,
            img_ids=image_ids,
            txt=text,
            txt_ids=text_ids,
            y=pooled,
            timesteps=times,
            guidance=guidance,
            txt_attention_mask=self._mask(mask),
            mod_vectors=modulation,
        )
        prediction: torch.Tensor = flux_utils.unpack_latents(packed_prediction, height, width)
        return prediction

    def _mask(self, mask: torch.Tensor) -> torch.Tensor | None:
        """Return the mask of the texts: ``apply_t5_attn_mask`` is off by itself."""
        return None

    def cached_texts(self, setting: Setting) -> list[torch.Tensor]:
        batch, length = setting.batch, setting.text_tokens
        return [
            torch.zeros(batch, 768),
            torch.zeros(batch, length, 4096),
            torch.zeros(batch, length, 3),
            torch.ones(batch, length, dtype=torch.int32),
        ]

    def build_text_encoders(self, setting: Setting) -> list[nn.Module]:
        return [clip(CLIP_L), t5_xxl()]

    def trainable_encoders(self, encoders: list[nn.Module]) -> list[nn.Module]:
        """Return CLIP-L: T5-XXL is trained only with ``train_t5xxl``."""
        return encoders[:1]

    def encode_texts(self, encoders: list[nn.Module], setting: Setting) -> list[torch.Tensor]:
        batch, length = setting.batch, setting.text_tokens
        pooled = self._pooled(encoders, batch)
        text, _all = encoders[-1](tokens(batch, length), None, return_dict=False, output_hidden_states=True)
        return [pooled, text, torch.zeros(batch, length, 3), torch.ones(batch, length, dtype=torch.int32)]

    def _pooled(self, encoders: list[nn.Module], batch: int) -> torch.Tensor:
        pooled: torch.Tensor = encoders[0](tokens(batch, 77))["pooler_output"]
        return pooled


class Chroma(Flux):
    """Chroma, with T5-XXL alone; its masks count."""

    def build_network(self, setting: Setting) -> nn.Module:
        from library import chroma_models

        network: nn.Module = chroma_models.Chroma(chroma_models.chroma_params)
        return network

    def _mask(self, mask: torch.Tensor) -> torch.Tensor | None:
        return mask

    def build_text_encoders(self, setting: Setting) -> list[nn.Module]:
        return [t5_xxl()]

    def _pooled(self, encoders: list[nn.Module], batch: int) -> torch.Tensor:
        """Return what the trainer's stand-in for CLIP-L gives: next to nothing (trainer: DummyCLIPL)."""
        return torch.zeros(batch, 77, 1)
