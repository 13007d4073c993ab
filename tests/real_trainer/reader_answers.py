"""Lets the trainer's own code read images, up to what is trained; run by its Python, in its checkout.

Usage: PYTHON reader_answers.py FOLDER ANSWERS.json

Answers name for each file: ``not listed``, the exception that ends a training, or the mean level of what
would be trained.
"""

from __future__ import annotations

import json
import logging
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path.cwd()))


def read(path: Path) -> float:
    """Return the mean level of an image as it would be trained at 640 px."""
    from library import train_util

    size = train_util.BaseDataset.get_image_size(None, str(path))
    manager = train_util.BucketManager(False, (640, 640), 256, 2048, 64)
    manager.make_buckets()
    bucket, resized, _error = manager.select_bucket(*size)
    picture = train_util.load_image(str(path))
    trained, _size, _crop = train_util.trim_and_resize_if_required(False, picture, bucket, resized)
    return float(trained.mean())


def answer(path: Path, listed: set[str]) -> Any:
    """Return what becomes of one file."""
    if str(path) not in listed:
        return "not listed"
    try:
        return read(path)
    except Exception as error:  # noqa: BLE001 - whatever it is, it ends the training
        return type(error).__name__


def main(folder: Path, answers: Path) -> None:
    """Answer for all files of a folder."""
    from library import train_util

    listed = set(train_util.glob_images(str(folder), "*"))
    found = {path.name: answer(path, listed) for path in sorted(folder.iterdir())}
    answers.write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]), Path(sys.argv[2]))
