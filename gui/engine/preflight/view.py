"""What a rule sees: the plan as the trainer would understand it, and the facts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from gui.engine.hardware.memory.learning import MemoryLearning
from gui.engine.hardware.memory.tables import TracedStep
from gui.engine.hardware.visible import training_gpus
from gui.engine.plan.dataset_options import CONTROLNET_SCRIPTS, OPTIONS
from gui.engine.plan.families import Family, KindOfTraining, families
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.facts import Facts, GpuFact, ModelFact, PathFact, SubsetFact
from gui.engine.trainer.catalogue import ScriptArguments

TRANSFORMER_SCRIPTS = ("flux_", "sd3_", "lumina_", "hunyuan_", "anima_")
"""How the names of scripts for FLUX and Chroma, SD 3, Lumina, HunyuanImage and Anima begin."""

FULL_SCRIPTS = frozenset(
    {
        "train_db.py",
        "fine_tune.py",
        "sdxl_train.py",
        "flux_train.py",
        "sd3_train.py",
        "lumina_train.py",
        "anima_train.py",
    }
)
"""Scripts that train the weights of the U-Net or transformer itself."""

DATASET_DEFAULTS: dict[str, Any] = {
    "batch_size": 1,
    "enable_bucket": False,
    "bucket_no_upscale": False,
    "min_bucket_reso": 256,
    "max_bucket_reso": 1024,
    "bucket_reso_steps": 64,
    "num_repeats": 1,
    "caption_extension": ".caption",
    "caption_dropout_rate": 0.0,
    "caption_tag_dropout_rate": 0.0,
    "caption_dropout_every_n_epochs": 0,
    "token_warmup_step": 0,
    "validation_split": 0.0,
}
"""What the trainer takes for a dataset option that no level names (config_util.py:59-130)."""


def as_number(value: Any) -> float | None:
    """Return a finite number, also from text such as ``"1e-4"``; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def as_size(value: Any) -> tuple[int, int] | None:
    """Return (width, height) from ``1024``, ``[1024, 1024]`` or ``"1024,1024"``; None otherwise."""
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",")]
    parts = list(value) if isinstance(value, (list, tuple)) else [value]
    numbers = [as_number(part) for part in parts]
    if len(numbers) == 1:
        numbers *= 2
    if len(numbers) != 2 or None in numbers:
        return None
    width, height = (int(number) for number in numbers if number is not None)
    return (width, height) if width > 0 and height > 0 else None


@dataclass(frozen=True)
class SubsetView:
    """One subset with what it inherits.

    Attributes:
        target: How fixes name it: ``dataset.subsets.0``.
        own: The subset's own options.
        levels: The dataset and ``general`` around it, nearest first.
        arguments: The plan's trainer arguments: dataset options may still stand there.
    """

    target: str
    own: Mapping[str, Any]
    levels: tuple[Mapping[str, Any], ...]
    arguments: Mapping[str, Any] = field(repr=False)

    @property
    def is_reg(self) -> bool:
        """Whether it holds regularisation images."""
        return self.own.get("is_reg") is True

    def value(self, name: str) -> Any:
        """Return the option as the trainer sees it: subset, dataset, general, argument, default."""
        for level in (self.own, *self.levels):
            if level.get(name) is not None:
                return level[name]
        option = OPTIONS.get(name)
        said = self.arguments.get(option.argument if option and option.argument else name)
        return said if said is not None else DATASET_DEFAULTS.get(name)

    def number(self, name: str) -> float | None:
        """Return the option as a number; None when it is none."""
        return as_number(self.value(name))

    def flag(self, name: str) -> bool:
        """Return whether the option is switched on."""
        return self.value(name) is True

    def target_of(self, name: str) -> str:
        """Return the target where a fix has to write: the subset's own word wins over all others."""
        return f"{self.target}.{name}"


