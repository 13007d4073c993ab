"""The window: everything that needs Qt. It shows what the engine knows and asks it to act.

PySide6 puts a function of its own before every later import, which reads and keeps the source of each
module (12 MB for this program) to see whether it switches names to snake_case. Nothing here does.
"""

import builtins

_import = builtins.__import__

import PySide6.QtCore  # noqa: E402, F401

builtins.__import__ = _import
