"""What the user wants to train: the plan."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field, StrictBool

from gui.engine.documents import Document
from gui.engine.preferences import NonfinitePolicy

SCHEMA = 1

WholeNumber = Annotated[int, Field(strict=True)]
"""True and 1.0 are no whole numbers."""


MOST_TRIES = 5
"""More often no run is tried again by itself: each try costs minutes, and the ladder is not longer (S10)."""


def tries(wanted: int) -> int:
    """Return how often a run is really tried again by itself where a plan wants so many tries."""
    return max(0, min(wanted, MOST_TRIES))


class LaunchSettings(Document):
    """How the trainer is started.

    Attributes:
        gpu_ids: Indices in NVML's order (PCI bus); empty leaves the choice to the trainer.
        num_processes: For accelerate; more than one trains on several GPUs.
        num_machines: For accelerate.
        dynamo_backend: For accelerate; ``no`` is its own name for none.
        num_cpu_threads_per_process: For accelerate.
        env: Extra environment of the trainer. Tokens do not belong here.
        measure_memory: Whether the hook in the trainer's interpreter notes what its torch needs.
    """

    gpu_ids: tuple[WholeNumber, ...] = ()
    num_processes: WholeNumber = 1
    num_machines: WholeNumber = 1
    dynamo_backend: str = "no"
    num_cpu_threads_per_process: WholeNumber = 2
    env: dict[str, str] = Field(default_factory=dict)
    measure_memory: StrictBool = True


class GuardSettings(Document):
    """What happens when the loss is not finite, or the GPU's memory runs out.

    Attributes:
        nonfinite: ``stop`` at once; ``confirm`` stops when it stays so by the step's own loss;
            ``warn`` only says it.
        memory_retries: How often a run whose GPU memory ran out may be tried again by itself, each time with
            the next-cheapest changes that make it fit; 0 never does, and `tries` says which numbers count.
        recoveries: Likewise for a run that was stopped because its loss was no number: each time with the
            first change that recovery offers.
    """

    nonfinite: NonfinitePolicy = "stop"
    memory_retries: WholeNumber = 0
    recoveries: WholeNumber = 0


class Follows(Document):
    """Which run a plan goes on from, and by which of the tries that were offered for it.

    Attributes:
        run: Its name.
        way: The try's id; ``try`` in the file.
    """

    model_config = ConfigDict(populate_by_name=True)

    run: str
    way: str = Field(default="", alias="try")


class TrainingPlan(Document):
    """A family, a kind, a dataset, and trainer arguments under the trainer's own names.

    Values are kept as the file has them, also when they are wrong: judging them is preflight's
    work, so that a plan with a mistake can be opened and mended.

    Attributes:
        name: Becomes part of the run's name.
        family: A name in ``resources/families``.
        kind: ``lora``, ``full``, ``dreambooth``, ``textual_inversion``, ``controlnet``.
        presets: Layers, later wins.
        without: Targets that presets must not fill in: the trainer's own default counts there.
        trainer: ``default`` or a path.
        script: The training script, where it is not the one of family and kind.
        arguments: Argument name to value; absent means preset or trainer default.
        dataset: The dataset TOML's own names, with ``subsets``, or with ``datasets`` for several.
        launch: How the trainer is started.
        guard: What happens when the loss is not finite.
        follows: The run that it goes on from, where it does.
    """

    schema_: int = Field(default=SCHEMA, alias="schema")
    name: str = "training"
    family: str = ""
    kind: str = "lora"
    presets: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    trainer: str = "default"
    script: str | None = None
    arguments: dict[str, Any] = Field(default_factory=dict)
    dataset: dict[str, Any] = Field(default_factory=dict)
    launch: LaunchSettings = Field(default_factory=LaunchSettings)
    guard: GuardSettings = Field(default_factory=GuardSettings)
    follows: Follows | None = None

    def data(self) -> dict[str, Any]:
        """Return the plan under the names that its file uses."""
        return self.model_dump(by_alias=True, mode="python")
