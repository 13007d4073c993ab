"""LoRA: two thin layers beside each layer of a frozen model, kept under the usual names."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from library.weights import load_weights, save_weights, weight_hashes
from torch import Tensor, nn

logger = logging.getLogger(__name__)
UNET, TEXT = "lora_unet", "lora_te"
DEFAULT_DIM = 4
WIDTH_GAIN = 24.0
"""Makes up for how thin the model is, so that learning rates which suit a large one suit this one."""


class LoRAModule(nn.Module):
    """The thin pair beside one layer; its output is added to the layer's own.

    Attributes:
        name: Such as ``lora_unet_conv_in``.
        scale: alpha / dim.
    """

    def __init__(self, name: str, layer: nn.Module, dim: int, alpha: float, dropout: float | None) -> None:
        super().__init__()
        self.name = name
        self.dropout = dropout
        if isinstance(layer, nn.Conv2d):
            inner = (layer.kernel_size, layer.stride, layer.padding)
            self.lora_down: nn.Module = nn.Conv2d(layer.in_channels, dim, *inner, bias=False)
            self.lora_up: nn.Module = nn.Conv2d(dim, layer.out_channels, 1, bias=False)
        else:
            assert isinstance(layer, nn.Linear)
            self.lora_down = nn.Linear(layer.in_features, dim, bias=False)
            self.lora_up = nn.Linear(dim, layer.out_features, bias=False)
        nn.init.kaiming_uniform_(self.lora_down.weight, a=math.sqrt(5))
        nn.init.zeros_(self.lora_up.weight)
        alpha = alpha or dim
        self.register_buffer("alpha", torch.tensor(float(alpha)))
        self.scale = alpha / dim
        self.multiplier = 1.0

    def apply_to(self, layer: nn.Module) -> None:
        """Stand beside a layer: from now on its output is the sum of both."""
        own = layer.forward
        # Not a submodule: the frozen layer must not become one of the trained parts.
        layer.forward = lambda x: own(x) + self(x)

    def forward(self, x: Tensor) -> Tensor:
        """Return what is added to the layer's output for this input."""
        hidden = self.lora_down(x)
        if self.dropout and self.training:
            hidden = nn.functional.dropout(hidden, self.dropout)
        return self.lora_up(hidden) * (self.scale * self.multiplier * WIDTH_GAIN)


