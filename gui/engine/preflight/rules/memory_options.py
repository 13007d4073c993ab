"""Rules about options that save memory: limits, and pairs that exclude each other.

Source: trainer-facts 1.10, 1.11, 2.7, 2.9 (flux_train_network.py:77-93, anima_train_network.py:63-76,
train_network.py:716, deepspeed_utils.py:76).
"""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import leave_out, write
from gui.engine.preflight.view import View
from gui.engine.texts import _

SWAP_CHECKED = ("flux_", "sd3_train_network", "anima_")
"""Scripts that refuse block swap beside offloaded checkpoints."""

NO_CPU_OFFLOAD = (
    *("train_network.py", "sdxl_train_network.py", "sd3_train_network.py"),
    "hunyuan_image_train_network.py",
)
"""LoRA scripts whose model's checkpointing takes no ``cpu_offload`` (train_network.py:716), or calls for it
a function that is not there (hunyuan_image_modules.py:715)."""

SPLIT_MODE_BLOCKS = 18
"""What the trainer swaps for the old ``split_mode`` (flux_train_network.py:93)."""


def swapped(view: View) -> int:
    """Return how many blocks are swapped to the CPU."""
    number = view.number("blocks_to_swap")
    return int(number) if number is not None and view.given("blocks_to_swap") else 0


def swap_limit(view: View) -> int | None:
    """Return the most blocks that can be swapped; None when it is not known.

    Where the plan names no family, the largest model that the script trains counts.
    """
    kin = view.kin
    if kin is None or view.script == "lumina_train.py":
        return None
    kins = (kin,) if kin.name == view.plan.family else view.kin_by_script
    limits = [family.limits.blocks_to_swap for family in kins if family.limits.blocks_to_swap is not None]
    return max(limits, default=None)


def check_swap_max(view: View) -> Iterator[Finding]:
    """At least two blocks of each kind must stay on the GPU (OOM-16)."""
    blocks, most = swapped(view), swap_limit(view)
    if most is None or blocks <= most:
        return
    yield Finding(
        id="swap-max",
        severity="stop",
        title=_("At most {most} blocks can be swapped, not {blocks}.").format(most=most, blocks=blocks),
        detail=_("Two blocks of each kind must stay on the GPU; the trainer stops after loading the model."),
        arguments=("blocks_to_swap",),
        fixes=(write({"blocks_to_swap": most}, _("swap {most} blocks").format(most=most), safe=True),),
        sources=("OOM-16", *((view.kin.sources) if view.kin else ())),
    )


def check_swap_offload(view: View) -> Iterator[Finding]:
    """Swapped blocks and offloaded checkpoints exclude each other."""
    if swapped(view) <= 0 or not view.flag("cpu_offload_checkpointing"):
        return
    checked = view.script.startswith(SWAP_CHECKED)
    if not checked and not view.script.startswith("hunyuan_"):
        return
    yield Finding(
        id="swap-offload",
        severity="stop" if checked else "danger",
        title=_("Block swap and cpu_offload_checkpointing exclude each other."),
        detail=(
            _("The trainer refuses both together.")
            if checked
            else _("The trainer’s guide says so; the trainer itself does not check it.")
        ),
        arguments=("cpu_offload_checkpointing", "blocks_to_swap"),
        fixes=(
            leave_out("cpu_offload_checkpointing", safe=True),
            leave_out("blocks_to_swap", identity="no-swap"),
        ),
        sources=("trainer: flux_train_network.py:77, docs/hunyuan_image_train_network.md:245",),
    )


def check_unsloth(view: View) -> Iterator[Finding]:
    """Anima's own offloading takes no other beside it (anima_train_network.py:67-76)."""
    others = ["cpu_offload_checkpointing"] if view.flag("cpu_offload_checkpointing") else []
    if swapped(view) > 0:
        others.append("blocks_to_swap")
    if not view.flag("unsloth_offload_checkpointing") or not others:
        return
    yield Finding(
        id="unsloth-offload",
        severity="stop",
        title=_("unsloth_offload_checkpointing excludes {others}.").format(others=", ".join(others)),
        detail=_("The trainer refuses them together."),
        arguments=("unsloth_offload_checkpointing", *others),
        fixes=(leave_out("unsloth_offload_checkpointing", safe=True), leave_out(*others, identity="others")),
        sources=("trainer: anima_train_network.py:67-76, anima_train.py:61-73",),
    )


