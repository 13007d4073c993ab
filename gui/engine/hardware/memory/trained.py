"""Counts what is trained, and what its gradients and the optimizer's state weigh."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gui.engine.hardware.memory.figures import FamilyFigures, MemoryFigures, OptimizerFigures
from gui.engine.hardware.memory.question import MemoryQuestion, NetworkQuestion, OptimizerQuestion
from gui.engine.plan.model_sizes import ModelSize
from gui.engine.quantities import GIB

T5_RANK_ONE = 1_818_624
"""Numbers of a LoRA of rank 1 on T5-XXL: 24 layers of four 4096×4096 and three 4096×10240."""

UNKNOWN_STATE = 8.0
"""Bytes of state for each number that an optimizer nothing is known of is taken to keep, as AdamW does;
it may be none, or twice as much."""

LYCORIS_TIMES = {"lora": 1, "locon": 1, "loha": 2, "dylora": 1}
"""How many LoRAs an algorithm of LyCORIS is as large as (modules of LyCORIS)."""

LISTS_OFF = frozenset({("fused", "True"), ("foreach", "False")})
"""Arguments with which torch's optimizers work on one tensor after the other."""

TYPICAL_SIDE = 1024
"""Side of a weight, for the pieces that LoKr cuts it into."""


@dataclass(frozen=True)
class Trained:
    """What is trained, in numbers.

    Attributes:
        numbers: Numbers with gradients and state.
        frozen: Numbers of the network that are not trained, such as half of LoRA-FA.
        guessed: Whether the count is an estimate.
    """

    numbers: float
    frozen: float = 0.0
    guessed: bool = False


def trained_by_network(
    network: NetworkQuestion, size: ModelSize, figures: FamilyFigures | None
) -> Trained | None:
    """Return what a network trains; None when its module is not known.

    Args:
        network: The network.
        size: How large the family's parts are.
        figures: The shape of the family's network.
    """
    arguments, rank = network.arguments, network.rank
    text = size.lora.text * rank if network.trains_text else 0
    if network.trains_text and arguments.get("train_t5xxl") == "True":
        text += T5_RANK_ONE * rank
    if network.module.startswith("lycoris"):
        return _lycoris(network, size, figures, text)
    if not network.module.startswith("networks."):
        return None
    if network.module.startswith("networks.oft"):
        return Trained((size.oft or 0) / max(1, rank), guessed=True) if size.oft else None
    model = _lora(network, size, figures) if network.trains_model else 0.0
    if network.module == "networks.lora_fa":
        return Trained((model + text) / 2, (model + text) / 2)
    return Trained(model + text)


def _lora(network: NetworkQuestion, size: ModelSize, figures: FamilyFigures | None) -> float:
    arguments, rank = network.arguments, network.rank
    conv = _whole(arguments.get("conv_dim"))
    dims, conv_dims = _wholes(arguments.get("block_dims")), _wholes(arguments.get("conv_block_dims"))
    blocks = figures.block_dims if figures else None
    if blocks and dims and len(dims) == len(blocks.linear):
        model = float(sum(each * dim for each, dim in zip(blocks.linear, dims, strict=True)))
    elif figures and figures.groups:
        model = _by_groups(arguments, rank, figures)
    else:
        model = float(size.lora.model * rank)
    if blocks and conv_dims and len(conv_dims) == len(blocks.conv):
        return model + sum(each * dim for each, dim in zip(blocks.conv, conv_dims, strict=True))
    return model + (size.lora.conv * conv + size.lora.beside_conv * rank if conv else 0)


def _by_groups(arguments: Mapping[str, str], rank: int, figures: FamilyFigures) -> float:
    """Source: lora_flux.py:466-555, lora_sd3.py:47-120, lora_lumina.py:575-668."""
    only = arguments.get("train_blocks", "all")
    total = 0.0
    for part, group in figures.groups.items():
        if only not in ("all", part) and not (only == "refiners" and part.endswith("refiner")):
            continue
        numbers = sum(each * _whole(arguments.get(key), rank) for key, each in group.items())
        count = figures.group_blocks.get(part, 1)
        chosen = arguments.get(f"train_{part}_block_indices") or (
            arguments.get("train_block_indices") if part == "joint" else None
        )
        total += numbers * _chosen(chosen, count) / count
    return total


