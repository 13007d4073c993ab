"""All rules, a module a subject."""

from __future__ import annotations

from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules import (
    attention,
    buckets,
    caching,
    captions,
    datasets,
    family_rules,
    flux_options,
    full_training,
    learning_rates,
    masks,
    memory_options,
    network_args,
    networks,
    noise,
    optimizers,
    paths,
    precision,
    resolution,
    sampling,
    schedules,
    validation,
)

ALL_RULES: tuple[Rule, ...] = (
    *paths.RULES,
    *datasets.RULES,
    *captions.RULES,
    *masks.RULES,
    *validation.RULES,
    *sampling.RULES,
    *caching.RULES,
    *precision.RULES,
    *optimizers.RULES,
    *schedules.RULES,
    *noise.RULES,
    *resolution.RULES,
    *buckets.RULES,
    *family_rules.RULES,
    *memory_options.RULES,
    *attention.RULES,
    *full_training.RULES,
    *flux_options.RULES,
    *learning_rates.RULES,
    *networks.RULES,
    *network_args.RULES,
)
