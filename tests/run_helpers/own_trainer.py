"""Trainers of one's own: the practice trainer under another name, with a script that is changed a little."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from practice_runs import TRAINER

TELLS = """
if __name__ == "__main__":
    import hashlib, os
    print("the token is", hashlib.sha256(os.environ["HF_TOKEN"].encode()).hexdigest(), flush=True)
"""


def own_trainer(folder: Path) -> Path:
    """Return the root of a copy that prints the hash of its token first.

    Args:
        folder: Where it is made.
    """
    return changed_trainer(folder, lambda source: source.replace("if __name__", TELLS + "\n\nif __name__"))


def changed_trainer(folder: Path, change: Callable[[str], str]) -> Path:
    """Return the root of a copy.

    Args:
        folder: Where it is made.
        change: Makes its script of the practice trainer's.
    """
    shutil.copytree(TRAINER.parent / "trainer_arguments", folder / "trainer_arguments")
    root = Path(shutil.copytree(TRAINER, folder / "sd-scripts"))
    card = json.loads((root / "TRAINER.json").read_text("utf-8"))
    (root / "TRAINER.json").write_text(json.dumps({**card, "name": "own", "label": "own"}), "utf-8")
    script = root / "train_network.py"
    script.write_text(change(script.read_text("utf-8")), "utf-8")
    return root