@dataclass(frozen=True)
class View:
    """A plan as the trainer would understand it, and the facts; what every rule gets.

    Attributes:
        plan: With the values of its presets filled in.
        facts: What is known.
        script: The training script that would run.
        arguments: Its arguments; None when the trainer has no such script.
        own: The plan as the user wrote it; None where it is the same.
        dataset_file: The dataset file of the user's own that the plan's dataset was read from.
        learning: What measured runs tell of the GPU's memory; None where nothing is kept of it.
        traced: Trainings that were traced for this plan or one like it.
    """

    plan: TrainingPlan
    facts: Facts
    script: str
    arguments: ScriptArguments | None
    own: TrainingPlan | None = None
    dataset_file: Path | None = None
    learning: MemoryLearning | None = None
    traced: tuple[TracedStep, ...] = ()

    @cached_property
    def memory(self) -> dict[str, Any]:
        """What was worked out for this view and is asked for again."""
        return {}

    @cached_property
    def families(self) -> dict[str, Family]:
        """All families by name."""
        return families()

    def given(self, name: str) -> bool:
        """Return whether the plan or one of its presets sets the argument."""
        return self.plan.arguments.get(name) is not None

    def value(self, name: str) -> Any:
        """Return the argument's value: the plan's, else the trainer's default, else None."""
        own = self.plan.arguments.get(name)
        if own is not None:
            return own
        argument = self.arguments.find(name) if self.arguments else None
        return argument.default if argument else None

    def number(self, name: str) -> float | None:
        """Return the argument as a number; None when it is none."""
        return as_number(self.value(name))

    def flag(self, name: str) -> bool:
        """Return whether the argument is a flag that is set."""
        return self.value(name) is True

    def text(self, name: str) -> str | None:
        """Return the argument as text; None when it is empty or no text."""
        value = self.value(name)
        return value if isinstance(value, str) and value else None

    def words(self, name: str) -> tuple[str, ...]:
        """Return an argument of several values as texts; a single value counts as one."""
        value = self.value(name)
        if value is None:
            return ()
        return tuple(str(item) for item in value) if isinstance(value, (list, tuple)) else (str(value),)

    def pairs(self, name: str) -> dict[str, str]:
        """Return a ``key=value`` argument (``network_args``, ``optimizer_args``) as a table."""
        return dict(word.split("=", 1) for word in self.words(name) if "=" in word)

    def knows(self, name: str) -> bool:
        """Return whether the script has the argument; True when its arguments are not known."""
        return self.arguments is None or self.arguments.find(name) is not None

    @property
    def optimizer(self) -> str:
        """The optimizer's name in lower case, aliases resolved; ``adamw`` when none is named.

        Source: trainer-facts section 4 (train_util.py:4829-4846).
        """
        named = self.text("optimizer_type")  # beside an old flag it is what will be left of the two
        old = "adamw8bit" if self.flag("use_8bit_adam") else "lion" if self.flag("use_lion_optimizer") else ""
        return (named or old or "adamw").lower()

    @cached_property
    def datasets(self) -> tuple[tuple[str, Mapping[str, Any]], ...]:
        """The plan's datasets as (target, options): one, unless it lists ``datasets``."""
        several = self.plan.dataset.get("datasets")
        if isinstance(several, (list, tuple)):
            return tuple(
                (f"dataset.datasets.{index}", options)
                for index, options in enumerate(several)
                if isinstance(options, Mapping)
            )
        return (("dataset", self.plan.dataset),)

    @cached_property
    def subsets(self) -> tuple[SubsetView, ...]:
        """All subsets of all datasets, with what they inherit; a dataset without any counts as one."""
        return tuple(self._subsets())

    def _subsets(self) -> Iterator[SubsetView]:
        general = self.plan.dataset.get("general")
        outer = (general,) if isinstance(general, Mapping) else ()
        if len(self.datasets) != 1 or self.datasets[0][0] != "dataset":
            outer = (self.plan.dataset, *outer)
        for target, options in self.datasets:
            listed = options.get("subsets")
            if not listed:
                # Folders that cannot be looked at from here: what holds for all of them still holds.
                yield SubsetView(target, {}, (options, *outer), self.plan.arguments)
            for index, own in enumerate(listed if isinstance(listed, (list, tuple)) else ()):
                if isinstance(own, Mapping):
                    yield SubsetView(f"{target}.subsets.{index}", own, (options, *outer), self.plan.arguments)

    def dataset_value(self, name: str) -> Any:
        """Return a dataset-level option as the first dataset sees it."""
        target, options = self.datasets[0] if self.datasets else ("dataset", self.plan.dataset)
        general = self.plan.dataset.get("general")
        outer = (general,) if isinstance(general, Mapping) else ()
        levels = (self.plan.dataset, *outer) if target != "dataset" else outer
        return SubsetView(target, options, levels, self.plan.arguments).value(name)

    @cached_property
    def dataset_views(self) -> tuple[SubsetView, ...]:
        """Each dataset as rules see a subset: its options and what it inherits."""
        general = self.plan.dataset.get("general")
        outer: tuple[Mapping[str, Any], ...] = (general,) if isinstance(general, Mapping) else ()
        several = len(self.datasets) != 1 or self.datasets[0][0] != "dataset"
        outer = (self.plan.dataset, *outer) if several else outer
        return tuple(
            SubsetView(target, options, outer, self.plan.arguments) for target, options in self.datasets
        )

    def dataset_of(self, subset: SubsetView) -> SubsetView:
        """Return the dataset that a subset belongs to."""
        target = subset.target.split(".subsets.")[0]
        return next(dataset for dataset in self.dataset_views if dataset.target == target)

    @property
    def dataset_known(self) -> bool:
        """Whether it is known what to train on: not where a file that cannot be seen, or a class, says it."""
        unseen = self.given("dataset_config") and self.dataset_file is None
        return not unseen and not self.given("dataset_class")

    @cached_property
    def subset_facts(self) -> tuple[tuple[SubsetView, SubsetFact | None], ...]:
        """Each subset with what is known about its folder."""
        known = self.facts.dataset.subsets if self.facts.dataset else ()
        fits = len(known) == len(self.subsets)
        return tuple((subset, known[place] if fits else None) for place, subset in enumerate(self.subsets))

    @cached_property
    def kin(self) -> Family | None:
        """The plan's family, else the one that its script and arguments fit best; None when none does."""
        if self.plan.family in self.families:
            return self.families[self.plan.family]
        return max(self.kin_by_script, key=lambda family: len(family.arguments), default=None)

    @cached_property
    def kin_by_script(self) -> tuple[Family, ...]:
        """All families that the script trains with the plan's arguments, in the order of lists."""
        return tuple(
            family
            for family in self.families.values()
            if any(kind.script == self.script for kind in family.kinds.values())
            and all(self.value(name) == value for name, value in family.arguments.items())
        )

    @cached_property
    def way(self) -> KindOfTraining | None:
        """How the script trains the plan's family, or any family when the script is of another one."""
        own: tuple[Family, ...] = (self.kin,) if self.kin else ()
        for family in (*own, *self.families.values()):
            candidates = [family.kinds.get(self.plan.kind), *family.kinds.values()]
            for candidate in candidates:
                if candidate is not None and candidate.script == self.script:
                    return candidate
        return None

    @cached_property
    def without_effect(self) -> frozenset[str]:
        """The script's arguments with which the family can do nothing: ignored, refused, a crash."""
        kin = self.kin
        kinds = {name for name, kind in kin.kinds.items() if kind.script == self.script} if kin else set()
        return frozenset(
            name
            for entry in (kin.cannot if kin and kinds else ())
            if not entry.kinds or kinds & set(entry.kinds)
            for name in entry.arguments
        )

    def is_paired(self, subset: SubsetView) -> bool:
        """Return whether a subset pairs images with conditioning images."""
        return self.script in CONTROLNET_SCRIPTS or bool(subset.own.get("conditioning_data_dir"))

    @property
    def trains_network(self) -> bool:
        """Whether the script is one of the LoRA scripts."""
        return self.script.endswith("train_network.py")

    @property
    def trains_model(self) -> bool:
        """Whether the script trains the weights of the U-Net or transformer itself."""
        return self.script in FULL_SCRIPTS

    @property
    def is_transformer(self) -> bool:
        """Whether the script is for a transformer family, which has its own noise and loss."""
        return self.script.startswith(TRANSFORMER_SCRIPTS)

    def model(self, argument: str) -> ModelFact | None:
        """Return what is known about the model file that an argument names."""
        return next(iter(self.models(argument)), None)

    def models(self, argument: str) -> tuple[ModelFact, ...]:
        """Return what is known about all model files that an argument names."""
        return tuple(fact for fact in self.facts.model if fact.argument == argument)

    def path(self, value: Any) -> PathFact | None:
        """Return what is at a path; None when that is not known."""
        return self.facts.paths.get(value) if isinstance(value, str) else None

    @property
    def gpus(self) -> tuple[GpuFact, ...]:
        """The GPUs that would train, one for each process, as far as they are known."""
        return training_gpus(self.facts.gpu or (), self.plan.launch, self.facts.gpu_choice)

    @property
    def gpu(self) -> GpuFact | None:
        """The first GPU that would train; None when there is none or it is unknown."""
        return next(iter(self.gpus), None)

    def package(self, name: str) -> bool | None:
        """Return whether the trainer has a package; None when that is not known."""
        trainer = self.facts.trainer
        return name in trainer.packages if trainer and trainer.packages is not None else None

    def module(self, name: str) -> bool | None:
        """Return whether the trainer can import a module, by its first part; None when that is not known."""
        trainer = self.facts.trainer
        known = trainer.modules if trainer else None
        return None if known is None else name.partition(".")[0] in known
