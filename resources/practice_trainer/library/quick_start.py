"""Spares the second in which torch loads a compiler that nothing here uses.

Its optimizers import ``torch._dynamo`` at their first step, only to tell it to keep away from them.
That takes longer than everything else before the first step but torch itself.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

NAME = "torch._dynamo"


class NoCompiler(ModuleType):
    """Stands where the compiler would be, until anything is asked of it but to keep away."""

    def disable(self, function: Callable[..., Any], *_: Any, **__: Any) -> Callable[..., Any]:
        """Return a function as it is: uncompiled."""
        return function

    def graph_break(self, *_: Any, **__: Any) -> None:
        """Do nothing: no graph is being made."""

    def __getattr__(self, name: str) -> Any:
        """Give way to the real compiler, for an optimizer that does want it."""
        if sys.modules.get(NAME) is self:
            del sys.modules[NAME], torch._dynamo
        return getattr(importlib.import_module(NAME), name)


def without_compiler() -> None:
    """Keep torch from loading its compiler until something needs it."""
    if NAME not in sys.modules:
        sys.modules[NAME] = torch._dynamo = NoCompiler(NAME)
