"""A sound plan of a family and a kind, from which the plans of the agreement test are made."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gui.engine.plan.dataset_options import CONTROLNET_SCRIPTS, FINETUNING_SCRIPTS
from gui.engine.plan.families import families
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.facts import ModelFact
from gui.engine.preflight.model_facts import ModelLooker
from gui.engine.trainer.catalogue import Catalogue, ScriptArguments

WAYS = (
    *(("sd15", "lora"),) * 3,
    *(("sd15", kind) for kind in ("dreambooth", "full", "textual_inversion", "controlnet")),
    *(("sd2-v", "lora"), ("noobai-vpred", "lora")),
    *(("sdxl", "lora"),) * 3,
    *(("sdxl", kind) for kind in ("full", "full", "textual_inversion", "controlnet", "controlnet-lllite")),
    *(("flux1", "lora"), ("flux1", "lora"), ("flux1", "full"), ("flux1", "controlnet"), ("chroma", "lora")),
    *(("sd3", "lora"), ("sd3", "full"), ("lumina2", "lora"), ("lumina2", "full")),
    *(("hunyuan-image", "lora"), ("anima", "lora"), ("anima", "full")),
)
"""Families and kinds; what people train most comes more often."""


class Unlooked(ModelLooker):
    """Says nothing about model files: those of the plans stand in for any."""

    def facts(self, plan: TrainingPlan) -> tuple[ModelFact, ...]:
        """Return none."""
        return ()


@dataclass(frozen=True)
class Places:
    """Where the files of the plans lie.

    Attributes:
        root: A folder of the test's own.
    """

    root: Path

    @property
    def images(self) -> str:
        """A folder of images with captions."""
        return str(self.root / "images")

    @property
    def masks(self) -> str:
        """The folder of their conditioning images."""
        return str(self.root / "masks")

    @property
    def dataset_file(self) -> str:
        """A sound dataset file of a user's own."""
        return str(self.root / "own.toml")

    def file(self, name: str) -> str:
        """Return an empty file of this name, which is there."""
        (self.root / name).touch()
        return str(self.root / name)


@dataclass
class Draft:
    """A plan in the making.

    Attributes:
        family: Its family.
        kind: Its kind of training.
        script: The arguments of the script that will run.
        arguments: Trainer arguments.
        dataset: The dataset section.
        places: Where its files lie.
        twists: What was done to it.
    """

    family: str
    kind: str
    script: ScriptArguments
    arguments: dict[str, Any]
    dataset: dict[str, Any]
    places: Places
    twists: list[str] = field(default_factory=list)

    @property
    def subsets(self) -> list[dict[str, Any]]:
        """The subsets of the first dataset."""
        first = self.dataset["datasets"][0] if "datasets" in self.dataset else self.dataset
        return first["subsets"]

    def plan(self) -> TrainingPlan:
        return TrainingPlan(
            family=self.family, kind=self.kind, arguments=self.arguments, dataset=self.dataset
        )


def sound(family: str, kind: str, catalogue: Catalogue, places: Places) -> Draft:
    """Return a plan that the trainer would take as it is."""
    kin = families()[family]
    way = kin.kinds[kind]
    needed = {
        entry.argument: places.file(f"{entry.argument}.safetensors") for entry in kin.needed_files(kind)
    }
    values = {"token_string": "mira_x", "cond_emb_dim": 32, "network_dim": 16}
    subset: dict[str, Any] = {"image_dir": places.images}
    if way.script in FINETUNING_SCRIPTS:
        subset["metadata_file"] = places.file("meta.json")
    elif way.script in CONTROLNET_SCRIPTS:
        subset["conditioning_data_dir"] = places.masks
    width, height = kin.resolution.default_px
    return Draft(
        family,
        kind,
        catalogue.script(way.script),
        {
            "pretrained_model_name_or_path": places.file("base.safetensors"),
            "output_dir": str(places.root / "out"),
            "max_train_steps": 100,
            **needed,
            **{name: values[name] for name in way.needs if name in values},
        },
        {"resolution": [width, height], "subsets": [subset]},
        places,
    )
