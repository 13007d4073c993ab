"""Draws the pictures of the sample project: one made-up creature in many places.

The creature is called pimolo: a round orange body, two tall ears with pink insides, a cream belly
and a striped tail. Run it from this folder: ``python draw_images.py``. The same pictures come out
each time.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw

SEED = 20
FINE = 3  # drawn larger and shrunk, so that edges are smooth
TRIGGER = "pimolo"
FUR, FUR_DARK, CREAM, PINK, INK = "#f08c3a", "#c96420", "#fff0d8", "#f6a8b4", "#2b2430"
Draw = ImageDraw.ImageDraw
# Ovals by middle, half width, half height, and colour, in units of the creature's height.
WEARABLE = {
    "scarf": ((0, 0.1, 0.3, 0.06, "#3f7fc4"), (-0.2, 0.2, 0.05, 0.12, "#3f7fc4")),
    "hat": ((0, -0.3, 0.24, 0.04, "#6a4a9c"), (0, -0.38, 0.13, 0.11, "#6a4a9c")),
}


@dataclass(frozen=True)
class Scene:
    """One picture.

    Attributes:
        size_px: Width and height.
        where: Draws the ground.
        words: Its caption after the trigger word.
        x: The creature's middle, as a share of the width.
        size: Its height, as a share of the picture's.
        mirrored: Whether it looks to the left.
        asleep: Whether its eyes are closed.
        wearing: ``scarf``, ``hat`` or nothing.
    """

    size_px: tuple[int, int]
    where: Callable[[Draw, int, int, random.Random], None]
    words: str
    x: float = 0.5
    size: float = 0.72
    mirrored: bool = False
    asleep: bool = False
    wearing: str = ""


def _sky(draw: Draw, width: int, height: int, top: str, bottom: str) -> None:
    first, last = (tuple(int(c[i : i + 2], 16) for i in (1, 3, 5)) for c in (top, bottom))
    for y in range(height):
        part = y / height
        colour = tuple(round(a + (b - a) * part) for a, b in zip(first, last, strict=True))
        draw.line([(0, y), (width, y)], colour)


def meadow(draw: Draw, width: int, height: int, chance: random.Random) -> None:
    """A green hill with flowers under a blue sky."""
    _sky(draw, width, height, "#7cc4f0", "#d8f0fa")
    draw.ellipse([-width * 0.3, height * 0.62, width * 1.3, height * 1.6], "#6cb45c")
    for _ in range(26):
        x, y = chance.uniform(0, width), chance.uniform(height * 0.74, height)
        r = width * 0.012
        draw.ellipse([x - r, y - r, x + r, y + r], chance.choice(["#fff6c8", "#f8d0e0", "#ffffff"]))


def night(draw: Draw, width: int, height: int, chance: random.Random) -> None:
    """Stars and a moon over dark hills."""
    _sky(draw, width, height, "#141c44", "#3c4a86")
    for _ in range(40):
        x, y, r = chance.uniform(0, width), chance.uniform(0, height * 0.6), width * 0.005
        draw.ellipse([x - r, y - r, x + r, y + r], "#fdf6d0")
    draw.ellipse([width * 0.72, height * 0.08, width * 0.88, height * 0.08 + width * 0.16], "#fbeeb4")
    draw.ellipse([-width * 0.2, height * 0.7, width * 1.2, height * 1.5], "#26335c")


def beach(draw: Draw, width: int, height: int, chance: random.Random) -> None:
    """Sea, sand and a sun."""
    _sky(draw, width, height, "#9adcf4", "#e8f8fc")
    draw.ellipse(
        [width * 0.08, height * 0.06, width * 0.08 + width * 0.14, height * 0.06 + width * 0.14], "#ffd75e"
    )
    draw.rectangle([0, height * 0.45, width, height * 0.68], "#3f9fd0")
    for line in range(4):
        y = height * (0.49 + 0.05 * line)
        draw.line([(0, y), (width, y)], "#8fcfec", round(height * 0.008))
    draw.rectangle([0, height * 0.66, width, height], "#f2dca4")


def snow(draw: Draw, width: int, height: int, chance: random.Random) -> None:
    """Snowy hills with firs and falling flakes."""
    _sky(draw, width, height, "#b8cfe4", "#eaf2f8")
    for x in (0.12, 0.3, 0.8, 0.93):
        foot, tall = height * 0.74, height * chance.uniform(0.22, 0.34)
        half = width * 0.08
        draw.polygon(
            [(width * x, foot - tall), (width * x + half, foot), (width * x - half, foot)], "#3f7a6a"
        )
    draw.ellipse([-width * 0.3, height * 0.68, width * 1.3, height * 1.5], "#fbfdff")
    for _ in range(40):
        x, y, r = chance.uniform(0, width), chance.uniform(0, height), width * 0.008
        draw.ellipse([x - r, y - r, x + r, y + r], "#ffffff")


def room(draw: Draw, width: int, height: int, chance: random.Random) -> None:
    """A wall with a window, a floor and a rug."""
    draw.rectangle([0, 0, width, height], "#c8b4dc")
    draw.rectangle([0, height * 0.72, width, height], "#a87850")
    draw.rectangle([width * 0.08, height * 0.1, width * 0.36, height * 0.46], "#fdfdf6")
    draw.rectangle([width * 0.1, height * 0.12, width * 0.34, height * 0.44], "#9cd0f0")
    draw.ellipse([width * 0.14, height * 0.8, width * 0.86, height * 0.98], "#5c88b4")


def forest(draw: Draw, width: int, height: int, chance: random.Random) -> None:
    """Tall trunks in green light."""
    _sky(draw, width, height, "#3d7a54", "#a8d08c")
    for x in (0.06, 0.22, 0.78, 0.94):
        half = width * chance.uniform(0.03, 0.05)
        draw.rectangle([width * x - half, 0, width * x + half, height * 0.82], "#5e4632")
    draw.rectangle([0, height * 0.78, width, height], "#567c3c")


def plain(colour: str) -> Callable[[Draw, int, int, random.Random], None]:
    """Return a ground of one colour with a floor a little darker."""

    def ground(draw: Draw, width: int, height: int, chance: random.Random) -> None:
        draw.rectangle([0, 0, width, height], colour)
        shade = tuple(round(int(colour[i : i + 2], 16) * 0.86) for i in (1, 3, 5))
        draw.rectangle([0, height * 0.8, width, height], shade)

    return ground


def _tail(draw: Draw, at: Callable[[float, float], tuple[float, float]], unit: float) -> None:
    for number in range(6):
        angle = 0.5 + number * 0.32
        x, y = at(0.3 + 0.2 * math.sin(angle), 0.16 - 0.1 * number)
        r = unit * (0.085 - 0.004 * number)
        draw.ellipse([x - r, y - r, x + r, y + r], FUR if number % 2 else CREAM)


def creature(draw: Draw, middle: float, foot: float, unit: float, scene: Scene) -> None:
    """Draw the creature, standing at ``foot``, ``unit`` pixels tall."""
    side = -1 if scene.mirrored else 1

    def at(x: float, y: float) -> tuple[float, float]:
        return middle + side * x * unit, foot - unit * 0.36 + y * unit

    def oval(x: float, y: float, half_width: float, half_height: float, colour: str) -> None:
        cx, cy = at(x, y)
        w, h = half_width * unit, half_height * unit
        draw.ellipse([cx - w, cy - h, cx + w, cy + h], colour)

    def closed_eye(x: float, y: float) -> None:
        cx, cy = at(x, y)
        box = [cx - unit * 0.05, cy - unit * 0.03, cx + unit * 0.05, cy + unit * 0.04]
        draw.arc(box, 0, 180, INK, max(2, round(unit * 0.018)))

    _tail(draw, at, unit)
    for x in (-0.16, 0.14):
        oval(x, -0.42, 0.085, 0.24, FUR)
        oval(x, -0.4, 0.045, 0.17, PINK)
    oval(0, 0, 0.33, 0.35, FUR)
    oval(0.03, 0.12, 0.21, 0.21, CREAM)
    for x in (-0.15, 0.15):
        oval(x, 0.33, 0.1, 0.05, FUR_DARK)
    for x in (-0.11, 0.13):
        if scene.asleep:
            closed_eye(x, -0.1)
        else:
            oval(x, -0.1, 0.045, 0.06, INK)
            oval(x + 0.015, -0.12, 0.016, 0.02, "#ffffff")
    oval(0.02, -0.01, 0.035, 0.025, FUR_DARK)
    for x in (-0.19, 0.22):
        oval(x, 0.0, 0.04, 0.025, PINK)
    for figures in WEARABLE.get(scene.wearing, ()):
        oval(*figures)


SQUARE, WIDE, TALL = (256, 256), (320, 192), (192, 320)
SCENES = (
    Scene(SQUARE, meadow, "standing on a meadow, flowers, blue sky"),
    Scene(WIDE, beach, "on a beach, sea, sun", 0.6, 0.8),
    Scene(TALL, forest, "in a forest, tall trees", 0.5, 0.5),
    Scene(SQUARE, night, "at night, stars, moon", 0.4),
    Scene(SQUARE, snow, "in the snow, fir trees, wearing a blue scarf", 0.5, 0.74, wearing="scarf"),
    Scene(WIDE, room, "in a room, window, rug, sleeping", 0.55, 0.7, asleep=True),
    Scene(SQUARE, plain("#f4d8a0"), "plain yellow background, close-up", 0.5, 0.95),
    Scene(SQUARE, plain("#a8d8c8"), "plain green background", 0.5, 0.8, mirrored=True),
    Scene(SQUARE, plain("#b8c8f0"), "plain blue background, wearing a purple hat", 0.5, 0.8, wearing="hat"),
    Scene(WIDE, meadow, "on a meadow, far away, flowers", 0.3, 0.55, mirrored=True),
    Scene(TALL, beach, "on a beach, wearing a purple hat", 0.5, 0.5, wearing="hat"),
    Scene(SQUARE, night, "at night, stars, moon, sleeping", 0.5, 0.66, asleep=True),
    Scene(TALL, snow, "in the snow, fir trees", 0.45, 0.5, mirrored=True),
    Scene(SQUARE, forest, "in a forest, tall trees, close-up", 0.5, 0.95),
    Scene(SQUARE, room, "in a room, window, rug, wearing a blue scarf", 0.6, 0.75, wearing="scarf"),
    Scene(SQUARE, plain("#f0c0c8"), "plain pink background", 0.5, 0.85),
)


def picture(scene: Scene, chance: random.Random) -> Image.Image:
    """Return one drawn picture."""
    width, height = (side * FINE for side in scene.size_px)
    image = Image.new("RGB", (width, height))
    draw = ImageDraw.Draw(image)
    scene.where(draw, width, height, chance)
    creature(draw, width * scene.x, height * 0.93, height * scene.size, scene)
    return image.resize(scene.size_px, Image.Resampling.LANCZOS)


def main(folder: Path) -> None:
    """Draw all pictures and write their captions beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(SEED)
    for number, scene in enumerate(SCENES, 1):
        name = f"{TRIGGER}_{number:02d}"
        picture(scene, chance).quantize(128).save(folder / f"{name}.png", optimize=True)
        (folder / f"{name}.txt").write_text(f"{TRIGGER}, {scene.words}\n", "utf-8", newline="\n")


if __name__ == "__main__":
    main(Path(__file__).resolve().parent / "images" / TRIGGER)
