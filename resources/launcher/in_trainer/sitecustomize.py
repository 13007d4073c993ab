"""Lets the memory hook begin in the trainer's interpreter, and gives way to what stands behind it.

Python imports ``sitecustomize`` before it runs anything, so the trainer's own script, ``sys.argv``,
``__main__`` and tracebacks are what they would be without, in each process that accelerate starts too.
This folder leaves ``sys.path`` at once, and a ``sitecustomize`` of the user's own is run as if this one
had never been found.
"""

# No fault of the hook may reach the trainer, and pathlib is not loaded for it.
# ruff: noqa: BLE001, PTH100, PTH120

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def begin():
    """Begin to measure; a fault of the hook is the hook's own."""
    try:
        import kohya_preflight_memory

        kohya_preflight_memory.begin(HERE)
    except Exception:
        pass


def give_way():
    """Import the ``sitecustomize`` that Python would have found without this one.

    Raises:
        Exception: Whatever that one raises: Python tells of it as it always does.
    """
    sys.path[:] = [place for place in sys.path if os.path.abspath(place) != HERE]
    sys.path_importer_cache.pop(HERE, None)
    own = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401 - it acts by being imported
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        if own is not None:  # what imports this module expects to find one of its name
            sys.modules.setdefault("sitecustomize", own)


begin()
give_way()
