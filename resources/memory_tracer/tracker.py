"""Watches the storages that a program makes and drops, and replays them through the allocator's model."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

from memory_tracer.allocator import Block, CachingAllocator, rounded
from memory_tracer.cuda_scratch import backward_scratch

_ADD = torch.ops.aten.add.Tensor
_ITEM = torch.ops.aten._local_scalar_dense.default
_ENGINE = "_engine_run_backward"
PROGRESS_EVERY = 2000

_WRAPPERS = ("_compile.py", "eval_frame.py", "_python_dispatch.py")


class StorageTracker(TorchDispatchMode):
    """Counts live bytes while it is entered; to be entered after the ``FakeTensorMode``.

    Attributes:
        live: Bytes of all storages that are alive, each rounded as the allocator does.
        peaks: The most of each phase, in the order of the phases.
        operation: The operation at the peak of all phases.
        operations: How many operations were seen.
        allocator: What the same sequence does to the caching allocator.
        item: What ``Tensor.item`` gives: fake tensors have no values.
    """

    def __init__(self, *, progress: Callable[[int], None] | None = None) -> None:
        """Begin with the phase ``load``.

        Args:
            progress: Told now and then how many operations were seen.
        """
        super().__init__()
        self.live = 0
        self.peaks: dict[str, int] = {}
        self.operation = ""
        self.operations = 0
        self.allocator = CachingAllocator()
        self.item: float = 1
        self._phase = "load"
        self._peak = 0
        self._held: dict[int, tuple[weakref.ref[torch.UntypedStorage], Block, int]] = {}
        self._progress = progress
        self._current = ""
        self._scalars_count = True
        self._sum: tuple[int, weakref.ref[torch.UntypedStorage]] | None = None

    def begin(self, phase: str) -> None:
        """Count what follows under another name."""
        self._settle_sum()
        self._phase = phase
        self.peaks[phase] = max(self.live, self.peaks.get(phase, 0))

    def hold(self, tensors: Iterable[torch.Tensor]) -> None:
        """Count tensors that were made outside."""
        for tensor in tensors:
            self._see(tensor)

    @contextmanager
    def scalars_elsewhere(self) -> Iterator[None]:
        """Count no single numbers meanwhile: optimizers keep the number of their steps on the CPU."""
        self._scalars_count = False
        try:
            yield
        finally:
            self._scalars_count = True

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.operations += 1
        if self._progress is not None and self.operations % PROGRESS_EVERY == 0:
            self._progress(self.operations)
        if func is _ITEM:
            return self.item
        self._settle_sum()
        self._current = func.name() if hasattr(func, "name") else str(func)
        out = func(*args, **(kwargs or {}))
        if func is _ADD and _is_accumulation(args) and self._fills_its_storage(args[0]):
            self._sum = (id(args[0].untyped_storage()), weakref.ref(out.untyped_storage()))
            return out
        for leaf in tree_iter(out):
            if isinstance(leaf, torch.Tensor):
                self._see(leaf)
        self._pass_by(backward_scratch(func, args))
        return out

    def _pass_by(self, sizes: Iterable[int]) -> None:
        """Count what an operation uses beside its results while it runs."""
        blocks = [(self._allocate(size), rounded(size)) for size in sizes]
        for block, size in blocks:
            self._release(block, size)

    def _settle_sum(self) -> None:
        """Give the last sum of gradients room of its own, where its first addend is still in use.

        Where it is not, the sum has got the addend's room when that died: see ``_keep``.
        """
        if self._sum is not None:
            storage = self._sum[1]()
            self._sum = None
            if storage is not None:
                self._count(storage)

    def _fills_its_storage(self, tensor: torch.Tensor) -> bool:
        held = self._held.get(id(tensor.untyped_storage()))
        return held is not None and held[2] == rounded(tensor.nbytes)

    def _see(self, tensor: torch.Tensor) -> None:
        if not (self._scalars_count or tensor.dim()):
            return
        try:
            storage = tensor.untyped_storage()
        except NotImplementedError:  # sparse tensors have none
            return
        self._count(storage)

    def _count(self, storage: torch.UntypedStorage) -> None:
        held = self._held.get(id(storage))
        if (held is not None and held[0]() is storage) or not (size := storage.nbytes()):
            return
        self._keep(storage, self._allocate(size), rounded(size))

    def _keep(self, storage: torch.UntypedStorage, block: Block, size: int) -> None:
        key = id(storage)

        def gone(ref: weakref.ref[torch.UntypedStorage]) -> None:
            held = self._held.get(key)
            if held is None or held[0] is not ref:
                return
            del self._held[key]
            heir = self._sum[1]() if self._sum is not None and self._sum[0] == key else None
            if heir is None:
                self._release(block, size)
            else:
                self._sum = None
                self._keep(heir, block, size)

        self._held[key] = (weakref.ref(storage, gone), block, size)

    def _allocate(self, size: int) -> Block:
        block = self.allocator.allocate(size)
        self.live += rounded(size)
        if self.live > self.peaks.get(self._phase, 0):
            self.peaks[self._phase] = self.live
        if self.live > self._peak:
            self._peak, self.operation = self.live, self._current
        return block

    def _release(self, block: Block, size: int) -> None:
        self.live -= size
        self.allocator.free(block)


def _is_accumulation(args: tuple[Any, ...]) -> bool:
    """Whether two gradients are added by the autograd engine itself, for a tensor that is used twice.

    The engine adds in place, unless it sees a tensor subclass or a dispatch mode, as here.
    No Python code stands between it and the call for the backward pass.
    """
    if torch.is_grad_enabled() or len(args) != 2 or not isinstance(args[1], torch.Tensor):
        return False
    if args[0].shape != args[1].shape or args[0].dtype != args[1].dtype:
        return False
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.endswith(_WRAPPERS):
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None and frame.f_code.co_name == _ENGINE
