"""Plans around the hard constraints, singly and several at once, the same for the same seed."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agreement_draft import WAYS, Draft, Places, sound
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from oracle_constraints import Changes, Constraint
from oracle_constraints_late import CONSTRAINTS
from PIL import Image

from gui.engine.plan.dataset_options import FINETUNING_SCRIPTS
from gui.engine.plan.families import families
from gui.engine.trainer.catalogue import Catalogue

SIDE_PX = 64
"""Of the images, so that a CPU takes them in a moment."""

Way = tuple[str, str]
"""A family and a kind of training."""

ALL_WAYS: tuple[Way, ...] = tuple(sorted(set(WAYS)))


@dataclass(frozen=True)
class Drawn:
    """What was drawn: changes to a sound plan.

    Attributes:
        way: Its family and kind.
        names: The constraints that were drawn.
        changes: What they change.
    """

    way: Way
    names: tuple[str, ...]
    changes: tuple[Changes, ...]


def script_of(way: Way) -> str:
    """Return the script that trains this way."""
    return families()[way[0]].kinds[way[1]].script


def fitting(way: Way) -> list[Constraint]:
    """Return the constraints that are drawn for it."""
    script = script_of(way)
    return [constraint for constraint in CONSTRAINTS if constraint.where(script)]


def singles(lot: int, ways: int | None = None) -> Iterator[Drawn]:
    """Return each change of each constraint alone.

    Args:
        lot: The seed of the lot that chooses the ways.
        ways: For how many scripts each; None for all.
    """
    draw = random.Random(lot)
    for constraint in CONSTRAINTS:
        held = [way for way in ALL_WAYS if constraint.where(script_of(way))]
        for changes in (*constraint.breaking, *constraint.keeping):
            for way in held if ways is None else draw.sample(held, min(ways, len(held))):
                yield Drawn(way, (constraint.name,), (changes,))


@st.composite
def together(draw: Callable[..., Any]) -> Drawn:
    """Draw two or three constraints at once: all kept, or one or two of them broken."""
    way = draw(st.sampled_from(ALL_WAYS))
    broken = draw(st.sampled_from((0, 0, 0, 0, 1, 1, 2)))
    kept = draw(st.integers(0 if broken == 2 else 2 - broken, 3 - broken))
    breaking = draw(_some([each for each in fitting(way) if each.breaking], broken))
    keeping = draw(_some([each for each in fitting(way) if each.keeping], kept))
    changes = [draw(st.sampled_from(each.breaking)) for each in breaking]
    changes += [draw(st.sampled_from(each.keeping)) for each in keeping]
    return Drawn(way, tuple(each.name for each in (*breaking, *keeping)), tuple(changes))


def _some(constraints: list[Constraint], count: int) -> st.SearchStrategy[list[Constraint]]:
    return st.lists(
        st.sampled_from(constraints), min_size=count, max_size=count, unique_by=lambda each: each.name
    )


def several(lot: int, count: int) -> list[Drawn]:
    """Return plans of more than one constraint, drawn by hypothesis."""
    drawn: list[Drawn] = []

    @seed(lot)
    @settings(
        max_examples=count,
        phases=[Phase.generate],
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(together())
    def collect(one: Drawn) -> None:
        drawn.append(one)

    collect()
    return drawn


def material(folder: Path) -> None:
    """Make small images: as they should be, of other sizes, too thin, with odd captions, and none."""

    def images(name: str, sizes: Mapping[str, tuple[int, int]], caption: bytes = b"a thing, red") -> None:
        (folder / name).mkdir(parents=True)
        for stem, size in sizes.items():
            Image.new("RGB", size, "grey").save(folder / name / f"{stem}.png")
            (folder / name / f"{stem}.txt").write_bytes(caption)

    square = {"one": (SIDE_PX, SIDE_PX), "two": (SIDE_PX, SIDE_PX)}
    images("images", square)
    images("masks", square)
    images("empty captions", square, b"")
    images("other encoding", square, "한글".encode("cp949"))
    images("other sizes", {"wide": (128, 64), "high": (64, 96)})
    images("thin", {"thin": (640, 20), "two": (64, 64)})
    images("nothing", {})
    (folder / "prompts.txt").write_text("a thing --w 64 --h 64 --s 2\n", "utf-8")
    (folder / "prompts.md").write_text("a thing\n", "utf-8")


def base_draft(way: Way, catalogue: Catalogue, folder: Path) -> Draft:
    """Return a sound plan of a few steps on small images."""
    draft = sound(*way, catalogue, Places(folder))
    kin = families()[way[0]]
    captions = {key: {"caption": "a thing"} for key in map(str, sorted((folder / "images").glob("*.png")))}
    (folder / "meta.json").write_text(json.dumps(captions), "utf-8")
    wanted: dict[str, Any] = {
        "learning_rate": 1e-4,
        "seed": 1,
        "max_train_steps": 2,
        "max_data_loader_n_workers": 0,
        "output_name": "trained",
        "network_dim": 4,
        "network_module": (kin.kinds[way[1]].network_modules or (None,))[0],
        "apply_t5_attn_mask": True if way[0] == "chroma" else None,
        "network_train_unet_only": True if way[0] == "chroma" else None,
        "mixed_precision": "bf16" if way[0] == "hunyuan-image" else None,
        "attn_mode": "torch" if way[1] == "full" else None,
        "use_safetensors": True if way[1] in ("full", "dreambooth") else None,
    }
    draft.arguments |= {
        name: value for name, value in wanted.items() if value is not None and name in draft.script.arguments
    }
    draft.dataset |= {"resolution": [SIDE_PX, SIDE_PX]}
    if draft.script.name in FINETUNING_SCRIPTS:
        draft.arguments["cache_latents"] = True
    else:
        draft.dataset["caption_extension"] = ".txt"
    return draft


def placed(value: Any, folder: Path) -> Any:
    """Return a value with its file's path in the place of ``@name``."""
    if not isinstance(value, str) or not value.startswith("@"):
        return value
    return str(folder / value.removeprefix("@").removeprefix("!"))


def change(draft: Draft, changes: Changes, folder: Path) -> None:
    """Apply changes to a draft."""
    for target, written in changes.items():
        value = placed(written, folder)
        section, _, name = target.rpartition(".")
        place = {"": draft.arguments, "dataset": draft.dataset, "subset": draft.subsets[0]}[section]
        if value is None:
            place.pop(name, None)
        else:
            place[name] = value


def make(drawn: Drawn, catalogue: Catalogue, template: Path, folder: Path) -> Draft:
    """Return the plan, with a folder of its own: caches are written beside the images."""
    shutil.copytree(template, folder)
    draft = base_draft(drawn.way, catalogue, folder)
    for changes in drawn.changes:
        change(draft, changes, folder)
    draft.twists.extend(drawn.names)
    return draft
