"""Finds the samples of several runs that were drawn from the same prompt with the same seed (S8)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from gui.engine.runs.comparison_models import ComparedSample, SampleGroup
from gui.engine.runs.event_search import drawn_samples, told_settings
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.sample_prompts import sample_plan
from gui.engine.runs.save_names import SaveNames

_SEED = re.compile(r"_\d{14}_(-?\d+)\.png$")

_Key = tuple[str, int | None]


def sample_groups(runs: Sequence[RunFolder]) -> tuple[SampleGroup, ...]:
    """Return the samples of the runs that are still there, those first that several runs have.

    Args:
        runs: In the order in which each group names their samples.
    """
    found = [_samples(run) for run in runs]
    keys = dict.fromkeys(key for samples in found for key in samples)
    groups = [
        SampleGroup(
            prompt=prompt,
            seed=seed,
            samples=tuple(tuple(samples.get((prompt, seed), ())) for samples in found),
        )
        for prompt, seed in keys
    ]
    return tuple(sorted(groups, key=lambda group: -sum(bool(each) for each in group.samples)))


def _samples(run: RunFolder) -> dict[_Key, list[ComparedSample]]:
    plan = sample_plan(run)
    names, each = SaveNames(plan.output_name), _steps_per_epoch(run)
    found: dict[_Key, list[ComparedSample]] = {}
    for path, step in drawn_samples(run).items():
        name = names.sample(path.name)
        if name is None or not path.is_file():
            continue
        number = name.prompt or 0
        prompt = plan.prompt(number) or f"#{number + 1}"
        known = name.step if name.step is not None else step
        if known is None and name.epoch is not None and each is not None:
            known = name.epoch * each
        sample = ComparedSample(path=path, step=known, epoch=name.epoch)
        found.setdefault((prompt, _seed(path)), []).append(sample)
    for samples in found.values():
        samples.sort(key=lambda sample: (sample.step or 0, sample.path.name))
    return found


def _steps_per_epoch(run: RunFolder) -> int | None:
    """Return how many optimizer steps an epoch has: the last one of it may gather fewer batches."""
    told = told_settings(run)
    batches, gathered = told.get("num batches per epoch"), told.get("gradient accumulation steps", 1)
    if not isinstance(batches, int) or not isinstance(gathered, int) or gathered < 1:
        return None
    return -(-batches // gathered)


def _seed(path: Path) -> int | None:
    match = _SEED.search(path.name)
    return int(match[1]) if match else None