def check_cpu_offload(view: View) -> Iterator[Finding]:
    """The checkpointing of SD, SDXL, SD 3 and HunyuanImage cannot be offloaded (train_network.py:716)."""
    if view.script not in NO_CPU_OFFLOAD or not view.flag("cpu_offload_checkpointing"):
        return
    effective = view.flag("gradient_checkpointing")
    yield Finding(
        id="cpu-offload",
        severity="stop" if effective else "hint",
        title=_("This model’s checkpointing cannot be offloaded to the CPU."),
        detail=(
            _("The trainer stops after loading and caching.")
            if effective
            else _("cpu_offload_checkpointing does nothing here, and fails once checkpointing is on.")
        ),
        arguments=("cpu_offload_checkpointing", "gradient_checkpointing"),
        fixes=(leave_out("cpu_offload_checkpointing", safe=True),),
        sources=(
            "trainer: train_network.py:716, original_unet.py:1510, sd3_models.py:921",
            "trainer: hunyuan_image_modules.py:715",
        ),
    )


def check_split(view: View) -> Iterator[Finding]:
    """``split_mode`` became block swap (CONF-15)."""
    if not view.flag("split_mode"):
        return
    other = view.given("blocks_to_swap")
    changes: dict[str, object] = {"split_mode": None}
    if not other:
        changes["blocks_to_swap"] = SPLIT_MODE_BLOCKS
    yield Finding(
        id="split",
        severity="hint" if other else "warning",
        title=_("split_mode is old: the trainer swaps blocks instead."),
        detail=(
            _("It is ignored beside blocks_to_swap.")
            if other
            else _("Newer trainers take it for blocks_to_swap 18; older ones want train_blocks=single too.")
        ),
        arguments=("split_mode", "blocks_to_swap"),
        fixes=(write(changes, _("say blocks_to_swap instead"), safe=True),),
        sources=("CONF-15", "trainer: flux_train_network.py:82-93"),
    )


def check_deepspeed(view: View) -> Iterator[Finding]:
    """DeepSpeed needs its package, and ``train_db.py`` cannot use it (deepspeed_utils.py:76)."""
    if not view.flag("deepspeed"):
        return
    broken = view.script == "train_db.py"
    if not broken and view.package("deepspeed") is not False:
        return
    yield Finding(
        id="deepspeed",
        severity="stop",
        title=(
            _("train_db.py fails with DeepSpeed.")
            if broken
            else _("DeepSpeed is not installed in the trainer’s environment.")
        ),
        detail=(
            _("It asks for an option that it does not have, after loading the model.")
            if broken
            else _("The trainer ends at once. Install it there: pip install deepspeed")
        ),
        arguments=("deepspeed",),
        fixes=(leave_out("deepspeed"),),
        sources=("trainer: deepspeed_utils.py:76-82, train_db.py:247",),
    )


def check_fp8_unused(view: View) -> Iterator[Finding]:
    """Only the LoRA scripts act on ``fp8_base`` (trainer-facts 2.9)."""
    if view.trains_network or not view.flag("fp8_base"):
        return
    yield Finding(
        id="fp8-unused",
        severity="hint",
        title=_("fp8_base does nothing in {script}.").format(script=view.script),
        detail=_("Only LoRA trainings keep the base model in fp8; this one needs its full memory."),
        arguments=("fp8_base",),
        fixes=(leave_out("fp8_base", safe=True),),
        sources=("trainer: train_util.py:3993, train_network.py:829",),
    )


RULES: tuple[Rule, ...] = (
    Rule("swap-max", check_swap_max, ("OOM-16",), lambda: _("How many blocks can be swapped")),
    Rule(
        "swap-offload",
        check_swap_offload,
        ("trainer: flux_train_network.py:77",),
        lambda: _("Block swap beside offloaded checkpoints"),
    ),
    Rule(
        "unsloth-offload",
        check_unsloth,
        ("trainer: anima_train_network.py:67",),
        lambda: _("Anima’s own offloading beside others"),
    ),
    Rule(
        "cpu-offload",
        check_cpu_offload,
        ("trainer: train_network.py:716",),
        lambda: _("Offloaded checkpoints where the model cannot"),
    ),
    Rule("split", check_split, ("CONF-15",), lambda: _("The old split mode of FLUX")),
    Rule(
        "deepspeed",
        check_deepspeed,
        ("trainer: deepspeed_utils.py:76",),
        lambda: _("DeepSpeed and what it needs"),
    ),
    Rule(
        "fp8-unused",
        check_fp8_unused,
        ("trainer: train_network.py:829",),
        lambda: _("fp8_base where it does nothing"),
    ),
)
