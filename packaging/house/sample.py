"""What `run` does until there is a window, and where there is no display: a small training."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gui.engine.texts import _
from house.environment import Environment, child_variables

Say = Callable[[str], None]

_WHERE = "from gui.engine.paths import Home; print(Home.find().root)"


def working_trainer(environment: Environment) -> dict[str, Any] | None:
    """Return a working sd-scripts install that the program finds by itself, or None."""
    try:
        answer = subprocess.run(
            [environment.python, "-m", "gui", "trainer", "list", "--json"],
            cwd=environment.project, env=child_variables(),
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120, check=False,
        )  # fmt: skip
        installs = json.loads(answer.stdout).get("installs", [])
    except (OSError, subprocess.TimeoutExpired, ValueError, AttributeError):
        return None
    working = [each for each in installs if not each.get("practice") and each.get("works")]
    return working[0] if working else None


def train_sample(environment: Environment, home: Path, say: Say) -> int:
    """Train the sample project with the practice trainer, in the terminal.

    Args:
        environment: The environment to run in.
        home: Where the program keeps its things; the sample is copied there, so that nothing is
            written into the checkout.
        say: Tells the person one line.

    Returns:
        The exit status of the run.
    """
    source = environment.project / "resources" / "sample_project"
    place = home / "sample_project"
    if not place.exists():
        # Whole or not at all: a copy that was cut off would be trained as it is.
        unfinished = place.with_name("sample_project.part")
        shutil.rmtree(unfinished, ignore_errors=True)
        shutil.copytree(source, unfinished, ignore=shutil.ignore_patterns("__pycache__"))
        unfinished.rename(place)
    say(_("Training the sample project in {folder} with the practice trainer.").format(folder=place))
    words = ["run", str(place / "plan.toml"), "--practice"]
    return run_program(environment, words)


def run_program(environment: Environment, words: list[str]) -> int:
    """Run the program with these words and return its exit status."""
    command = [str(environment.python), "-m", "gui", *words]
    return subprocess.run(command, cwd=environment.project, env=child_variables(), check=False).returncode


def home_folder(environment: Environment) -> Path:
    """Ask the program where it keeps its things."""
    answer = subprocess.run(
        [environment.python, "-I", "-X", "utf8", "-c", _WHERE],
        env=child_variables(), stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    return Path(answer.stdout.decode("utf-8").rstrip("\r\n"))
