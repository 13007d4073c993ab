"""Replays two training steps of a network as the trainer does them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from torch import nn

from memory_tracer.allocator import rounded
from memory_tracer.building import DTYPES, cast, tensors_of, without_initial_values
from memory_tracer.families.base import Family
from memory_tracer.optimizers import fuse_with_backward, make_optimizer
from memory_tracer.setting import Setting
from memory_tracer.tracker import StorageTracker

STEPS = 2
"""The optimizer's state appears at the end of the first step, so that only the second shows the peak."""


@dataclass
class Training:
    """The modules of a training.

    Attributes:
        network: The U-Net or transformer.
        encoders: The text encoders; none where their outputs are cached.
        adapter: The LoRA; None in full training.
        groups: What the optimizer changes, in the groups that the trainer gives it.
    """

    network: nn.Module
    encoders: list[nn.Module]
    adapter: nn.Module | None
    groups: list[dict[str, Any]]

    @property
    def parameters(self) -> list[nn.Parameter]:
        """All that the optimizer changes."""
        return [parameter for group in self.groups for parameter in group["params"]]


def build_training(family: Family, setting: Setting) -> Training:
    """Make the modules as the trainer has them when its first step begins."""
    with without_initial_values():
        network = family.build_network(setting)
        encoders = family.build_text_encoders(setting) if setting.text_encoders else []
        family.use_attention(network, setting.attention)
        if setting.kind == "full":
            return _full_training(family, setting, network)
        return _lora_training(family, setting, network, encoders)


def _full_training(family: Family, setting: Setting, network: Any) -> Training:
    cast(network, DTYPES[setting.weights])
    family.prepare_full_training(network)
    _set_mode(network, setting)
    trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
    return Training(network, [], None, [{"params": trained}])


def _lora_training(family: Family, setting: Setting, network: Any, encoders: list[nn.Module]) -> Training:
    adapter: Any = importlib.import_module(family.adapter_module).create_network(
        1.0, setting.rank, 1.0, None, encoders or [nn.Identity()], network, neuron_dropout=None, dropout=None
    )
    trained = family.trainable_encoders(encoders)
    adapter.apply_to(encoders, network, bool(trained), True)
    for module in (network, *encoders):
        module.requires_grad_(False)
    cast(network, DTYPES[setting.weights])
    for encoder in encoders:
        _prepare_encoder(encoder, setting, encoder in trained)
    if setting.adapter != "fp32":
        cast(adapter, DTYPES[setting.adapter])
    adapter.prepare_grad_etc(encoders, network)
    adapter.train()
    _set_mode(network, setting)
    return Training(network, encoders, adapter, _groups_of(adapter))


def _groups_of(adapter: Any) -> list[dict[str, Any]]:
    """Source: trainer: train_network.py, from ``support_multiple_lrs`` on; the rates do not matter."""
    if hasattr(adapter, "prepare_optimizer_params_with_multiple_te_lrs"):
        found = adapter.prepare_optimizer_params_with_multiple_te_lrs(1e-4, 1e-4, 1e-4)
    else:
        found = adapter.prepare_optimizer_params(1e-4, 1e-4, 1e-4)
    groups = found[0] if isinstance(found, tuple) else found
    return [{"params": list(group["params"])} for group in groups]


def _prepare_encoder(encoder: Any, setting: Setting, trained: bool) -> None:
    """Source: trainer: train_network.py, from ``unet.requires_grad_(False)`` on."""
    cast(encoder, DTYPES[setting.weights])
    if setting.weights == "fp8":
        cast(encoder.text_model.embeddings, torch.bfloat16)
    encoder.train(setting.checkpointing)
    if setting.checkpointing and trained:
        encoder.gradient_checkpointing_enable()
        encoder.text_model.embeddings.requires_grad_(True)


def _set_mode(network: Any, setting: Setting) -> None:
    if setting.checkpointing:
        network.enable_gradient_checkpointing()
    network.train(setting.checkpointing or setting.kind == "full")


