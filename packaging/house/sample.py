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


def working_trainer(environment: Environment, say: Say) -> str | None:
    """Return the Python of an sd-scripts on this machine that can train, or None.

    Args:
        environment: The environment of this checkout, with the program in it.
        say: Tells the person one line.
    """
    listed = _ask(environment, ["trainer", "list", "--json"]) or {}
    installs = [each for each in listed.get("trainers", ()) if each["python"] and not each["practice"]]
    for install in sorted(installs, key=lambda each: not each["default"]):
        say(_("Examining {trainer} …").format(trainer=install["label"]))
        words = ["trainer", "probe", install["root"], "--python", install["python"], "--json"]
        facts = _ask(environment, words)
        if facts and facts["torch"] and any(script["error"] is None for script in facts["scripts"].values()):
            say(_("It works, with torch {version}.").format(version=facts["torch"]))
            return str(install["python"])
        say(_("It cannot train as it is; “trainer probe” tells why."))
    return None


def _ask(environment: Environment, words: list[str]) -> dict[str, Any] | None:
    """Let the program answer with one JSON document; None when it does not."""
    try:
        answer = subprocess.run(
            [environment.python, "-m", "gui", *words],
            cwd=environment.project, env=child_variables(),
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=600, check=False,
        )  # fmt: skip
        document = json.loads(answer.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return None
    return document if isinstance(document, dict) else None


def train_sample(environment: Environment, home: Path, python: str | None, say: Say) -> int:
    """Train the sample project with the practice trainer, in the terminal.

    Args:
        environment: The environment to run in.
        home: Where the program keeps its things; the sample is copied there, so that nothing is
            written into the checkout.
        python: The interpreter of a working trainer, to borrow its torch; None for the own one.
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
    return run_program(environment, [*words, "--python", python] if python else words)


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
