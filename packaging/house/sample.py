"""What `run --terminal` does, and `run` where there is no display: a small training."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gui.engine.texts import _
from house.children import child_variables, run_in_front
from house.environment import Environment
from house.trouble import Trouble

Say = Callable[[str], None]

_COPY = """
from gui.engine.paths import Home
from gui.engine.plan.sample import copy_sample_project
print(copy_sample_project(Home.find().root / "sample_project"))
"""


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


def train_sample(environment: Environment, python: str | None, say: Say) -> int:
    """Train the sample project with the practice trainer, in the terminal.

    Args:
        environment: The environment to run in.
        python: The interpreter of a working trainer, to borrow its torch; None for the own one.
        say: Tells the person one line.

    Returns:
        The exit status of the run.

    Raises:
        Trouble: The sample could not be copied to the program's own folder.
    """
    plan = _sample_plan(environment)
    say(_("Training the sample project in {folder} with the practice trainer.").format(folder=plan.parent))
    # The second time the sample's own files of the first are there; writing over them loses nothing.
    words = ["run", str(plan), "--practice", "--accept", "output-exists"]
    return run_program(environment, [*words, "--python", python] if python else words)


def _sample_plan(environment: Environment) -> Path:
    """Let the program copy its sample to where it keeps its things, so that the checkout stays clean."""
    answer = subprocess.run(
        [environment.python, "-I", "-X", "utf8", "-c", _COPY],
        env=child_variables(), capture_output=True, check=False,
    )  # fmt: skip
    if answer.returncode:
        last = answer.stderr.decode("utf-8", errors="replace").strip().splitlines()[-1:]
        raise Trouble(_("The sample project could not be copied: {reason}").format(reason="".join(last)))
    return Path(answer.stdout.decode("utf-8").rstrip("\r\n"))


def run_program(environment: Environment, words: list[str]) -> int:
    """Run the program with these words and return its exit status."""
    return run_in_front([str(environment.python), "-m", "gui", *words], environment.project)