def _chosen(text: str | None, count: int) -> int:
    """Return how many blocks ``0,2-5`` names; all where nothing or nonsense is said."""
    if text is None or text == "all":
        return count
    if text in ("", "none"):
        return 0
    blocks: set[int] = set()
    for piece in text.split(","):
        first, _dash, last = piece.partition("-")
        if not first.strip().isdecimal() or (last and not last.strip().isdecimal()):
            return count
        blocks |= set(range(int(first), min(int(last or first), count - 1) + 1))
    return min(len(blocks), count)


def _lycoris(
    network: NetworkQuestion, size: ModelSize, figures: FamilyFigures | None, text: float
) -> Trained | None:
    arguments, rank = network.arguments, network.rank
    algorithm = arguments.get("algo", "lora").lower()
    conv = _whole(arguments.get("conv_dim"), rank)
    plain = float(size.lora.model * rank + size.lora.conv * conv + size.lora.beside_conv * rank)
    plain = plain if network.trains_model else 0.0
    if algorithm in LYCORIS_TIMES:
        return Trained((plain + text) * LYCORIS_TIMES[algorithm], guessed=True)
    if algorithm == "full":
        return Trained(float(size.model + (size.text if network.trains_text else 0)), guessed=True)
    if algorithm == "lokr" and figures is not None:
        factor = _whole(arguments.get("factor"), 0)
        pieces = factor if factor > 1 else int(TYPICAL_SIDE**0.5)
        large = min(size.model / pieces**2, (plain + text) / pieces)
        return Trained(figures.linear_layers * pieces**2 + large, guessed=True)
    return None


@dataclass(frozen=True)
class OptimizerNeeds:
    """What an optimizer takes, GiB.

    Attributes:
        state: What it keeps from step to step.
        step: Temporary tensors of its step.
        doubt: How far off the state may be, as a standard deviation.
    """

    state: float
    step: float
    doubt: float = 0.0


def optimizer_needs(
    question: MemoryQuestion, trained: Trained, convolutions: float, figures: MemoryFigures
) -> OptimizerNeeds:
    """Return what the optimizer takes.

    Args:
        question: What is asked.
        trained: What is trained.
        convolutions: How many of the trained numbers are in kernels, as the figures count them.
        figures: What is known of optimizers.
    """
    asked = question.optimizer
    known = figures.optimizers.get(asked.name)
    if known is None:
        state = trained.numbers * UNKNOWN_STATE * question.trained_bytes / 4 / GIB
        return OptimizerNeeds(state, 0.0, state / figures.interval.sigmas)
    each = _state_bytes(asked, known, half=question.full_half)
    state = trained.numbers * each + convolutions * known.factored
    listed = not asked.fused and not LISTS_OFF & set(asked.arguments.items())
    step = trained.numbers * question.trained_bytes * known.step if listed else 0.0
    return OptimizerNeeds(state / GIB, step / GIB)


def _state_bytes(asked: OptimizerQuestion, known: OptimizerFigures, *, half: bool) -> float:
    each = known.bf16 if half else known.fp32
    if known.momentum and asked.arguments.get("beta1", "None") not in ("None", "0", "0.0"):
        each += known.momentum
    slices = asked.arguments.get("slice_p", "1")
    if known.sliced and slices.isdecimal() and int(slices) > 1:
        each *= (1 + 1 / int(slices)) / 2  # two of Prodigy's four states are thinned
    return each


def _whole(text: str | None, default: int = 0) -> int:
    return int(text) if text is not None and text.strip().isdecimal() else default


def _wholes(text: str | None) -> tuple[int, ...]:
    pieces = [piece.strip() for piece in (text or "").split(",")]
    return tuple(map(int, pieces)) if all(piece.isdecimal() for piece in pieces) else ()
