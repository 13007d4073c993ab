"""Sample images: drawn from the prompts of a file while the training goes on."""

from __future__ import annotations

import argparse
import json
import logging
import re
import time
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor

from library.captions import tokens
from library.denoiser import TIMESTEPS, Denoiser, Noise, TextEncoder
from library.images import SIDE
from library.progress import track

logger = logging.getLogger(__name__)
Prompt = dict[str, Any]

OPTIONS: dict[str, tuple[str, Any]] = {
    "w": ("width", int),
    "h": ("height", int),
    "d": ("seed", int),
    "s": ("sample_steps", lambda value: max(1, min(1000, int(value)))),
    "l": ("scale", float),
    "n": ("negative_prompt", str),
    "ss": ("sample_sampler", str),
}


def prompt_of_line(line: str) -> Prompt:
    """Read a prompt with its options, such as ``a cat --w 64 --h 64 --s 20 --d 1 --n blurry``."""
    text, *options = line.split(" --")
    prompt: Prompt = {"prompt": text}
    for option in options:
        match = re.match(r"([A-Za-z]+) (.+)", option)
        if match and match[1].lower() in OPTIONS:
            name, kind = OPTIONS[match[1].lower()]
            try:
                prompt[name] = kind(match[2].strip())
            except ValueError as error:
                logger.error(f"Exception in parsing / 解析エラー: {option}")  # noqa: TRY400 - as the trainer says it
                logger.error(error)  # noqa: TRY400
    return prompt


def read_prompts(path: Path) -> list[Prompt]:
    """Return the prompts of a text, TOML or JSON file."""
    text = path.read_text("utf-8")
    if path.suffix == ".toml":
        shared = tomllib.loads(text)["prompt"]
        found: list[Any] = [{**shared, **subset} for subset in shared["subset"]]
    elif path.suffix == ".json":
        found = json.loads(text)
    else:
        found = [line.strip() for line in text.splitlines() if line.strip() and line[0] != "#"]
    return [prompt_of_line(one) if isinstance(one, str) else one for one in found]


class Sampler:
    """Draws the samples of one run.

    Attributes:
        folder: Where the images go.
    """

    def __init__(self, args: argparse.Namespace, text_encoder: TextEncoder, unet: Denoiser) -> None:
        self._args = args
        self._text_encoder = text_encoder
        self._unet = unet
        self._noise = Noise()

    def wanted(self, step: int, epoch: int | None) -> bool:
        """Whether samples are due at the beginning, after this step, or at the end of this epoch."""
        args = self._args
        if step == 0:
            return bool(args.sample_at_first)
        if args.sample_every_n_epochs is not None:
            return epoch is not None and epoch % args.sample_every_n_epochs == 0
        every = args.sample_every_n_steps
        return every is not None and epoch is None and step % every == 0

    def draw_all(self, step: int, epoch: int | None) -> None:
        """Draw one image for each prompt; the state of the random numbers stays as it was."""
        logger.info("")
        logger.info(f"generating sample images at step / サンプル画像生成 ステップ: {step}")
        path = Path(self._args.sample_prompts)
        if not path.is_file():
            logger.error(f"No prompt file / プロンプトファイルがありません: {path}")
            return
        folder = Path(self._args.output_dir) / "sample"
        folder.mkdir(parents=True, exist_ok=True)
        before = torch.get_rng_state()
        for number, prompt in enumerate(read_prompts(path)):
            self._draw(prompt, number, folder, f"{step:06d}" if epoch is None else f"e{epoch:06d}")
        torch.set_rng_state(before)

    def _draw(self, prompt: Prompt, number: int, folder: Path, when: str) -> None:
        text, negative = prompt.get("prompt", ""), prompt.get("negative_prompt")
        width, height = (
            max(64, size - size % 8) for size in (prompt.get("width", 512), prompt.get("height", 512))
        )
        steps, scale, seed = prompt.get("sample_steps", 30), prompt.get("scale", 7.5), prompt.get("seed")
        logger.info(f"prompt: {text}")
        logger.info(f"negative_prompt: {negative}")
        logger.info(f"height: {height}")
        logger.info(f"width: {width}")
        logger.info(f"sample_steps: {steps}")
        logger.info(f"scale: {scale}")
        logger.info(f"sample_sampler: {prompt.get('sample_sampler', self._args.sample_sampler)}")
        if seed is None:
            torch.seed()
        else:
            logger.info(f"seed: {seed}")
            torch.manual_seed(seed)
        pixels = self._denoise(text, negative or "", steps, scale)
        values = ((pixels.nan_to_num(0.0).clamp(-1, 1) + 1) * 127.5).round().to(torch.uint8)
        image = Image.fromarray(values.permute(1, 2, 0).numpy()).resize(
            (width, height), Image.Resampling.BICUBIC
        )
        name = f"{self._args.output_name}_" if self._args.output_name else ""
        tail = "" if seed is None else f"_{seed}"
        image.save(folder / f"{name}{when}_{number:02d}_{time.strftime('%Y%m%d%H%M%S')}{tail}.png")

    @torch.no_grad()
    def _denoise(self, text: str, negative: str, steps: int, scale: float) -> Tensor:
        """Return one image, 3×32×32 in -1…1: from pure noise, step by step (DDIM)."""
        words = self._text_encoder(torch.tensor([tokens(text), tokens(negative)]))
        image = torch.randn(1, 3, SIDE, SIDE)
        times = torch.linspace(TIMESTEPS - 1, 0, steps + 1).long()
        for now, after in track(pairwise(times), steps):
            wanted, other = self._unet(image.repeat(2, 1, 1, 1), now.repeat(2), words).chunk(2)
            noise = other + scale * (wanted - other)
            kept, kept_after = self._noise.kept[now], self._noise.kept[after]
            clean = ((image - (1 - kept).sqrt() * noise) / kept.sqrt()).clamp(-1, 1)
            noise = (image - kept.sqrt() * clean) / (1 - kept).sqrt()
            image = kept_after.sqrt() * clean + (1 - kept_after).sqrt() * noise
        return image[0]
