"""What differs between the scripts: the checks before the training, and how many text encoders there are."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from library.dataset import DatasetGroup

logger = logging.getLogger(__name__)
NOT_CACHEABLE = (
    "when caching latents, either color_aug or random_crop cannot be used / "
    "latentをキャッシュするときはcolor_augとrandom_cropは使えません"
)
TEXT_NOT_CACHEABLE = (
    "when caching Text Encoder output, either caption_dropout_rate, shuffle_caption, token_warmup_step or "
    "caption_tag_dropout_rate cannot be used / Text Encoderの出力をキャッシュするときは"
    "caption_dropout_rate, shuffle_caption, token_warmup_step, caption_tag_dropout_rateは使えません"
)
TEXT_IS_TRAINED = (
    "network for Text Encoder cannot be trained with caching Text Encoder outputs / "
    "Text Encoderの出力をキャッシュしながらText Encoderのネットワークを学習することはできません"
)


@dataclass(frozen=True)
class Family:
    """The model family that a script is for.

    Attributes:
        version: As the metadata of its files have it.
        bucket_step: What ``bucket_reso_steps`` must be divisible by, in pixels.
        text_encoders: How many the large model has.
    """

    version: str
    bucket_step: int
    text_encoders: int

    def verify(self, args: argparse.Namespace) -> None:
        """Refuse or mend what this family's script refuses or mends before anything else."""
        if self is not SDXL:
            return
        assert not args.v2, (
            "v2 cannot be enabled in SDXL training / SDXL学習ではv2を有効にすることはできません"
        )
        if args.clip_skip is not None:
            logger.warning("clip_skip will be unexpected / SDXL学習ではclip_skipは動作しません")
        if args.cache_text_encoder_outputs_to_disk and not args.cache_text_encoder_outputs:
            args.cache_text_encoder_outputs = True
            logger.warning(
                "cache_text_encoder_outputs is enabled because cache_text_encoder_outputs_to_disk "
                "is enabled / cache_text_encoder_outputs_to_diskが有効になっているため"
                "cache_text_encoder_outputsが有効になりました"
            )

    def check(self, args: argparse.Namespace, groups: Sequence[DatasetGroup]) -> None:
        """Judge datasets and arguments together.

        Raises:
            AssertionError: They do not fit.
        """
        if args.cache_latents:
            assert all(group.cacheable for group in groups), NOT_CACHEABLE
        self.verify(args)
        if caches_text(args):
            assert groups[0].text_cacheable, TEXT_NOT_CACHEABLE
            assert args.network_train_unet_only, TEXT_IS_TRAINED
        for group in groups:
            for dataset in group.datasets:
                steps = dataset.settings.bucket_reso_steps
                assert not dataset.settings.enable_bucket or steps % self.bucket_step == 0, (
                    f"bucket_reso_steps is {steps}. it must be divisible by {self.bucket_step}.\n"
                    f"bucket_reso_stepsが{steps}です。{self.bucket_step}で割り切れる必要があります"
                )


def caches_text(args: argparse.Namespace) -> bool:
    """Whether the text encoder's results are kept; not all scripts have the arguments."""
    return bool(
        getattr(args, "cache_text_encoder_outputs", False)
        or getattr(args, "cache_text_encoder_outputs_to_disk", False)
    )


STABLE_DIFFUSION = Family("sd_v1", 64, 1)
SDXL = Family("sdxl_base_v1-0", 32, 2)
