"""Makes the parts of a run from its arguments: network, optimizer, data loader."""

from __future__ import annotations

import argparse
import importlib
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from networks.lora import LoRANetwork
from torch.utils.data import DataLoader

from library.dataset import Batch, DatasetGroup
from library.denoiser import Denoiser, TextEncoder
from library.optimizers import make_optimizer, make_scheduler


def text_rate(args: argparse.Namespace) -> float | None:
    """Return the text encoder's learning rate, the first where several are given."""
    rates: Any = args.text_encoder_lr
    if isinstance(rates, list):
        return rates[0] if rates else None
    return rates


def make_network(args: argparse.Namespace, text_encoder: TextEncoder, unet: Denoiser) -> LoRANetwork:
    """Make the LoRA by the module that the arguments name, and stand it beside the models.

    Raises:
        AttributeError: No module is named.
        ModuleNotFoundError: There is no such module.
    """
    print("import network module:", args.network_module)
    module = importlib.import_module(args.network_module)
    options = dict(word.split("=", 1) for word in args.network_args or ())
    if args.dim_from_weights:
        network = module.create_network_from_weights(Path(args.network_weights), text_encoder, unet)
    else:
        options.setdefault("dropout", args.network_dropout)
        network = module.create_network(
            1.0,
            args.network_dim,
            args.network_alpha,
            text_encoder,
            unet,
            neuron_dropout=args.network_dropout,
            **options,
        )
    network.apply_to(
        text_encoder=not args.network_train_unet_only, unet=not args.network_train_text_encoder_only
    )
    if args.network_weights is not None:
        fitted = network.load_weights(Path(args.network_weights))
        print(f"load network weights from {args.network_weights}: {fitted}")
    return network


@dataclass
class Optimization:
    """The optimizer of a run.

    Attributes:
        name: Its class and options, as the metadata have them.
        optimizer: Itself.
        rate_names: What each of its groups is called.
    """

    name: str
    optimizer: Any
    rate_names: list[str]

    def schedule(self, args: argparse.Namespace) -> Any:
        """Return its learning rate schedule; ``max_train_steps`` must be final."""
        return make_scheduler(args, self.optimizer)


def prepare_optimizer(args: argparse.Namespace, network: LoRANetwork) -> Optimization:
    """Make the optimizer for the trained weights."""
    groups, names = network.prepare_optimizer_params(text_rate(args), args.unet_lr, args.learning_rate)
    name, options, optimizer = make_optimizer(args, groups)
    return Optimization(f"{name}({options})" if options else name, optimizer, names)


def only_batch(examples: list[Batch]) -> Batch:
    """Return the one batch that the loader drew: the dataset makes whole batches already."""
    return examples[0]


def make_loader(args: argparse.Namespace, group: DatasetGroup, *, shuffle: bool) -> DataLoader[Batch]:
    """Return a loader with the worker processes that the arguments and the machine allow."""
    return DataLoader(
        group,
        batch_size=1,
        shuffle=shuffle and len(group) > 0,
        collate_fn=only_batch,
        num_workers=min(args.max_data_loader_n_workers, os.cpu_count() or 1),
        persistent_workers=args.persistent_data_loader_workers,
    )


def count_steps(args: argparse.Namespace, batches: int) -> int:
    """Return the steps of an epoch; epochs that are asked for override ``max_train_steps``."""
    steps_per_epoch = math.ceil(batches / args.gradient_accumulation_steps)
    if args.max_train_epochs is not None:
        args.max_train_steps = args.max_train_epochs * steps_per_epoch
        print(
            f"override steps. steps for {args.max_train_epochs} epochs is / "
            f"指定エポックまでのステップ数: {args.max_train_steps}"
        )
    return steps_per_epoch


def count_epochs(args: argparse.Namespace, steps_per_epoch: int) -> int:
    """Return how many epochs the steps make, the last one perhaps in part.

    ``save_n_epoch_ratio`` is turned into ``save_every_n_epochs`` here.
    """
    epochs = math.ceil(args.max_train_steps / steps_per_epoch)
    if args.save_n_epoch_ratio and args.save_n_epoch_ratio > 0:
        args.save_every_n_epochs = epochs // args.save_n_epoch_ratio or 1
    return epochs
