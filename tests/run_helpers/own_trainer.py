"""A trainer of one's own that tells which token it got: the practice trainer under another name."""

from __future__ import annotations

import json
import shutil
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
    shutil.copytree(TRAINER.parent / "trainer_arguments", folder / "trainer_arguments")
    root = Path(shutil.copytree(TRAINER, folder / "sd-scripts"))
    card = json.loads((root / "TRAINER.json").read_text("utf-8"))
    (root / "TRAINER.json").write_text(json.dumps({**card, "name": "own", "label": "own"}), "utf-8")
    script = root / "train_network.py"
    source = script.read_text("utf-8")
    script.write_text(source.replace("if __name__", TELLS + "\n\nif __name__"), "utf-8")
    return root
