"""Asks the trainer's own BucketManager where images go; run by the trainer's Python, in its checkout.

Usage: PYTHON bucket_answers.py QUESTIONS.json ANSWERS.json

A question is ``[width, height, min, max, steps, no_upscale, [[image width, height], …]]``; its answer, a
row an image: ``[bucket width, height, resized width, height, error]``, or the name of what was raised.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path.cwd()))


def answers(question: list[Any]) -> list[Any]:
    """Return where each image goes."""
    from library import train_util

    width, height, low, high, steps, no_upscale, images = question
    try:
        low, high = train_util.BaseDataset.adjust_min_max_bucket_reso_by_steps(
            None, (width, height), low, high, steps
        )
        manager = train_util.BucketManager(no_upscale, (width, height), low, high, steps)
        if not no_upscale:
            manager.make_buckets()
    except (AssertionError, ZeroDivisionError) as error:
        return [type(error).__name__] * len(images)
    found: list[Any] = []
    for image in images:
        try:
            bucket, resized, error_of = manager.select_bucket(*image)
            found.append([*map(int, bucket), *map(int, resized), float(error_of)])
        except ZeroDivisionError as error:
            found.append(type(error).__name__)
    return found


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    questions = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    Path(sys.argv[2]).write_text(json.dumps([answers(each) for each in questions]), "utf-8")
