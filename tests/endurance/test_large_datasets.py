"""A hundred thousand images are scanned without the memory growing with them, and known at once again."""

from __future__ import annotations

import os
import time
from pathlib import Path

import psutil
import pytest
from dataset_maker import picture, saved

from gui.engine.dataset.doctor import Doctor
from gui.engine.dataset.spec import DatasetSpec, SubsetSpec

MANY = 100_000
FILES = 200
"""Contents; all others are links to them."""

MOST_MIB = 150
"""So much more memory may all names, sizes and hashes take: some 1.5 KB an image."""


@pytest.mark.timeout(3600)
def test_that_a_hundred_thousand_images_are_scanned_in_little_memory(tmp_path: Path, no_leftovers) -> None:
    folder = tmp_path / "images"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"{number:06}.png").write_bytes(saved(picture(number, (64, 64))))
    for number in range(FILES, MANY):
        os.link(folder / f"{number % FILES:06}.png", folder / f"{number:06}.png")
    spec = DatasetSpec((SubsetSpec("dataset.subsets.0", "dataset", folder),))
    before = psutil.Process().memory_info().rss
    seconds = []
    for _time in range(2):
        began = time.monotonic()
        doctor = Doctor(spec, tmp_path / "memory", 2)
        done = sum(len(batch.images) for batch in doctor.batches())
        seconds.append(time.monotonic() - began)
        report = doctor.report()
        doctor.close()
        assert (done, report.readable) == (MANY, MANY)
    grown = (psutil.Process().memory_info().rss - before) / 2**20
    print(f"grown by {grown:.0f} MiB; {seconds[0]:.0f} s, again {seconds[1]:.1f} s")
    assert grown < MOST_MIB
