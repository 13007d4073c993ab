"""All rules, a module a subject."""

from __future__ import annotations

from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules import (
    attention,
    buckets,
    caching,
    datasets,
    family_rules,
    flux_options,
    full_training,
    learning_rates,
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
)

ALL_RULES: tuple[Rule, ...] = (
    *paths.RULES,
    *datasets.RULES,
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
