"""Makes the trainer's own model classes small, by changing the sizes that are written into their source.

Runs in the trainer's own Python, before its modules are imported. Depths stay: how many blocks can be
swapped is asserted by them.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

SMALL: dict[str, tuple[tuple[str, str], ...]] = {
    "library.original_unet": (("Tuple[int] = (320, 640, 1280, 1280)", "Tuple[int] = (32, 32, 64, 64)"),),
    "library.sdxl_original_unet": (
        ("ADM_IN_CHANNELS: int = 2816", "ADM_IN_CHANNELS: int = 1552"),
        ("CONTEXT_DIM: int = 2048", "CONTEXT_DIM: int = 32"),
        ("MODEL_CHANNELS: int = 320", "MODEL_CHANNELS: int = 32"),
        ("TIME_EMBED_DIM = 320 * 4", "TIME_EMBED_DIM = 32 * 4"),
        ("cross_attention_dim=2048", "cross_attention_dim=32"),
        ("self.model_channels // 64", "self.model_channels // 32"),
        ("attention_head_dim=64", "attention_head_dim=32"),
        ("num_transformer_layers=10", "num_transformer_layers=2"),
    ),
    "library.sd3_models": (
        ("self.hidden_size = 64 * depth", "self.hidden_size = 4 * depth"),
        ("ch=128", "ch=32"),
        ("ch_mult=(1, 2, 4, 4)", "ch_mult=(1, 1, 1, 1)"),
    ),
    "library.strategy_sd3": (("768", "16"), ("4096", "64")),
    "library.hunyuan_image_models": (
        ("self.rope_dim_list = [64, 64]", "self.rope_dim_list = [8, 8]"),
        ("self.hidden_size = 3584", "self.hidden_size = 32"),
        ("self.heads_num = 28", "self.heads_num = 2"),
        ("text_states_dim = 3584", "text_states_dim = 16"),
        ("in_dim=1472, out_dim=2048, hidden_dim=2048", "in_dim=16, out_dim=32, hidden_dim=32"),
    ),
    "library.hunyuan_image_text_encoder": (("byt5_max_length, 1472", "byt5_max_length, 16"),),
    "library.hunyuan_image_vae": (("(128, 256, 512, 512, 1024, 1024)", "(32, 32, 32, 32, 32, 128)"),),
    "library.sdxl_original_control_net": (
        ("nn.Conv2d(dims[-1], 320,", "nn.Conv2d(dims[-1], 32,"),
        ("[320, 320, 320, 320, 640, 640, 640, 1280, 1280]", "[32, 32, 32, 32, 64, 64, 64, 128, 128]"),
        ("nn.Conv2d(1280, 1280, kernel_size=1)", "nn.Conv2d(128, 128, kernel_size=1)"),
    ),
    "train_control_net": (
        ("[320, 640, 1280, 1280]", "[32, 32, 64, 64]"),
        ('"cross_attention_dim": 768', '"cross_attention_dim": 16'),
        ('"cross_attention_dim": 1024', '"cross_attention_dim": 16'),
        ('"attention_head_dim": [5, 10, 20, 20]', '"attention_head_dim": [2, 2, 4, 4]'),
    ),
    "library.anima_models": (
        ("source_dim=1024", "source_dim=16"),
        ("target_dim=1024", "target_dim=16"),
        ("model_dim=1024", "model_dim=16"),
        ("num_heads=16, embed=None", "num_heads=2, embed=None"),
    ),
    "networks.lora_flux": (("[3072] * 3 + [12288]", "[32] * 3 + [128]"),),
    "networks.oft_flux": (
        ("split_dims = [3072] * 3\n", "split_dims = [32] * 3\n"),
        ("[3072] * 3 + [12288]", "[32] * 3 + [128]"),
    ),
    "networks.lora_hunyuan_image": (("[3584] * 3 + [14336]", "[32] * 3 + [128]"),),
    "networks.lora_lumina": (("[2304, 768, 768]", "[48, 16, 16]"),),
}
"""Module to what stands in its source and what stands there instead."""


class SmallLoader(importlib.machinery.SourceFileLoader):
    """Loads a module of the trainer with small sizes."""

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> Any:
        """Compile the changed source.

        Raises:
            ImportError: The trainer has changed: a size does not stand where it stood.
        """
        text = bytes(data).decode("utf-8")
        for old, new in SMALL[self.name]:
            if old not in text:
                raise ImportError(f"{self.name}: “{old}” is not there; is it another version of the trainer?")
            text = text.replace(old, new)
        return compile(text, path, "exec", dont_inherit=True, optimize=_optimize)

    def get_code(self, fullname: str) -> Any:
        """Return the code without a look at compiled files, which hold the trainer's own sizes."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class SmallFinder(importlib.abc.MetaPathFinder):
    """Finds the modules that are to be small."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a module of ``SMALL``."""
        if fullname not in SMALL:
            return None
        found = importlib.machinery.PathFinder.find_spec(fullname, path)
        if found is None or found.origin is None:
            return None
        return importlib.util.spec_from_loader(fullname, SmallLoader(fullname, found.origin))


def make_models_small() -> None:
    """From now on the trainer's model classes are small."""
    sys.meta_path.insert(0, SmallFinder())
