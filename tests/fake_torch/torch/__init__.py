"""A stand-in for torch with CUDA: as much of it as the memory hook looks at, its counters set by a test.

A child process finds it through PYTHONPATH (``FOLDER`` of ``tests/engine/test_memory_hook.py``).
``torch.cuda.counters`` holds, for each device, what the allocator would count.
"""

from types import SimpleNamespace

from torch import cuda as cuda

version = SimpleNamespace(cuda="12.4", hip=None)
_C = SimpleNamespace(_cuda_getDeviceCount=lambda: len(cuda.counters))
