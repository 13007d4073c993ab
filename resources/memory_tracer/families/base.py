"""What the tracer must know of a family of models."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import nn

from memory_tracer.setting import Setting


class Family(ABC):
    """A family's real network classes, and how the trainer calls them in a step.

    Attributes:
        adapter_module: The trainer's module that makes the LoRA.
        latent_channels: Channels of its latents.
        latent_scale: How many pixels wide a latent is.
        noisy_in_half: Whether the noisy latents are cast to the type of mixed precision.
        decodes_with_autocast: Whether samples are decoded with mixed precision on.
        has_text_encoders: Whether its text encoders can be built without a download.
    """

    adapter_module = "networks.lora"
    latent_channels = 4
    latent_scale = 8
    noisy_in_half = False
    decodes_with_autocast = False
    has_text_encoders = True

    @abstractmethod
    def build_network(self, setting: Setting) -> nn.Module:
        """Make the network, in fp32 and on whatever mode of torch is on."""

    @abstractmethod
    def predict(
        self, network: nn.Module, noisy: torch.Tensor, texts: list[torch.Tensor], setting: Setting
    ) -> torch.Tensor:
        """Call the network as the trainer does.

        Args:
            network: What ``build_network`` made.
            noisy: Latents of shape batch, channels, height, width.
            texts: What ``cached_texts`` or ``encode_texts`` made.
            setting: The setting of the trace.

        Returns:
            The prediction, of the shape of the latents.
        """

    @abstractmethod
    def cached_texts(self, setting: Setting) -> list[torch.Tensor]:
        """Return what the cache of text encoder outputs gives for a batch: in fp32."""

    def build_text_encoders(self, setting: Setting) -> list[nn.Module]:
        """Make the text encoders, in fp32."""
        raise NotImplementedError(f"no text encoders are known for {setting.family}")

    def encode_texts(self, encoders: list[nn.Module], setting: Setting) -> list[torch.Tensor]:
        """Run the text encoders as the trainer does; the result is like ``cached_texts``."""
        raise NotImplementedError(f"no text encoders are known for {setting.family}")

    def trainable_encoders(self, encoders: list[nn.Module]) -> list[nn.Module]:
        """Return the text encoders that are trained when text encoders are."""
        return encoders

    def build_vae(self) -> nn.Module:
        """Make the VAE, in fp32."""
        raise NotImplementedError("no VAE is known")

    def encode_images(self, vae: nn.Module, images: torch.Tensor) -> torch.Tensor:
        """Return the latents of images of shape batch, 3, height, width."""
        raise NotImplementedError("no VAE is known")

    def decode_latents(self, vae: nn.Module, latents: torch.Tensor) -> torch.Tensor:
        """Return the images of latents."""
        raise NotImplementedError("no VAE is known")

    def use_attention(self, network: nn.Module, attention: str) -> None:  # noqa: B027 - few have a choice
        """Switch the network's attention; networks that have only SDPA need no switch."""

    def prepare_full_training(self, network: nn.Module) -> None:
        """Have all weights trained that the trainer trains."""
        network.requires_grad_(True)

    def item(self, setting: Setting) -> float:
        """Return what the network's code gets when it reads a number from a tensor."""
        return setting.text_tokens

    def latents(self, setting: Setting) -> torch.Tensor:
        """Return latents as the trainer reads them from its cache: in fp32."""
        scale = self.latent_scale
        return torch.randn(
            setting.batch, self.latent_channels, setting.height_px // scale, setting.width_px // scale
        )
