"""Reads what stands between ``accelerate launch`` and the script, and the environment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from gui.engine.importers.assembling import Draft
from gui.engine.redaction import ARGUMENT_OF_VARIABLE
from gui.engine.texts import _

_SWITCHES = frozenset(
    {
        *("multi_gpu", "cpu", "mps", "tpu", "use_deepspeed", "use_fsdp", "use_megatron_lm", "same_network"),
        *(
            "dynamo_use_fullgraph",
            "dynamo_use_dynamic",
            "debug",
            "quiet",
            "m",
            "module",
            "no_python",
            "use_xpu",
        ),
        *("use_cpu", "ipex"),
    }
)
"""Options of ``accelerate launch`` that take no value (accelerate/commands/launch.py)."""

_MEANINGLESS = frozenset({"multi_gpu", "quiet", "debug", "same_network", "m", "module", "machine_rank"})
"""Options that say nothing which the plan's own launch does not do by itself."""

_FOR_THE_RUN = (
    "CUDA_",
    "PYTORCH_",
    "TORCH",
    "NCCL_",
    "HF_",
    "HIP_",
    "ROCR_",
    "HSA_",
    "OMP_",
    "MKL_",
    "XFORMERS_",
)


def take_launch_words(draft: Draft, words: Sequence[str]) -> None:
    """Put the options of ``accelerate launch`` into a draft's launch settings.

    Args:
        draft: Gets launch settings and notes.
        words: Everything in front of the script.
    """
    takers: Mapping[str, Callable[[Draft, str], bool]] = {
        "num_processes": _whole("num_processes"),
        "num_machines": _whole("num_machines"),
        "num_cpu_threads_per_process": _whole("num_cpu_threads_per_process"),
        "dynamo_backend": _dynamo,
        "gpu_ids": _gpu_ids,
    }
    ignored: list[str] = []
    for name, value in _options(words):
        taker = takers.get(name)
        if taker is None:
            ignored += [name] if name not in _MEANINGLESS else []
        elif not taker(draft, value):
            ignored.append(f"{name} {value}".strip())
    if "mixed_precision" in ignored:
        ignored.remove("mixed_precision")
        draft.note(_("mixed_precision of accelerate is left out: the trainer's own argument decides."))
    if ignored:
        draft.note(
            _("Options of accelerate that a plan does not have: {names}").format(names=", ".join(ignored))
        )


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            continue
        name, equals, value = word.removeprefix("--").partition("=")
        name = name.replace("-", "_")
        if not equals and name not in _SWITCHES and rest and not rest[0].startswith("--"):
            value = rest.pop(0)
        yield name, value


def _whole(name: str) -> Callable[[Draft, str], bool]:
    def take(draft: Draft, value: str) -> bool:
        if not (value.isascii() and value.isdigit() and len(value) < 6):
            return False
        draft.launch[name] = int(value)
        return True

    return take


def _dynamo(draft: Draft, value: str) -> bool:
    draft.launch["dynamo_backend"] = value.lower()
    return bool(value)


def _gpu_ids(draft: Draft, value: str) -> bool:
    if value == "all":
        return True
    parts = [part.strip() for part in value.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 4 for part in parts):
        return False
    draft.launch["gpu_ids"] = [int(part) for part in parts]
    return True


def take_environment(draft: Draft, environment: Mapping[str, str]) -> None:
    """Keep the variables that a script sets for CUDA, torch and their like; tokens become secrets later."""
    kept = {
        name: value
        for name, value in environment.items()
        if value and (name in ARGUMENT_OF_VARIABLE or name.startswith(_FOR_THE_RUN))
    }
    if kept:
        draft.launch["env"] = kept
