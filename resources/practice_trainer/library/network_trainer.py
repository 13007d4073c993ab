"""From arguments to a trained LoRA: everything before and around the loop."""

from __future__ import annotations

import argparse
import logging
import random
import time
from pathlib import Path

import numpy as np
import torch

from library.checkpoints import Checkpoints
from library.config_util import read_datasets
from library.dataset import DatasetGroup, make_groups
from library.denoiser import TextEncoder
from library.families import Family, caches_text
from library.loop import Parts, TrainingLoop
from library.losses import DenoisingLoss
from library.metadata import describe_training
from library.model_util import load_target_model
from library.precision import Precision
from library.quick_start import without_compiler
from library.sampling import Sampler
from library.setup import count_epochs, count_steps, make_loader, make_network, prepare_optimizer, text_rate
from library.states import States
from library.tracking import logging_folder, make_tracker

logger = logging.getLogger(__name__)
NO_DATA = (
    "No data found. Please verify arguments (train_data_dir must be the parent of folders with images) / "
    "画像がありません。引数指定を確認してください（train_data_dirには画像があるフォルダではなく、"
    "画像があるフォルダの親フォルダを指定する必要があります）"
)


class NetworkTrainer:
    """Trains a LoRA as the arguments say.

    Attributes:
        family: What the script is for.
        started: When, in seconds since 1970.
        session_id: A random number that all files of the run carry.
    """

    def __init__(self, args: argparse.Namespace, family: Family) -> None:
        self._args = args
        self.family = family
        self.started = time.time()
        self.session_id = random.randint(0, 2**32)

    def train(self) -> None:
        """Train from beginning to end; an empty dataset is said and ends it without an error."""
        # More threads do not help models of this size, and leave nothing for the machine's user.
        torch.set_num_threads(1)
        without_compiler()
        self._seed()
        group, held_out = make_groups(read_datasets(self._args))
        if not len(group):
            logger.error(NO_DATA)
            return
        groups = [group, held_out] if held_out else [group]
        self.family.check(self._args, groups)
        logger.info("preparing accelerator")
        folder = logging_folder(self._args)
        print("accelerator device: cpu")
        self._prepare(groups, folder)

    def _seed(self) -> None:
        if self._args.seed is None:
            self._args.seed = random.randint(0, 2**32 - 1)
        random.seed(self._args.seed)
        np.random.seed(self._args.seed)  # refuses the seeds that the trainer refuses
        torch.manual_seed(self._args.seed)

    def _prepare(self, groups: list[DatasetGroup], folder: Path | None) -> None:
        """Make everything that the loop needs, and run it."""
        args = self._args
        group, held_out = groups[0], groups[1] if len(groups) > 1 else None
        text_encoder, unet = load_target_model(args.pretrained_model_name_or_path)
        if args.sdpa:
            logger.info("Enable SDPA for U-Net")
        self._cache(groups, text_encoder)
        network = make_network(args, text_encoder, unet)
        print("prepare optimizer, data loader etc.")
        optimization = prepare_optimizer(args, network)
        loader = make_loader(args, group, shuffle=True)
        steps_per_epoch = count_steps(args, len(loader))
        scheduler = optimization.schedule(args)
        precision = Precision(args)
        precision.cut(text_encoder, unet, network)
        states = States(args, network, optimization.optimizer, scheduler, precision)
        resumed = states.load(Path(args.resume)) if args.resume else None
        epochs = count_epochs(args, steps_per_epoch)
        self._announce(group, held_out, len(loader), epochs)
        metadata = self._metadata(group, held_out, num_epochs=epochs, optimizer=optimization.name)
        parts = Parts(
            group=group,
            loader=loader,
            validation_loader=make_loader(args, held_out or DatasetGroup([]), shuffle=False),
            network=network,
            optimizer=optimization.optimizer,
            scheduler=scheduler,
            rate_names=optimization.rate_names,
            loss=DenoisingLoss(args, text_encoder, unet),
            precision=precision,
            checkpoints=Checkpoints(args, network, metadata, precision.save_dtype(args)),
            states=states,
            sampler=Sampler(args, text_encoder, unet),
            tracker=make_tracker(args, folder),
            epochs=epochs,
        )
        self._run(parts, *self._where_to_begin(resumed, steps_per_epoch))

    def _cache(self, groups: list[DatasetGroup], text_encoder: TextEncoder) -> None:
        for group in groups if self._args.cache_latents else ():
            group.cache()
        for group in groups if caches_text(self._args) else ():
            group.cache_text(text_encoder.encode)

    def _metadata(
        self, group: DatasetGroup, held_out: DatasetGroup | None, **facts: int | str
    ) -> dict[str, str]:
        return describe_training(
            self._args,
            group,
            held_out,
            session_id=self.session_id,
            training_started_at=self.started,
            text_encoder_lr=text_rate(self._args),
            base_model_version=self.family.version,
            **facts,
        )

    def _run(self, parts: Parts, first_epoch: int, skipped: int) -> None:
        if parts.sampler.wanted(0, None):
            parts.network.eval()
            parts.sampler.draw_all(0, 0)
        for epoch in range(first_epoch if skipped else 0):
            logger.info(f"skipping epoch {epoch + 1} because initial_step (multiplied) is {skipped}")
            skipped -= len(parts.loader)
        logger.info(f"unet dtype: {parts.precision.dtype}, device: cpu")
        for number in range(self.family.text_encoders):
            logger.info(f"text_encoder [{number}] dtype: torch.float32, device: cpu")
        TrainingLoop(self._args, parts).run(first_epoch, skipped)

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