def layers_of(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """Yield the layers of a model that a LoRA can stand beside, by name."""
    for name, layer in model.named_modules():
        if isinstance(layer, nn.Linear | nn.Conv2d):
            yield name, layer


class LoRANetwork(nn.Module):
    """All thin pairs of a run.

    Attributes:
        unet_loras: Those beside the denoiser.
        text_encoder_loras: Those beside the text encoder.
    """

    def __init__(
        self,
        text_encoder: nn.Module,
        unet: nn.Module,
        dim: int,
        alpha: float,
        dropout: float | None,
        dims: Mapping[str, tuple[int, float]] | None = None,
    ) -> None:
        super().__init__()
        if dims is None:
            logger.info(f"create LoRA network. base dim (rank): {dim}, alpha: {alpha}")
            logger.info(f"neuron dropout: p={dropout}, rank dropout: p=None, module dropout: p=None")

        def make(prefix: str, model: nn.Module) -> dict[str, tuple[LoRAModule, nn.Module]]:
            made = {}
            for path, layer in layers_of(model):
                name = f"{prefix}_{path.replace('.', '_')}"
                if dims is None or name in dims:
                    own_dim, own_alpha = dims[name] if dims else (dim, alpha)
                    made[name] = (LoRAModule(name, layer, own_dim, own_alpha, dropout), layer)
            return made

        logger.info("create LoRA for Text Encoder:")
        self._text = make(TEXT, text_encoder)
        logger.info(f"create LoRA for Text Encoder: {len(self._text)} modules.")
        self._unet = make(UNET, unet)
        logger.info(f"create LoRA for U-Net: {len(self._unet)} modules.")
        self.text_encoder_loras = [lora for lora, _ in self._text.values()]
        self.unet_loras = [lora for lora, _ in self._unet.values()]

    def apply_to(self, *, text_encoder: bool, unet: bool) -> None:
        """Stand beside the layers of the models that are trained; the others are dropped."""
        if text_encoder:
            logger.info(f"enable LoRA for text encoder: {len(self._text)} modules")
        else:
            self.text_encoder_loras, self._text = [], {}
        if unet:
            logger.info(f"enable LoRA for U-Net: {len(self._unet)} modules")
        else:
            self.unet_loras, self._unet = [], {}
        for name, (lora, layer) in {**self._text, **self._unet}.items():
            lora.apply_to(layer)
            self.add_module(name, lora)

    def prepare_optimizer_params(
        self, text_encoder_lr: float | None, unet_lr: float | None, default: float
    ) -> tuple[list[dict[str, Any]], list[str]]:
        """Return the optimizer's groups and what each is called in the log."""
        groups, names = [], []
        for name, loras, own_rate in (
            ("textencoder", self.text_encoder_loras, text_encoder_lr),
            ("unet", self.unet_loras, unet_lr),
        ):
            rate = default if own_rate is None else own_rate
            parameters = [weight for lora in loras for weight in lora.parameters()]
            if parameters and rate == 0:
                logger.info("NO LR skipping!")
            elif parameters:
                groups.append({"params": parameters, "lr": rate})
                names.append(name)
        return groups, names

    def apply_max_norm(self, limit: float) -> tuple[int, float, float]:
        """Shrink pairs whose product is larger than the limit; return how many, mean and largest norm."""
        norms, scaled = [], 0
        with torch.no_grad():
            for lora in [*self.text_encoder_loras, *self.unet_loras]:
                up, down = lora.lora_up.weight, lora.lora_down.weight
                product = up.flatten(1) @ down.flatten(1) * lora.scale
                norm = product.norm().clamp(min=limit / 2)
                ratio = (norm.clamp(max=limit) / norm).sqrt()
                if ratio != 1:
                    scaled += 1
                    up *= ratio
                    down *= ratio
                norms.append(float(product.norm() * ratio**2))
        return scaled, sum(norms) / len(norms), max(norms)

    def save_weights(self, path: Path, dtype: torch.dtype | None, metadata: dict[str, str] | None) -> None:
        """Write all pairs under their usual names."""
        state = {
            name: tensor.detach().clone().to(dtype or tensor.dtype).contiguous()
            for name, tensor in self.state_dict().items()
        }
        if metadata is not None and path.suffix == ".safetensors":
            metadata = metadata | weight_hashes(state)
        save_weights(path, state, metadata)

    def load_weights(self, path: Path) -> str:
        """Take over the pairs of a file; return what fitted and what did not."""
        return str(self.load_state_dict(load_weights(path), strict=False))


def create_network(
    multiplier: float,
    network_dim: int | None,
    network_alpha: float | None,
    text_encoder: nn.Module,
    unet: nn.Module,
    neuron_dropout: float | None = None,
    **options: Any,
) -> LoRANetwork:
    """Make the pairs for both models; unknown options are passed over, as the trainer does."""
    dim = DEFAULT_DIM if network_dim is None else network_dim
    alpha = 1.0 if network_alpha is None else network_alpha
    return LoRANetwork(text_encoder, unet, dim, alpha, neuron_dropout)


def create_network_from_weights(path: Path, text_encoder: nn.Module, unet: nn.Module) -> LoRANetwork:
    """Make pairs of the sizes that a file has."""
    state = load_weights(path)
    dims = {}
    for name, tensor in state.items():
        if name.endswith(".lora_down.weight"):
            pair = name.removesuffix(".lora_down.weight")
            dim = tensor.shape[0]
            dims[pair] = (dim, float(state.get(f"{pair}.alpha", torch.tensor(dim))))
    return LoRANetwork(text_encoder, unet, DEFAULT_DIM, 1.0, None, dims)
