"""The processes of runs: one door to launching, identifying, measuring and stopping them."""

from gui.engine.runs.launching import (
    ExitRecord,
    Launched,
    launch,
    read_exit,
    read_launched,
    tree_of,
)
from gui.engine.runs.process_table import ProcessId, boot_id, boottime, identify
from gui.engine.runs.process_tree import (
    RUN_MARKER,
    PauseReport,
    StopReport,
    StopStep,
    StopSteps,
    Tree,
    TreeMemory,
)

__all__ = [
    "RUN_MARKER",
    "ExitRecord",
    "Launched",
    "PauseReport",
    "ProcessId",
    "StopReport",
    "StopStep",
    "StopSteps",
    "Tree",
    "TreeMemory",
    "boot_id",
    "boottime",
    "identify",
    "launch",
    "read_exit",
    "read_launched",
    "tree_of",
]
