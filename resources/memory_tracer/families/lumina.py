"""Lumina-Image 2.0. Source: trainer: library/lumina_models.py, lumina_util.py, lumina_train_network.py."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from memory_tracer.families.flux import FluxVae
from memory_tracer.families.text_encoders import tokens
from memory_tracer.setting import Setting

GEMMA_2_2B = {
    "head_dim": 256,
    "hidden_size": 2304,
    "intermediate_size": 9216,
    "num_attention_heads": 8,
    "num_hidden_layers": 26,
    "num_key_value_heads": 4,
    "query_pre_attn_scalar": 256,
    "vocab_size": 256000,
}
"""Source: trainer: library/lumina_util.py, load_gemma2."""


class Lumina2(FluxVae):
    """Lumina-Image 2.0, with Gemma 2 2B."""

    adapter_module = "networks.lora_lumina"
    noisy_in_half = True

    def build_network(self, setting: Setting) -> nn.Module:
        from library import lumina_models

        network: nn.Module = lumina_models.NextDiT_2B_GQA_patch2_Adaln_Refiner()
        return network

    def predict(
        self, network: nn.Module, noisy: torch.Tensor, texts: list[torch.Tensor], setting: Setting
    ) -> torch.Tensor:
        text, mask = texts
        prediction: torch.Tensor = network(
            x=noisy, t=torch.rand(setting.batch), cap_feats=text, cap_mask=mask
        )
        return prediction

    def cached_texts(self, setting: Setting) -> list[torch.Tensor]:
        batch, length = setting.batch, setting.text_tokens
        return [torch.zeros(batch, length, 2304), torch.ones(batch, length, dtype=torch.int32)]

    def build_text_encoders(self, setting: Setting) -> list[nn.Module]:
        from transformers import Gemma2Config, Gemma2Model

        return [Gemma2Model(Gemma2Config(**GEMMA_2_2B))]

    def encode_texts(self, encoders: list[Any], setting: Setting) -> list[torch.Tensor]:
        batch, length = setting.batch, setting.text_tokens
        out = encoders[0](tokens(batch, length), output_hidden_states=True, use_cache=False)
        return [out.hidden_states[-2], torch.ones(batch, length, dtype=torch.int32)]
