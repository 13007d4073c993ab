"""Questions to the bucket algorithm, and its answers in the form in which the trainer's own are kept."""

from __future__ import annotations

import random

from gui.engine.dataset.buckets import BucketSettings, BucketsImpossible, ImageTooThin


def questions(seed: int, settings: int, images: int) -> list:
    draw = random.Random(seed)
    made = []
    for _number in range(settings):
        steps = draw.choice([8, 16, 24, 32, 48, 64, 96, 100, 128])
        size = [draw.randrange(128, 2049, draw.choice([1, 8, 64])) for _side in range(2)]
        low = draw.choice([64, 128, 250, 256, 320, min(size)])
        high = draw.choice([max(size), max(size) + draw.randrange(600), 1024, 2048, 2000])
        sizes = [[round(2 ** draw.uniform(4, 13)) for _side in range(2)] for _image in range(images - 3)]
        sizes += [size, [size[0] - 1, size[1] + 1], [size[0] // 2, size[1] // 2]]
        made.append([*size, low, high, steps, draw.random() < 0.5, sizes])
    return made


def ours(question: list) -> list:
    width, height, low, high, steps, no_upscale, images = question
    settings = BucketSettings(
        (width, height),
        bucket_no_upscale=no_upscale,
        min_bucket_reso=low,
        max_bucket_reso=high,
        bucket_reso_steps=steps,
    )
    found = []
    for image in images:
        try:
            placed = settings.place(tuple(image))
            found.append([*placed.bucket, *placed.resized, placed.error])
        except BucketsImpossible as error:
            found.append("ZeroDivisionError" if error.reason == "zero" else "AssertionError")
        except ImageTooThin:
            found.append("too thin")
    return found


def same(mine: object, theirs: object) -> bool:
    if mine == "too thin":
        # A width of 0 is no error yet for the trainer, and one when such an image is trained.
        return theirs == "ZeroDivisionError" or (isinstance(theirs, list) and 0 in theirs[:2])
    return mine == theirs
