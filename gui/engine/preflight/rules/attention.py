"""Rules about attention: its package, one kernel only, and modes that cannot train.

Source: trainer-facts 1.10, 2.7 (train_util.py:3362, attention.py:7-28, 258-260).
"""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import leave_out, write
from gui.engine.preflight.view import View
from gui.engine.texts import _

KERNELS = ("mem_eff_attn", "xformers", "sdpa")
"""In the order in which the trainer takes the first that is on (train_util.py:3362)."""

MODE_PACKAGES = {"xformers": "xformers", "flash": "flash-attn", "sageattn": "sageattention"}
"""Values of ``attn_mode`` and the package that each needs (attention.py:7-28)."""

USES_KERNELS = ("train_", "sdxl_", "fine_tune")
"""Scripts of Stable Diffusion, whose U-Net follows these options."""


def _on(view: View) -> list[str]:
    return [name for name in KERNELS if view.flag(name)]


def _chosen_mode(view: View) -> str | None:
    """Return the attention of the scripts that have ``attn_mode``; None for others."""
    if not view.knows("attn_mode") or view.arguments is None:
        return None
    mode = view.text("attn_mode")
    if mode is None and view.script.endswith("train_network.py"):
        return "xformers" if view.flag("xformers") else "torch"
    return mode or ""


def check_xformers(view: View) -> Iterator[Finding]:
    """``xformers`` needs its package (ENV-07)."""
    if not view.flag("xformers") or view.flag("mem_eff_attn") or view.package("xformers") is not False:
        return
    if view.is_transformer and _chosen_mode(view) != "xformers":
        return
    yield Finding(
        id="xformers",
        severity="stop",
        title=_("xformers is not installed in the trainer’s environment."),
        detail=_("The trainer stops after loading the model. PyTorch’s own attention is as fast by now."),
        arguments=("xformers",),
        fixes=(
            write({"xformers": None, "sdpa": True}, _("use PyTorch’s attention"), identity="sdpa", safe=True),
        ),
        sources=("ENV-07", "trainer: train_util.py:3366"),
    )


def check_attn_one(view: View) -> Iterator[Finding]:
    """Of several attention options the trainer takes one (NAN-16)."""
    names = _on(view)
    if len(names) < 2:
        return
    kept = "sdpa" if "sdpa" in names else names[-1]
    yield Finding(
        id="attn-one",
        severity="warning",
        title=_("Of {names} the trainer uses only {first}.").format(names=", ".join(names), first=names[0]),
        detail=_("They are ways to the same result; choose one."),
        arguments=tuple(names),
        fixes=(
            write(
                {name: None for name in names if name != kept},
                _("keep {name}").format(name=kept),
                identity="one",
                safe=True,
            ),
        ),
        sources=("NAN-16", "NLAT-03", "trainer: train_util.py:3362"),
    )


def check_attn(view: View) -> Iterator[Finding]:
    """The old memory efficient attention is slow, and none at all is slower (SLOW-09)."""
    names = _on(view)
    if not view.script.startswith(USES_KERNELS) or names not in ([], ["mem_eff_attn"]):
        return
    yield Finding(
        id="attn",
        severity="hint",
        title=(
            _("mem_eff_attn is the slowest of the memory saving attentions.")
            if names
            else _("No attention option is set: plain attention is slow and takes much memory.")
        ),
        detail=_("sdpa is part of PyTorch 2, computes the same, and is faster."),
        arguments=("sdpa", *names),
        fixes=(
            write(
                {"sdpa": True, **dict.fromkeys(names)},
                _("use PyTorch’s attention"),
                identity="sdpa",
                safe=True,
            ),
        ),
        sources=("SLOW-09", "T17", "trainer: train_util.py:3362"),
    )


def check_attn_mode(view: View) -> Iterator[Finding]:
    """Anima and HunyuanImage: the attention must be able to train, and be installed (attention.py)."""
    mode = _chosen_mode(view)
    if mode is None or mode in ("torch", "sdpa"):
        return
    package = MODE_PACKAGES.get(mode)
    if mode == "":
        title = _("anima_train.py needs an attention mode.")
        detail = _("Without one it loads and caches everything, and stops at the first step.")
    elif mode == "sageattn":
        title = _("sageattn cannot train.")
        detail = _("It computes no gradients; it is meant for making images.")
    elif package is not None and view.package(package) is False:
        title = _("The attention mode {mode} needs the package {package}.").format(mode=mode, package=package)
        detail = _("The trainer’s environment does not have it; the first step fails.")
    elif mode == "xformers" and not view.flag("split_attn"):
        title = _("xformers needs split_attn here.")
        detail = _("The trainer’s own help says so; batches fail without it.")
    else:
        return
    torch = write(
        {"attn_mode": "torch", **({"xformers": None} if view.flag("xformers") else {})},
        _("use PyTorch’s attention"),
        identity="torch",
        safe=True,
    )
    split = write({"split_attn": True}, _("split the attention"), identity="split")
    needs_split = mode == "xformers" and view.package("xformers") is not False
    yield Finding(
        id="attn-mode",
        severity="danger" if needs_split else "stop",
        title=title,
        detail=detail,
        arguments=("attn_mode", "split_attn"),
        fixes=(torch, split) if needs_split else (torch,),
        sources=("trainer: attention.py:7-28, 258-260, anima_train.py:242",),
    )


def check_lumina_attn(view: View) -> Iterator[Finding]:
    """Lumina's own switches need their packages (lumina_models.py:323)."""
    for name, package in (("use_flash_attn", "flash-attn"), ("use_sage_attn", "sageattention")):
        if view.flag(name) and view.package(package) is False:
            yield Finding(
                id="lumina-attn",
                severity="stop",
                title=_("{name} needs the package {package}.").format(name=name, package=package),
                detail=_("The trainer’s environment does not have it; the first step fails."),
                arguments=(name,),
                where=name,
                fixes=(leave_out(name, safe=True),),
                sources=("trainer: lumina_models.py:323-380",),
            )


RULES: tuple[Rule, ...] = (
    Rule("xformers", check_xformers, ("ENV-07",), lambda: _("xformers is installed")),
    Rule("attn-one", check_attn_one, ("NAN-16",), lambda: _("Several attention options at once")),
    Rule("attn", check_attn, ("SLOW-09", "T17"), lambda: _("The attention of Stable Diffusion")),
    Rule(
        "attn-mode",
        check_attn_mode,
        ("trainer: attention.py:258",),
        lambda: _("The attention mode of Anima and HunyuanImage"),
    ),
    Rule(
        "lumina-attn",
        check_lumina_attn,
        ("trainer: lumina_models.py:323",),
        lambda: _("The attention switches of Lumina"),
    ),
)
