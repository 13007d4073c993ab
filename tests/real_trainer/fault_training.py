"""Lets the trainer's own train_network.py train on datasets, each in a process of its own.

Usage: PYTHON fault_training.py ORDERS.json ANSWERS.json   (with the checkout as working folder)

Orders are a list of {"name", "argv", "log"}; answers name for each whether it ended with
status 0, its error, and the last loss that the bar showed. What takes long, the imports, is done once: each
training is a fork of this process.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import struct
import sys
import traceback
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path.cwd()))

CAPABILITIES = struct.pack("<Ii", 0x20080522, 0)
OVERRIDE = 0b110
"""Linux' rights to read what is closed (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH); root has them."""

ERROR = re.compile(r"^[\w.]*(?:Error|Exception|BadZipFile|Warning)\b.*", re.MULTILINE)


def be_anybody() -> None:
    """Give up root's right to read files that are closed to everybody."""
    system = ctypes.CDLL(None, use_errno=True)
    sets = ctypes.create_string_buffer(24)
    if system.capget(CAPABILITIES, sets):
        return
    words = list(struct.unpack("<6I", sets.raw))
    words[0] &= ~OVERRIDE
    system.capset(CAPABILITIES, struct.pack("<6I", *words))


def train(argv: list[str]) -> None:
    """Do what the script does when it is called."""
    import train_network
    from library import train_util

    parser = train_network.setup_parser()
    sys.argv = ["train_network.py", *argv]
    args = parser.parse_args(argv)
    train_util.verify_command_line_training_args(args)
    args = train_util.read_config_from_file(args, parser)
    train_network.NetworkTrainer().train(args)


def run_apart(order: dict[str, Any]) -> int:
    """Train in a fork; return its exit status."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    os.dup2(log, 1)
    os.dup2(log, 2)
    status = 1
    try:
        be_anybody()
        train(order["argv"])
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    except BaseException:  # noqa: BLE001 - whatever it is, it ends the training
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def answer(order: dict[str, Any]) -> dict[str, Any]:
    """Return what became of one order."""
    status = run_apart(order)
    log = Path(order["log"]).read_text("utf-8", "replace")
    errors = ERROR.findall(log)
    losses = re.findall(r"avr_loss=([-\w.]+)", log)
    return {
        "status": status,
        "error": errors[-1][:200] if status and errors else "",
        "loss": losses[-1] if losses else None,
        "saved": "model saved." in log,
    }


def main(orders: Path, answers: Path) -> None:
    """Answer all orders, one after another."""
    import train_network  # noqa: F401 - for all of them at once

    given = json.loads(orders.read_text("utf-8"))
    answers.write_text(json.dumps({order["name"]: answer(order) for order in given}), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
