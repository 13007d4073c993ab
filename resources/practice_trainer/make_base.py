"""Makes ``models/practice-base.safetensors``: teaches the small denoiser grey shapes.

It never sees a colour, so that a LoRA has something to learn which everybody can see. Takes some minutes
on one core. Run it from this folder: ``python make_base.py``.
"""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import torch
from library.captions import tokens
from library.denoiser import TIMESTEPS, Denoiser, Noise, TextEncoder
from library.images import SIDE
from library.model_util import OWN_BASE, TEXT_PREFIX, UNET_PREFIX
from PIL import Image, ImageDraw
from safetensors.torch import save_file
from torch.nn import functional

STEPS, BATCH, PICTURES, SEED = 1500, 16, 2000, 7
COLOURS = {
    "red": (214, 62, 56),
    "orange": (238, 142, 50),
    "yellow": (242, 209, 78),
    "green": (80, 160, 90),
    "blue": (64, 112, 200),
    "purple": (132, 84, 170),
    "pink": (240, 160, 180),
    "brown": (130, 92, 66),
    "black": (40, 40, 48),
    "white": (240, 240, 236),
    "grey": (140, 140, 146),
}
SHAPES = ("circle", "square", "triangle", "ring", "star", "face")


def _draw_shape(
    draw: ImageDraw.ImageDraw, shape: str, box: list[float], colour: tuple[int, int, int]
) -> None:
    left, top, right, bottom = box
    middle = (left + right) / 2
    if shape == "circle":
        draw.ellipse(box, colour)
    elif shape == "square":
        draw.rectangle(box, colour)
    elif shape == "triangle":
        draw.polygon([(middle, top), (right, bottom), (left, bottom)], colour)
    elif shape == "ring":
        draw.ellipse(box, outline=colour, width=max(2, int((right - left) / 6)))
    elif shape == "star":
        draw.polygon(
            [(middle, top), (right, bottom), (left, top + 8), (right, top + 8), (left, bottom)], colour
        )
    else:
        size = right - left
        draw.ellipse(box, colour)
        for x in (left + size * 0.3, left + size * 0.7):
            draw.ellipse([x - size / 10, top + size * 0.3, x + size / 10, top + size * 0.5], (30, 30, 36))


def picture(chance: random.Random) -> tuple[np.ndarray, str]:
    """Return one drawn picture, 3×32×32 in -1…1, and its caption."""
    ground, colour = chance.sample(sorted(COLOURS), 2)
    shape = chance.choice(SHAPES)
    image = Image.new("RGB", (128, 128), COLOURS[ground])
    draw = ImageDraw.Draw(image)
    if chance.random() < 0.5:
        level = chance.randint(60, 120)
        draw.rectangle([0, level, 128, 128], COLOURS[chance.choice(sorted(COLOURS))])
    size = chance.uniform(40, 90)
    left, top = chance.uniform(4, 124 - size), chance.uniform(4, 124 - size)
    _draw_shape(draw, shape, [left, top, left + size, top + size], COLOURS[colour])
    small = image.convert("L").convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX)
    pixels = np.asarray(small, np.float32).transpose(2, 0, 1) / 127.5 - 1
    return pixels, f"a {colour} {shape}, {ground} background"


def main() -> None:
    """Teach and save."""
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    chance = random.Random(SEED)
    drawn = [picture(chance) for _ in range(PICTURES)]
    pixels = torch.from_numpy(np.stack([image for image, _ in drawn]))
    words = torch.tensor([tokens(caption) for _, caption in drawn])
    unet, text_encoder, noise = Denoiser(), TextEncoder(), Noise()
    weights = [*unet.parameters(), *text_encoder.parameters()]
    optimizer = torch.optim.AdamW(weights, lr=2e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS, 1e-5)
    mean = 1.0
    for step in range(1, STEPS + 1):
        chosen = torch.randint(0, PICTURES, (BATCH,))
        times = torch.randint(0, TIMESTEPS, (BATCH,))
        truth = torch.randn(BATCH, 3, SIDE, SIDE)
        # One caption in ten is left out, so that a negative prompt means something.
        captions = words[chosen] * (torch.rand(BATCH, 1) > 0.1)
        guess = unet(noise.add(pixels[chosen], truth, times), times, text_encoder(captions))
        loss = functional.mse_loss(guess, truth)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        schedule.step()
        mean += 0.02 * (loss.item() - mean)
        if step % 200 == 0:
            print(f"{step}/{STEPS} loss {mean:.4f}", flush=True)
    state = {UNET_PREFIX + name: value.half() for name, value in unet.state_dict().items()}
    state |= {TEXT_PREFIX + name: value.half() for name, value in text_encoder.state_dict().items()}
    Path(OWN_BASE).parent.mkdir(parents=True, exist_ok=True)
    save_file(state, OWN_BASE, {"modelspec.title": "Practice base", "modelspec.architecture": "practice"})


if __name__ == "__main__":
    main()
