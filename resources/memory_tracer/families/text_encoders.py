"""Text encoders from their configurations, as the trainer builds them; nothing is downloaded."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

CLIP_L = {
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "hidden_act": "quick_gelu",
    "projection_dim": 768,
}
"""Source: trainer: library/model_util.py, sdxl_model_util.py, flux_utils.py."""

CLIP_H = {
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 23,
    "num_attention_heads": 16,
    "hidden_act": "gelu",
    "projection_dim": 512,
}
"""Of Stable Diffusion 2. Source: trainer: library/model_util.py."""

CLIP_G = {
    "hidden_size": 1280,
    "intermediate_size": 5120,
    "num_hidden_layers": 32,
    "num_attention_heads": 20,
    "hidden_act": "gelu",
    "projection_dim": 1280,
}
"""Source: trainer: library/sdxl_model_util.py, sd3_utils.py."""

T5_XXL = {
    "d_ff": 10240,
    "d_kv": 64,
    "d_model": 4096,
    "feed_forward_proj": "gated-gelu",
    "num_heads": 64,
    "num_layers": 24,
    "vocab_size": 32128,
    "tie_word_embeddings": False,
}
"""Source: trainer: library/flux_utils.py, load_t5xxl."""

_CLIP_COMMON = {
    "vocab_size": 49408,
    "max_position_embeddings": 77,
    "layer_norm_eps": 1e-05,
    "dropout": 0.0,
    "attention_dropout": 0.0,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 2,
}


def clip(config: dict[str, Any], *, projection: bool = False) -> nn.Module:
    """Make a CLIP text model, with or without its projection."""
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTextModelWithProjection

    kind = CLIPTextModelWithProjection if projection else CLIPTextModel
    model: nn.Module = kind(CLIPTextConfig(**_CLIP_COMMON, **config))
    return model


def t5_xxl() -> nn.Module:
    """Make the encoder of T5-XXL."""
    from transformers import T5Config, T5EncoderModel

    model: nn.Module = T5EncoderModel(T5Config(**T5_XXL))
    return model


def tokens(batch: int, length: int) -> torch.Tensor:
    """Return token numbers of shape batch, length."""
    return torch.zeros(batch, length, dtype=torch.long)
