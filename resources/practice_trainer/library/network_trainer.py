"""From arguments to a trained LoRA: everything before and around the loop."""

from __future__ import annotations

import argparse
import importlib
import logging
import math
import os
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from networks.lora import LoRANetwork
from torch.utils.data import DataLoader

from library.checkpoints import Checkpoints
from library.config_util import read_datasets
from library.dataset import Batch, DatasetGroup, make_groups
from library.denoiser import Denoiser, TextEncoder
from library.loop import Parts, TrainingLoop
from library.losses import DenoisingLoss
from library.metadata import describe_training
from library.model_util import load_target_model
from library.optimizers import make_optimizer, make_scheduler
from library.precision import Precision, save_dtype
from library.sampling import Sampler
from library.states import States
from library.tracking import logging_folder, make_tracker

logger = logging.getLogger(__name__)
NOT_CACHEABLE = (
    "when caching latents, either color_aug or random_crop cannot be used / "
    "latentをキャッシュするときはcolor_augとrandom_cropは使えません"
)


def only_batch(examples: list[Batch]) -> Batch:
    """Return the one batch that the loader drew: the dataset makes whole batches already."""
    return examples[0]


class NetworkTrainer:
    """Trains a LoRA as the arguments say."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._args = args

    def train(self) -> None:
        """Train from beginning to end; an empty dataset is said and ends it without an error."""
        args = self._args
        started = time.time()
        # More threads do not help models of this size, and leave nothing for the machine's user.
        torch.set_num_threads(1)
        session_id = random.randint(0, 2**32)
        if args.seed is None:
            args.seed = random.randint(0, 2**32)
        random.seed(args.seed)
        np.random.seed(args.seed)
        torch.manual_seed(args.seed)
        group, held_out = make_groups(read_datasets(args))
        if not len(group):
            logger.error(
                "No data found. Please verify arguments (train_data_dir must be the parent of folders with "
                "images) / 画像がありません。引数指定を確認してください（train_data_dirには画像がある"
                "フォルダではなく、画像があるフォルダの親フォルダを指定する必要があります）"
            )
            return
        if args.cache_latents:
            assert group.cacheable and (held_out is None or held_out.cacheable), NOT_CACHEABLE
        logger.info("preparing accelerator")
        folder = logging_folder(args)
        print("accelerator device: cpu")
        text_encoder, unet = load_target_model(args.pretrained_model_name_or_path)
        if args.cache_latents:
            group.cache()
            if held_out:
                held_out.cache()
        network = self._network(text_encoder, unet)
        print("prepare optimizer, data loader etc.")
        groups, rate_names = network.prepare_optimizer_params(
            self._text_rate(), args.unet_lr, args.learning_rate
        )
        optimizer_name, optimizer_options, optimizer = make_optimizer(args, groups)
        loader = self._loader(group, shuffle=True)
        validation_loader = self._loader(held_out or DatasetGroup([]), shuffle=False)
        steps_per_epoch = math.ceil(len(loader) / args.gradient_accumulation_steps)
        if args.max_train_epochs is not None:
            args.max_train_steps = args.max_train_epochs * steps_per_epoch
            print(
                f"override steps. steps for {args.max_train_epochs} epochs is / "
                f"指定エポックまでのステップ数: {args.max_train_steps}"
            )
        scheduler = make_scheduler(args, optimizer)
        precision = self._precision(network)
        states = States(args, network, optimizer, scheduler, precision)
        resumed = states.load(Path(args.resume)) if args.resume else None
        epochs = math.ceil(args.max_train_steps / steps_per_epoch)
        if args.save_n_epoch_ratio and args.save_n_epoch_ratio > 0:
            args.save_every_n_epochs = math.floor(epochs / args.save_n_epoch_ratio) or 1
        self._announce(group, held_out, len(loader), epochs)
        optimizer_text = f"{optimizer_name}({optimizer_options})" if optimizer_options else optimizer_name
        metadata = describe_training(
            args,
            group,
            held_out,
            session_id=session_id,
            training_started_at=started,
            num_epochs=epochs,
            text_encoder_lr=self._text_rate(),
            optimizer=optimizer_text,
        )
        parts = Parts(
            group=group,
            loader=loader,
            validation_loader=validation_loader,
            network=network,
            optimizer=optimizer,
            scheduler=scheduler,
            rate_names=rate_names,
            loss=DenoisingLoss(args, text_encoder, unet, precision),
            precision=precision,
            checkpoints=Checkpoints(args, network, metadata, save_dtype(args)),
            states=states,
            sampler=Sampler(args, text_encoder, unet),
            tracker=make_tracker(args, folder),
            epochs=epochs,
        )
        self._run(parts, resumed, steps_per_epoch)

    def _run(self, parts: Parts, resumed: int | None, steps_per_epoch: int) -> None:
        first_epoch, skipped = self._where_to_begin(resumed, steps_per_epoch)
        if parts.sampler.wanted(0, None):
            parts.network.eval()
            parts.sampler.draw_all(0, 0)
        for epoch in range(first_epoch if skipped else 0):
            logger.info(f"skipping epoch {epoch + 1} because initial_step (multiplied) is {skipped}")
            skipped -= len(parts.loader)
        logger.info(f"unet dtype: {parts.precision.dtype}, device: cpu")
        logger.info("text_encoder [0] dtype: torch.float32, device: cpu")
        TrainingLoop(self._args, parts).run(first_epoch, skipped)

    def _text_rate(self) -> float | None:
        rates: Any = self._args.text_encoder_lr
        if isinstance(rates, list):
            return rates[0] if rates else None
        return rates

    def _network(self, text_encoder: TextEncoder, unet: Denoiser) -> LoRANetwork:
        args = self._args
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

    def _loader(self, group: DatasetGroup, *, shuffle: bool) -> DataLoader[Batch]:
        workers = min(self._args.max_data_loader_n_workers, os.cpu_count() or 1)
        return DataLoader(
            group,
            batch_size=1,
            shuffle=shuffle and len(group) > 0,
            collate_fn=only_batch,
            num_workers=workers,
            persistent_workers=self._args.persistent_data_loader_workers,
        )

    def _precision(self, network: LoRANetwork) -> Precision:
        args = self._args
        for kind in ("fp16", "bf16"):
            if getattr(args, f"full_{kind}"):
                assert args.mixed_precision == kind, (
                    f"full_{kind} requires mixed precision='{kind}' / "
                    f"full_{kind}を使う場合はmixed_precision='{kind}'を指定してください。"
                )
                print(f"enable full {kind} training.")
                network.to(Precision(args).dtype)
                break
        return Precision(args)

    def _announce(
        self, group: DatasetGroup, held_out: DatasetGroup | None, batches: int, epochs: int
    ) -> None:
        args = self._args
        sizes = ", ".join(str(dataset.settings.batch_size) for dataset in group.datasets)
        print("running training / 学習開始")
        print(f"  num train images * repeats / 学習画像の数×繰り返し回数: {group.train_count}")
        held_out_count = held_out.train_count if held_out else 0
        print(f"  num validation images * repeats / 学習画像の数×繰り返し回数: {held_out_count}")
        print(f"  num reg images / 正則化画像の数: {group.reg_count}")
        print(f"  num batches per epoch / 1epochのバッチ数: {batches}")
        print(f"  num epochs / epoch数: {epochs}")
        print(f"  batch size per device / バッチサイズ: {sizes}")
        print(
            f"  gradient accumulation steps / 勾配を合計するステップ数 = {args.gradient_accumulation_steps}"
        )
        print(f"  total optimization steps / 学習ステップ数: {args.max_train_steps}")

    def _where_to_begin(self, resumed: int | None, steps_per_epoch: int) -> tuple[int, int]:
        """Return the first epoch, from 0, and how many batches from the very beginning are left out."""
        args = self._args
        step = resumed or 0
        if args.initial_step is not None or args.initial_epoch is not None:
            if resumed is not None:
                logger.warning(
                    "steps from the state is ignored because initial_step is specified / "
                    "initial_stepが指定されているため、stateからのステップ数は無視されます"
                )
            step = args.initial_step
            if step is None:
                step = (args.initial_epoch - 1) * steps_per_epoch
        if step <= 0:
            return 0, 0
        assert args.max_train_steps > step, (
            "max_train_steps should be greater than initial step / "
            f"max_train_stepsは初期ステップより大きい必要があります: {args.max_train_steps} vs {step}"
        )
        if not args.skip_until_initial_step:
            return step // steps_per_epoch, 0
        if not args.resume:
            logger.info(
                "initial_step is specified but not resuming. "
                "lr scheduler will be started from the beginning / "
                "initial_stepが指定されていますがresumeしていないため、lr schedulerは最初から始まります"
            )
        logger.info(f"skipping {step} steps / {step}ステップをスキップします")
        batches = step * args.gradient_accumulation_steps
        return batches // steps_per_epoch, batches
