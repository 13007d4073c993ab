"""A checkout of the test's own for the bootstrap's parts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from house.environment import Environment

PYPROJECT = """
[project]
dependencies = ["pydantic>=2"]
[project.optional-dependencies]
torch = ["torch>=2.6"]
[dependency-groups]
build = ["hatchling"]
test = ["pytest"]
lint = ["ruff"]
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Environment:
    """Return the environment of a small checkout whose path has blanks, Hangul and a quote."""
    project = tmp_path / "a b" / "한글 'x'"
    (project / "packaging").mkdir(parents=True)
    (project / "pyproject.toml").write_text(PYPROJECT, "utf-8")
    (project / "packaging" / "constraints.txt").write_text("pydantic==2.1\n", "utf-8")
    return Environment(project)


@pytest.fixture
def interpreter(checkout: Environment) -> Path:
    """Give the checkout an environment whose interpreter is this one."""
    checkout.python.parent.mkdir(parents=True)
    if os.name == "nt":
        pytest.skip("an interpreter cannot be linked on Windows")
    checkout.python.symlink_to(sys.executable)
    return checkout.python
