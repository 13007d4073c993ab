"""What messages about memory that ran out say of themselves, in every spelling that was posted."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.runs.diagnosis import diagnose_log
from gui.engine.trainer.events import Error
from gui.engine.trainer.output import OutputParser
from gui.engine.trainer.shortage import MemoryShortage, read_shortage

MIB, GIB = 1 << 20, 1 << 30
CASES = Path(__file__).parents[1] / "data" / "cases"

MESSAGES = {
    "torch 1, old": (
        "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 1; 7.93 GiB total capacity; "
        "5.66 GiB already allocated; 13.12 MiB free; 5.84 GiB cached)",
        MemoryShortage(
            device=1,
            asked=2 * GIB,
            total=int(7.93 * GIB),
            allocated=int(5.66 * GIB),
            free=int(13.12 * MIB),
            reserved=int(5.84 * GIB),
        ),
    ),
    "torch 1, OOM-01, in small letters": (
        "cuda out of memory. tried to allocate 30.00 mib (gpu 0; 8.00 gib total capacity; 7.04 gib already "
        "allocated; 0 bytes free; 7.28 gib reserved in total by pytorch)",
        MemoryShortage(
            device=0,
            asked=30 * MIB,
            total=8 * GIB,
            allocated=int(7.04 * GIB),
            free=0,
            reserved=int(7.28 * GIB),
        ),
    ),
    "torch 2.0, misspelt": (
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total "
        "capacty of 10.00 GiB of which 512.00 MiB is free. Process 812 has 1.00 GiB memory in use. "
        "Process 4 has 512.00 MiB memory in use. Of the allocated memory 7.00 GiB is allocated by PyTorch, "
        "and 256.00 MiB is reserved by PyTorch but unallocated.",
        MemoryShortage(
            device=0,
            asked=3 * GIB // 2,
            total=10 * GIB,
            free=512 * MIB,
            allocated=7 * GIB,
            reserved=7 * GIB + 256 * MIB,
            others=1536 * MIB,
        ),
    ),
    "torch 2, limited": (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 90.00 MiB. GPU 0 has a total capacity "
        "of 24.00 GiB of which 42.00 MiB is free. Including non-PyTorch memory, this process has 23.50 GiB "
        "memory in use. 20.00 GiB allowed; Of the allocated memory 23.00 GiB is allocated by PyTorch, and "
        "6.00 MiB is reserved by PyTorch but unallocated.",
        MemoryShortage(
            device=0,
            asked=90 * MIB,
            total=24 * GIB,
            free=42 * MIB,
            in_use=47 * GIB // 2,
            limit=20 * GIB,
            allocated=23 * GIB,
            reserved=23 * GIB + 6 * MIB,
        ),
    ),
    "HIP, OOM-09": (
        "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 80.00 MiB. GPU 0 has a total capacity "
        "of 16.00 GiB of which 84.00 MiB is free. … PYTORCH_HIP_ALLOC_CONF",
        MemoryShortage(device=0, asked=80 * MIB, total=16 * GIB, free=84 * MIB),
    ),
    "Metal": (
        "RuntimeError: MPS backend out of memory (MPS allocated: 8.00 GB, other allocations: 1.00 GB, max "
        "allowed: 9.00 GB). Tried to allocate 256.00 MB on private pool.",
        MemoryShortage(asked=256 * MIB, total=9 * GIB, allocated=8 * GIB, others=GIB),
    ),
    "RAM": (
        "RuntimeError: [enforce fail at alloc_cpu.cpp:75] err == 0. DefaultCPUAllocator: can't allocate "
        "memory: you tried to allocate 1310720000 bytes. Error code 12 (Cannot allocate memory)",
        MemoryShortage(where="cpu", asked=1310720000),
    ),
    "numpy": (
        "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 12.0 MiB for an array with shape (3,)",
        MemoryShortage(where="cpu", asked=12 * MIB),
    ),
    "CUDA itself": ("RuntimeError: CUDA error: out of memory", MemoryShortage()),
    "bitsandbytes": ("Error out of memory at line 380 in file /src/csrc/pythonInterface.c", MemoryShortage()),
    "cuBLAS, OOM-11": (
        "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        MemoryShortage(),
    ),
    "accelerate": ("RuntimeError: No executable batch size found, reached zero.", MemoryShortage()),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_that_the_message_is_read(name: str) -> None:
    message, wanted = MESSAGES[name]
    assert read_shortage(message) == wanted
    half = len(message) // 2
    cut = message.find(" ", half)
    wrapped = message[:cut] + "\n        " + message[cut + 1 :]
    assert read_shortage(wrapped) == wanted


@pytest.mark.parametrize(
    ("case", "asked", "total"),
    [("OOM-02", 20.0, 11.76), ("OOM-04", 58.0, 8.0), ("OOM-06", 90.0, 23.64), ("OOM-08", 80.0, 12.0)],
)
def test_that_the_numbers_of_posted_logs_are_read(case: str, asked: float, total: float) -> None:
    (log,) = CASES.rglob(f"{case}.txt")
    parser = OutputParser()
    events = [*parser.feed(log.read_bytes()), *parser.finish()]
    found = [read_shortage(event.message) for event in events if isinstance(event, Error)]
    (shortage,) = {each for each in found if each is not None and each.asked is not None}
    assert shortage.asked == int(asked * MIB) and shortage.total == int(total * GIB)
    assert (
        shortage.needed is None
        or shortage.available is None
        or case == "OOM-08"
        or (shortage.needed > shortage.available)
    )


@pytest.mark.parametrize(
    "message",
    [
        "",
        "ValueError: no such optimizer",
        "Tried to allocate 3 seats",
        "RuntimeError: CUDA error: misaligned",
    ],
)
def test_that_other_messages_are_not_about_memory(message: str) -> None:
    assert read_shortage(message) is None


def test_that_what_it_would_have_needed_follows() -> None:
    told = MemoryShortage(asked=2 * GIB, free=GIB, in_use=9 * GIB, allocated=8 * GIB, reserved=8 * GIB)
    assert (told.needed, told.available, told.tensors) == (11 * GIB, 10 * GIB, 10 * GIB)
    assert MemoryShortage().needed is None and MemoryShortage().available is None
    assert MemoryShortage().tensors is None


@given(st.text())
def test_that_no_text_makes_it_stumble(text: str) -> None:
    read_shortage(f"CUDA out of memory. Tried to allocate {text} GiB. of which 1.2.3 GiB is free {text}")


@pytest.mark.parametrize("name", [name for name, (_m, told) in MESSAGES.items() if told.where == "gpu"])
def test_that_the_diagnosis_knows_every_spelling(name: str) -> None:
    message = MESSAGES[name][0]
    found = [diagnosis.id for diagnosis in diagnose_log([f"{message}\n".encode()], exit_status=1)]
    assert found[:1] == ["cuda-oom"]
