"""A trainer that is asked as the practice trainer is, and trains in a moment: it only acts."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from own_trainer import changed_trainer
from practice_runs import BASE, make_images

from gui.engine.paths import Home
from gui.engine.plan.plan_file import PlanFile, load_plan
from gui.engine.trainer.choosing import open_trainer
from gui.engine.trainer.installs import TrainerInstall, install_at

HERE = Path(__file__).parent

ACTS = f"""
if __name__ == "__main__":
    import sys
    sys.path.insert(0, {str(HERE)!r})
    from acting import *
    said = dict(zip(sys.argv, sys.argv[1:]))
    model = said["--output_dir"] + "/" + said["--output_name"]
    total, every = int(said["--max_train_steps"]), int(said.get("--save_every_n_steps", 0))
    import hashlib
    say("the token is " + hashlib.sha256(os.environ.get("HF_TOKEN", "").encode()).hexdigest())
    header(total)
    for number in range(1, total + 1):
        step(number, total, 0.5 - number / 1000)
        sleep(0.1)
        if every and number % every == 0 and number < total:
            save(f"{{model}}-step{{number:08d}}.safetensors", seconds=0.05)
    save(model + ".safetensors", seconds=0.1)
    saved()
    sys.exit(0)
"""

PLAN = """
schema = 1
name = "{name}"
family = "sd15"
[arguments]
pretrained_model_name_or_path = "{base}"
output_dir = "out"
output_name = "{name}"
network_module = "networks.lora"
network_dim = 4
network_alpha = 4
learning_rate = 1e-4
network_train_unet_only = true
max_train_steps = {steps}
save_every_n_steps = 2
max_data_loader_n_workers = 0
mixed_precision = "no"
sdpa = true
seed = 1
[dataset]
resolution = [64, 64]
batch_size = 1
caption_extension = ".txt"
[[dataset.subsets]]
image_dir = "images"
num_repeats = 10
"""

ACCEPTED = ("cuda",)
"""There is no GPU."""


def quick_trainer(folder: Path) -> TrainerInstall:
    """Return a trainer that acts.

    Args:
        folder: Where it is made.
    """
    before = "\nimport argparse\n"
    root = changed_trainer(folder, lambda source: source.replace(before, ACTS + before, 1))
    return install_at(root, sys.executable)


def quick_plan(folder: Path, name: str, steps: int = 4) -> PlanFile:
    """Write a plan and its images, and return it.

    Args:
        folder: Where.
        name: The plan's and the output's.
        steps: How many steps; the last is saved, and every second one.
    """
    if not (folder / "images").exists():
        make_images(folder / "images", 4)
    path = folder / f"{name}.toml"
    path.write_text(PLAN.format(name=name, base=BASE.as_posix(), steps=steps), "utf-8")
    return load_plan(path)


class AskedTrainer:
    """A quick trainer that was asked once what it is, which takes seconds.

    Args:
        folder: Where it is made.
    """

    def __init__(self, folder: Path) -> None:
        self.install = quick_trainer(folder / "own")
        self._home = Home(folder / "home")
        open_trainer(self._home, self.install)

    def known_in(self, home: Home) -> TrainerInstall:
        """Let a home know the answers, and return the trainer."""
        shutil.copytree(self._home.cache, home.cache, dirs_exist_ok=True)
        return self.install
