"""A Python that has imported torch already, and becomes a script for each order: that saves most of a run.

Run as a program it reads orders, a JSON object a line, and answers each with the script's exit status.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


class WarmPython:
    """Runs scripts one after another, each in a process of its own; needs ``fork``.

    Args:
        env: The whole environment of all of them.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-B", __file__], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def run(self, words: Sequence[str], cwd: Path, output: Path) -> int:
        """Run a script to its end and return its exit status.

        Args:
            words: The script, relative to ``cwd``, and its arguments.
            cwd: Where it works.
            output: The file that gets all that it says.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        order = {"words": list(words), "cwd": str(cwd), "output": str(output)}
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


def _serve() -> None:
    import torch  # noqa: F401 - what takes so long

    while line := sys.stdin.buffer.readline():
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _become(**order)
            return
        _pid, status = os.waitpid(pid, 0)
        os.write(1, f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _become(words: list[str], cwd: str, output: str) -> None:
    """Be what Python would be that was started with these words."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    said = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.chdir(cwd)
    script = Path(cwd, words[0])
    sys.argv, sys.path[0], sys.excepthook = words, cwd, _tell
    module = types.ModuleType("__main__")
    module.__file__ = str(script)
    sys.modules["__main__"] = module
    exec(compile(script.read_bytes(), str(script), "exec"), module.__dict__)


def _tell(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    """Print a traceback that begins in the script."""
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    sys.__excepthook__(kind, error.with_traceback(trace), trace)


if __name__ == "__main__":
    _serve()
