"""The model that is trained: a small U-Net that takes noise out of 32×32 pixels, and its text encoder.

Both are made so that a LoRA on their layers behaves as on the large ones: the loss falls, and since
nothing in them bounds the activations, weights that grow too far really overflow.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from library.captions import VOCABULARY, tokens

CHANNELS = 16
TEXT_WIDTH = 32
EMBEDDING = 64
TIMESTEPS = 1000


class ResnetBlock(nn.Module):
    """Two convolutions around a residual, scaled and shifted by the embedding of time and text."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.time_emb_proj = nn.Linear(EMBEDDING, 2 * outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.conv_shortcut = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else None

    def forward(self, x: Tensor, embedding: Tensor) -> Tensor:
        """Take n×inputs×h×w and n×64, return n×outputs×h×w."""
        scale, shift = self.time_emb_proj(functional.silu(embedding))[:, :, None, None].chunk(2, 1)
        hidden = functional.silu(self.conv1(x)) * (1 + scale) + shift
        rest = x if self.conv_shortcut is None else self.conv_shortcut(x)
        return (rest + self.conv2(functional.silu(hidden))) * math.sqrt(0.5)


class CrossAttention(nn.Module):
    """Lets each place look at the words of the caption."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.to_q = nn.Linear(channels, channels, bias=False)
        self.to_k = nn.Linear(TEXT_WIDTH, channels, bias=False)
        self.to_v = nn.Linear(TEXT_WIDTH, channels, bias=False)
        self.to_out = nn.Linear(channels, channels)

    def forward(self, x: Tensor, text: Tensor) -> Tensor:
        """Take n×channels×h×w and n×words×32, return n×channels×h×w."""
        places = x.flatten(2).transpose(1, 2)
        seen = functional.scaled_dot_product_attention(self.to_q(places), self.to_k(text), self.to_v(text))
        return x + self.to_out(seen).transpose(1, 2).reshape(x.shape)


def places_of(images: Tensor) -> Tensor:
    """Return where each pixel lies, n×2×h×w in -1…1: a model this small would not find out by itself."""
    count, _, height, width = images.shape
    y = torch.linspace(-1, 1, height, dtype=images.dtype)[:, None].expand(height, width)
    x = torch.linspace(-1, 1, width, dtype=images.dtype).expand(height, width)
    return torch.stack([x, y]).expand(count, 2, height, width)


class Denoiser(nn.Module):
    """Predicts the noise in an image from the noisy image, the timestep and the caption."""

    def __init__(self) -> None:
        super().__init__()
        low, high = CHANNELS, 2 * CHANNELS
        self.conv_in = nn.Conv2d(3 + 2, low, 3, padding=1)
        self.time_embedding = nn.Sequential(
            nn.Linear(2 * CHANNELS, EMBEDDING), nn.SiLU(), nn.Linear(EMBEDDING, EMBEDDING)
        )
        self.text_embedding = nn.Linear(TEXT_WIDTH, EMBEDDING)
        self.down_blocks = nn.ModuleList([ResnetBlock(low, low), ResnetBlock(high, high)])
        self.downsamplers = nn.ModuleList(
            [nn.Conv2d(low, high, 3, 2, padding=1), nn.Conv2d(high, high, 3, 2, padding=1)]
        )
        self.mid_resnets = nn.ModuleList([ResnetBlock(high, high), ResnetBlock(high, high)])
        self.mid_attention = CrossAttention(high)
        self.up_blocks = nn.ModuleList([ResnetBlock(2 * high, high), ResnetBlock(high + low, low)])
        self.conv_out = nn.Conv2d(low, 3, 3, padding=1)

    def forward(self, noisy: Tensor, timesteps: Tensor, text: Tensor) -> Tensor:
        """Take n×3×32×32, n and n×words×32, return the noise n×3×32×32."""
        frequencies = torch.exp(-math.log(10000.0) * torch.arange(CHANNELS) / CHANNELS)
        angles = timesteps.float()[:, None] * frequencies
        waves = torch.cat([angles.sin(), angles.cos()], 1).to(noisy.dtype)
        embedding = self.time_embedding(waves) + self.text_embedding(text.mean(1))
        skips = []
        hidden = self.conv_in(torch.cat([noisy, places_of(noisy)], 1))
        for block, downsampler in zip(self.down_blocks, self.downsamplers, strict=True):
            hidden = block(hidden, embedding)
            skips.append(hidden)
            hidden = downsampler(hidden)
        hidden = self.mid_attention(self.mid_resnets[0](hidden, embedding), text)
        hidden = self.mid_resnets[1](hidden, embedding)
        for block in self.up_blocks:
            hidden = functional.interpolate(hidden, scale_factor=2.0)
            hidden = block(torch.cat([hidden, skips.pop()], 1), embedding)
        return self.conv_out(hidden)


class TextLayer(nn.Module):
    """One residual layer over each word."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(TEXT_WIDTH, 2 * TEXT_WIDTH)
        self.fc2 = nn.Linear(2 * TEXT_WIDTH, TEXT_WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """Take and return n×words×32."""
        return x + self.fc2(functional.silu(self.fc1(x)))


class TextEncoder(nn.Module):
    """Turns the numbers of words into vectors."""

    def __init__(self) -> None:
        super().__init__()
        self.token_embedding = nn.Embedding(VOCABULARY, TEXT_WIDTH, padding_idx=0)
        self.layers = nn.ModuleList([TextLayer(), TextLayer()])

    def forward(self, words: Tensor) -> Tensor:
        """Take the numbers of n×words, return n×words×32."""
        hidden = self.token_embedding(words)
        for layer in self.layers:
            hidden = layer(hidden)
        return hidden

    @torch.no_grad()
    def encode(self, caption: str) -> np.ndarray:
        """Return the vectors of one caption, 24×32."""
        return self(torch.tensor([tokens(caption)]))[0].numpy()


class Noise:
    """How much noise each of the 1000 timesteps has (the schedule that Stable Diffusion uses)."""

    def __init__(self) -> None:
        betas = torch.linspace(0.00085**0.5, 0.012**0.5, TIMESTEPS) ** 2
        self.kept = torch.cumprod(1 - betas, 0)

    def add(self, images: Tensor, noise: Tensor, timesteps: Tensor) -> Tensor:
        """Mix n×3×32×32 images with noise at n timesteps."""
        kept = self.kept[timesteps][:, None, None, None].to(images.dtype)
        return kept.sqrt() * images + (1 - kept).sqrt() * noise

    def signal_to_noise(self, timesteps: Tensor) -> Tensor:
        """Return the ratio at n timesteps."""
        return self.kept[timesteps] / (1 - self.kept[timesteps])