def trace_steps(family: Family, setting: Setting, tracker: StorageTracker) -> dict[str, Any]:
    """Replay the steps; to be called with a ``FakeTensorMode`` on.

    Returns:
        The result as the memory tables have it, all in bytes but for counts.
    """
    training = build_training(family, setting)
    tracker.item = family.item(setting)
    with tracker:
        return _traced(family, setting, tracker, training)


def _traced(family: Family, setting: Setting, tracker: StorageTracker, training: Training) -> dict[str, Any]:
    tracker.begin("load")
    for module in (training.network, *training.encoders):
        tracker.hold(tensors_of(module))
    weights = tracker.live
    tracker.hold(tensors_of(training.adapter) if training.adapter else [])
    adapter = tracker.live - weights
    optimizer = make_optimizer(setting.optimizer, training.groups) if setting.optimizer else None
    if setting.fused_backward:
        fuse_with_backward(optimizer)
    gradients = 0
    for number in range(1, (STEPS if optimizer else 1) + 1):
        gradients = _step(family, setting, tracker, training, optimizer, number)
    state = tracker.live - weights - adapter - _gradients(training)
    peak_phase = max(tracker.peaks, key=lambda phase: tracker.peaks[phase])
    return {
        "trainable_parameters": sum(parameter.numel() for parameter in training.parameters),
        "weights": weights,
        "adapter": adapter,
        "gradients": gradients,
        "optimizer_state": state,
        "phases": dict(tracker.peaks),
        "peak": tracker.peaks[peak_phase],
        "peak_phase": peak_phase,
        "peak_operation": tracker.operation,
        "allocated": tracker.allocator.allocated_peak,
        "reserved": tracker.allocator.reserved_peak,
        "operations": tracker.operations,
    }


def _step(
    family: Family,
    setting: Setting,
    tracker: StorageTracker,
    training: Training,
    optimizer: torch.optim.Optimizer | None,
    number: int,
) -> int:
    """Do one step; return the bytes of the gradients that are there when the backward pass is over."""
    tracker.begin(f"forward_{number}")
    loss = _loss(family, setting, training)
    tracker.begin(f"backward_{number}")
    loss.backward()
    del loss
    gradients = _gradients(training)
    if optimizer is not None and not setting.fused_backward:
        tracker.begin(f"optimizer_{number}")
        with tracker.scalars_elsewhere():
            nn.utils.clip_grad_norm_(training.parameters, 1.0, foreach=True)
            optimizer.step()
    for parameter in training.parameters:
        parameter.grad = None
    return gradients


def _gradients(training: Training) -> int:
    """Return the bytes of all gradients that are kept, also of what no optimizer clears.

    With checkpointing the trainer has the embeddings of trained text encoders require gradients.
    """
    modules = [training.network, *training.encoders, *([training.adapter] if training.adapter else [])]
    parameters = {parameter for module in modules for parameter in module.parameters()}
    return sum(rounded(parameter.grad.nbytes) for parameter in parameters if parameter.grad is not None)


def _loss(family: Family, setting: Setting, training: Training) -> torch.Tensor:
    half = torch.bfloat16 if setting.autocast else torch.float32
    latents = family.latents(setting)
    target = torch.randn_like(latents)
    noisy = (latents + target).to(half if family.noisy_in_half else latents.dtype)
    if training.encoders:
        with autocast(setting):
            texts = family.encode_texts(training.encoders, setting)
    else:
        texts = family.cached_texts(setting)
    if setting.checkpointing:
        for tensor in (noisy, *texts):
            if tensor.is_floating_point() and not tensor.requires_grad:
                tensor.requires_grad_(True)
    with autocast(setting):
        prediction = family.predict(training.network, noisy, texts, setting)
    difference = F.mse_loss(prediction.float(), target.float(), reduction="none")
    return difference.mean(dim=(1, 2, 3)).mean()


@contextmanager
def autocast(setting: Setting) -> Iterator[None]:
    """Have mixed precision on where the setting wants it."""
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=setting.autocast):
        yield
