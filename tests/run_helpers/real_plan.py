"""Plans with which the real trainer trains a tiny model on a CPU, and the wait for what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit
from run_helper import ended, status, wait_until

from gui.engine.runs.folder import RunFolder
from gui.engine.runs.status import Verdict


def real_plan(
    inputs: Path,
    name: str,
    *,
    subset: Mapping[str, Any] | None = None,
    launch: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> str:
    """Return the text of a plan.

    Args:
        inputs: Where the tiny model, its tokenizers and some images are.
        name: The plan's.
        subset: What else is said of the images.
        launch: What else is said of the launch.
        arguments: Of the trainer, beside those that all such plans have; None leaves one out.
    """
    said = {
        "pretrained_model_name_or_path": str(inputs / "sd15-random.safetensors"),
        "tokenizer_cache_dir": str(inputs / "tokenizers"),
        "network_module": "networks.lora",
        "network_dim": 4,
        "network_alpha": 1,
        "network_train_unet_only": True,
        "seed": 42,
        "mixed_precision": "no",
        "cache_latents": True,
        "max_data_loader_n_workers": 0,
        "output_dir": "out put",
        "output_name": "demo",
        **arguments,
    }
    images = {"image_dir": str(inputs / "images" / "1_sks thing"), **(subset or {})}
    return tomlkit.dumps(
        {
            "schema": 1,
            "name": name,
            "family": "sd15",
            "kind": "lora",
            "arguments": {key: value for key, value in said.items() if value is not None},
            "dataset": {"resolution": [64, 64], "caption_extension": ".txt", "subsets": [images]},
            "launch": {**(launch or {}), "env": {"HF_HUB_OFFLINE": "1"}},
        }
    )


def verdict_of(run: RunFolder, seconds: float = 600.0) -> Verdict:
    """Wait until a run is judged, and return how."""
    wait_until(lambda: ended(run), seconds)
    verdict = status(run).verdict
    assert verdict is not None
    return verdict
