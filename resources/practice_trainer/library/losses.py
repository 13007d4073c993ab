"""The loss of a batch: how well the noise in its images was predicted."""

from __future__ import annotations

import argparse

import torch
from torch import Tensor
from torch.nn import functional

from library.dataset import Batch
from library.denoiser import TIMESTEPS, Denoiser, Noise, TextEncoder

GOLDEN = (5**0.5 - 1) / 2


class DenoisingLoss:
    """Mixes images with noise and compares the model's guess with the truth."""

    def __init__(self, args: argparse.Namespace, text_encoder: TextEncoder, unet: Denoiser) -> None:
        self._args = args
        self._text_encoder = text_encoder
        self._unet = unet
        self._noise = Noise()
        self._start = torch.rand(1, dtype=torch.float64)
        self._drawn = 0

    def __call__(self, batch: Batch, timestep: int | None = None) -> Tensor:
        """Return the loss, one figure.

        Args:
            batch: What the dataset gave.
            timestep: The same for all images; random ones when None.
        """
        args = self._args
        pixels = torch.from_numpy(batch["pixels"])
        noise = torch.randn_like(pixels)
        if args.noise_offset:
            noise += args.noise_offset * torch.randn(len(pixels), 3, 1, 1)
        if timestep is None:
            lowest, highest = args.min_timestep or 0, args.max_timestep or TIMESTEPS
            timesteps = (lowest + self._shares(len(pixels)) * (highest - lowest)).long()
        else:
            timesteps = torch.full((len(pixels),), timestep)
        noisy = self._noise.add(pixels, noise, timesteps)
        if batch["text"] is None:
            text = self._text_encoder(torch.from_numpy(batch["tokens"]))
        else:
            text = torch.from_numpy(batch["text"])
        guess = self._unet(noisy, timesteps, text)
        each = self._compare(guess, noise).mean((1, 2, 3))
        return (each * self._weights(batch, timesteps)).mean()

    def _shares(self, count: int) -> Tensor:
        """Return the next figures in 0…1 of a sequence that covers the range evenly at any length.

        Chance alone would let the few images of such a run hide whether the loss falls.
        """
        shares = (self._start + torch.arange(self._drawn, self._drawn + count) * GOLDEN) % 1.0
        self._drawn += count
        return shares

    def _compare(self, guess: Tensor, truth: Tensor) -> Tensor:
        kind = self._args.loss_type
        if kind == "l1":
            return functional.l1_loss(guess, truth, reduction="none")
        if kind in ("huber", "smooth_l1"):
            return functional.huber_loss(guess, truth, reduction="none", delta=self._args.huber_c)
        return functional.mse_loss(guess, truth, reduction="none")

    def _weights(self, batch: Batch, timesteps: Tensor) -> Tensor:
        prior = self._args.prior_loss_weight
        weights = torch.tensor([prior if other else 1.0 for other in batch["regularization"]])
        gamma = self._args.min_snr_gamma
        if gamma:
            ratio = self._noise.signal_to_noise(timesteps)
            weights = weights * ratio.clamp(max=gamma) / ratio
        return weights
