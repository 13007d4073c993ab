"""Rules about networks: the right script and module, rank and alpha, and what single modules want.

Source: trainer-facts 1.2, 1.5, 1.14, 2.1, 2.8 (train_network.py:643-714, dylora.py:39, 196, oft.py:172, 336,
flux_train_network.py:194-196).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

from gui.engine.findings import Finding
from gui.engine.plan.network_modules import network_modules
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.caching import TEXT_CACHES, caches_text, without_text_cache
from gui.engine.preflight.rules.fixes import leave_out, write
from gui.engine.preflight.rules.precision import computes_in
from gui.engine.preflight.view import View, as_number
from gui.engine.texts import _

LORA_MARKS = (
    *("network_module", "network_dim", "network_alpha", "network_args", "network_weights"),
    *("network_train_unet_only", "unet_lr"),
)
"""Arguments that only LoRA scripts have; who gives them wants a LoRA."""

PACKAGES = {"lycoris": "lycoris-lora"}
"""First part of a foreign module's name, and the package that brings it."""

DEFAULT_RANK, DEFAULT_ALPHA = 4, 1
"""What the trainer takes without a word (lora.py:429-432)."""

GOOD_RANK = 16
"""The guides' conservative rank, with the same alpha (N17)."""

SMALL_RANK = 8
"""Up to here, with an alpha below it, LoRAs in fp16 were seen to give black images (CONF-20)."""

OFT_WIDTH = 3072
"""Of FLUX and Chroma: all layers that OFT takes hold a multiple of it (flux_models.py:388, 950)."""

NO_NORM_LIMIT = ("networks.dylora", "networks.oft", "networks.oft_flux")
"""Modules that cannot limit the norm of their weights (train_network.py:698)."""


def module_name(view: View) -> str:
    """Return the network module, empty for scripts that train no network."""
    return (view.text("network_module") or "") if view.trains_network else ""


def fitting_module(view: View) -> str:
    """Return the network module, or what it will be once it fits the model."""
    module, way = module_name(view), view.way
    if not module or way is None or not way.network_modules or module in way.network_modules:
        return module
    usual = way.network_modules[0]
    if module.startswith("networks."):
        near = difflib.get_close_matches(module, way.network_modules, n=1, cutoff=0.8)
        return near[0] if near and module not in network_modules() else usual
    prefixed = f"networks.{module}"
    return prefixed if prefixed in way.network_modules else module


def check_wrong_script(view: View) -> Iterator[Finding]:
    """A LoRA was meant, and a script that trains whole models chosen (OOM-04, CLI-02)."""
    if view.arguments is None or view.knows("network_module"):
        return
    wanted = (view.own or view.plan).arguments
    marks = [name for name in LORA_MARKS if wanted.get(name) and not view.knows(name)]
    if not marks:
        return
    kin = view.kin
    way = kin.kinds.get("lora") if kin is not None else None
    named = kin is not None and kin.name == view.plan.family and way is not None
    changes: dict[str, Any] = {"plan.kind": "lora", "plan.script": None}
    if not named:
        changes["plan.script"] = way.script if way else "train_network.py"
    if not wanted.get("network_module"):
        changes["network_module"] = way.network_modules[0] if way else "networks.lora"
    yield Finding(
        id="wrong-script",
        severity="stop",
        title=_("{script} trains a whole model, and the plan is for a LoRA.").format(script=view.script),
        detail=_(
            "{names} exist only in the scripts for LoRAs. A whole model takes several times the memory, "
            "and each save is gigabytes in place of megabytes."
        ).format(names=", ".join(marks)),
        arguments=("plan.kind", *marks),
        fixes=(
            write(changes, _("train a LoRA"), identity="lora", safe=True),
            leave_out(*marks),
        ),
        sources=("OOM-04", "CLI-02"),
    )


def check_netw_module(view: View) -> Iterator[Finding]:
    """The network module must fit the model (flux_train_network.py:194, sd3_train_network.py:170)."""
    module, meant = module_name(view), fitting_module(view)
    if meant == module:
        return
    if not module.startswith("networks."):
        title = _("The network module is called networks.{module}.")
    elif module in network_modules():
        title = _("The network module {module} is for another model family.")
    else:
        title = _("The trainer has no network module {module}.")
    yield Finding(
        id="netw-module",
        severity="stop",
        title=title.format(module=module),
        detail=_("The trainer loads and caches everything, and stops when it makes the network."),
        arguments=("network_module",),
        fixes=(
            write(
                {"network_module": meant}, _("use {module}").format(module=meant), identity="usual", safe=True
            ),
        ),
        sources=(*(view.way.sources if view.way else ()), "trainer: train_network.py:643"),
    )


def check_netw_pkg(view: View) -> Iterator[Finding]:
    """LyCORIS is a package of its own (ENV-13)."""
    module = module_name(view)
    package = PACKAGES.get(module.partition(".")[0])
    if package is None or view.package(package) is not False:
        return
    usual = view.way.network_modules[0] if view.way and view.way.network_modules else "networks.lora"
    yield Finding(
        id="netw-pkg",
        severity="stop",
        title=_("{module} needs the package {package}, which the trainer does not have.").format(
            module=module, package=package
        ),
        detail=_(
            "The trainer would stop after loading and caching. Install it there: pip install {package}"
        ).format(package=package),
        arguments=("network_module",),
        fixes=(
            write(
                {"network_module": usual, "network_args": None},
                _("use {module}").format(module=usual),
                identity="usual",
            ),
        ),
        sources=("ENV-13", "trainer: train_network.py:644"),
    )


def check_dim_explicit(view: View) -> Iterator[Finding]:
    """Rank and alpha belong into the plan; small ones in fp16 were seen to fail (CONF-20)."""
    if not module_name(view) or view.flag("dim_from_weights"):
        return
    missing = [name for name in ("network_dim", "network_alpha") if not view.given(name)]
    rank, alpha = view.number("network_dim"), view.number("network_alpha")
    small = rank is not None and alpha is not None and rank <= SMALL_RANK and alpha < rank
    if missing and module_name(view).startswith("networks.oft") and missing == ["network_alpha"]:
        return  # its alpha is another thing: see the rule about OFT
    if not missing and not (small and computes_in(view) == "fp16"):
        return
    both = "network_dim" in missing or not missing or rank is None
    changes: dict[str, Any] = {"network_alpha": GOOD_RANK if both else rank}
    if both:
        changes["network_dim"] = GOOD_RANK
    yield Finding(
        id="dim-explicit",
        severity="warning",
        title=(
            _("The plan does not say {names}.").format(names=", ".join(missing))
            if missing
            else _("A rank of {rank:g} with alpha {alpha:g} in fp16 was seen to give black images.").format(
                rank=rank, alpha=alpha
            )
        ),
        detail=(
            _("The trainer takes rank {rank} and alpha {alpha} without a word: small, and weak.").format(
                rank=DEFAULT_RANK, alpha=DEFAULT_ALPHA
            )
            if missing
            else _("The weights become so small that fp16 cannot hold them.")
        ),
        arguments=("network_dim", "network_alpha"),
        fixes=(
            write(
                changes,
                _("take {values}").format(values=", ".join(f"{n} {v:g}" for n, v in sorted(changes.items()))),
                identity="explicit",
            ),
        ),
        sources=("CONF-20", "N17", "trainer: lora.py:429-432"),
    )


def check_dylora(view: View) -> Iterator[Finding]:
    """DyLoRA: one rank for all, a multiple of its unit (dylora.py:39, 196)."""
    if module_name(view) != "networks.dylora":
        return
    pairs = view.pairs("network_args")
    rank = int(view.number("network_dim") or DEFAULT_RANK)
    conv, unit = as_number(pairs.get("conv_dim")), as_number(pairs.get("unit"))
    others = [word for word in view.words("network_args") if not word.startswith(("conv_dim=", "unit="))]
    if conv is not None and conv != rank:
        title = _("DyLoRA needs conv_dim {conv:g} to be network_dim {rank}.").format(conv=conv, rank=rank)
        kept = [word for word in view.words("network_args") if word.startswith("unit=")]
        meant = [*others, *kept, f"conv_dim={rank}"]
    elif unit is not None and (unit < 1 or rank % int(unit)):
        title = _("DyLoRA’s rank {rank} is no multiple of its unit {unit:g}.").format(rank=rank, unit=unit)
        kept = [word for word in view.words("network_args") if word.startswith("conv_dim=")]
        meant = [*others, *kept]
    else:
        return
    yield Finding(
        id="dylora",
        severity="stop",
        title=title,
        detail=_("The trainer stops when it makes the network, after loading and caching."),
        arguments=("network_args", "network_dim"),
        fixes=(
            write(
                {"network_args": meant or None},
                _("write network_args {words}").format(words=" ".join(meant)) if meant else _("use no unit"),
                safe=True,
            ),
        ),
        sources=("trainer: dylora.py:39, 196",),
    )


def check_oft_rank(view: View) -> Iterator[Finding]:
    """OFT parts the width of each layer of FLUX by the rank (oft_flux.py:63)."""
    rank = int(view.number("network_dim") or DEFAULT_RANK)
    if module_name(view) != "networks.oft_flux" or (rank > 0 and OFT_WIDTH % rank == 0):
        return
    fitting = next(near for near in range(min(max(rank, 1), OFT_WIDTH), 0, -1) if OFT_WIDTH % near == 0)
    yield Finding(
        id="oft-rank",
        severity="stop",
        title=_("OFT cannot part FLUX’s layers by a network_dim of {rank}.").format(rank=rank),
        detail=_(
            "It must divide {width}. The trainer stops when it makes the network, after loading and caching."
        ).format(width=OFT_WIDTH),
        arguments=("network_dim", "network_module"),
        fixes=(
            write(
                {"network_dim": fitting},
                _("set network_dim to {rank}").format(rank=fitting),
                identity="fitting",
                safe=True,
            ),
        ),
        sources=("trainer: oft_flux.py:63",),
    )


def check_oft(view: View) -> Iterator[Finding]:
    """OFT: a tiny alpha, and never the text encoder alone (oft.py:172, 336)."""
    if not module_name(view).startswith("networks.oft"):
        return
    if view.flag("network_train_text_encoder_only"):
        yield Finding(
            id="oft",
            severity="stop",
            title=_("OFT cannot train the text encoder alone."),
            detail=_("The trainer stops when it makes the network, after loading and caching."),
            arguments=("network_train_text_encoder_only", "network_module"),
            where="network_train_text_encoder_only",
            fixes=(leave_out("network_train_text_encoder_only", safe=True),),
            sources=("trainer: oft.py:336, oft_flux.py:359",),
        )
    alpha = view.number("network_alpha")
    if alpha is not None and alpha >= 1:
        yield Finding(
            id="oft",
            severity="warning",
            title=_("OFT wants a network_alpha of about 0.001, not {alpha:g}.").format(alpha=alpha),
            detail=_("It limits how far the weights may turn; 1 is no limit. The trainer only warns."),
            arguments=("network_alpha",),
            where="network_alpha",
            fixes=(write({"network_alpha": 1e-3}, _("set network_alpha to 0.001"), safe=True),),
            sources=("trainer: oft.py:172",),
        )


def check_norm_limit(view: View) -> Iterator[Finding]:
    """Some modules cannot limit the norm of their weights (train_network.py:698)."""
    if module_name(view) not in NO_NORM_LIMIT or not view.given("scale_weight_norms"):
        return
    yield Finding(
        id="norm-limit",
        severity="hint",
        title=_("scale_weight_norms does nothing with {module}.").format(module=module_name(view)),
        detail=_("The trainer warns and goes on without it."),
        arguments=("scale_weight_norms", "network_module"),
        fixes=(leave_out("scale_weight_norms", safe=True),),
        sources=("trainer: train_network.py:698",),
    )


def check_t5_lora(view: View) -> Iterator[Finding]:
    """A LoRA for T5 needs T5's outputs to be made anew (flux_train_network.py:196)."""
    words = view.words("network_args")
    if "train_t5xxl=True" not in words or not caches_text(view) or not view.trains_network:
        return
    kept = [word for word in words if word != "train_t5xxl=True"]
    yield Finding(
        id="t5-lora",
        severity="stop",
        title=_("T5 cannot be trained while its outputs are cached."),
        detail=_("The trainer stops when it makes the network, after loading and caching."),
        arguments=("network_args", *filter(view.given, TEXT_CACHES)),
        fixes=(
            write({"network_args": kept or None}, _("do not train T5"), identity="no-t5", safe=True),
            without_text_cache(view),
        ),
        sources=("trainer: flux_train_network.py:196, sd3_train_network.py:172",),
    )


def check_netw(view: View) -> Iterator[Finding]:
    """Weights to begin with must have the network's own rank (CONF-21, train_network.py:671)."""
    if not view.trains_network:
        return
    begins, by_file = view.given("network_weights"), view.flag("dim_from_weights")
    if by_file and not begins:
        yield Finding(
            id="netw",
            severity="stop",
            title=_("dim_from_weights needs network_weights."),
            detail=_("The rank is to come from a file, and none is named. The trainer stops after caching."),
            arguments=("dim_from_weights", "network_weights"),
            fixes=(leave_out("dim_from_weights"),),
            sources=("CONF-21", "trainer: train_network.py:671"),
        )
    elif begins and not by_file:
        yield Finding(
            id="netw",
            severity="hint" if view.given("network_dim") else "warning",
            title=_("The file in network_weights must have the rank of this network."),
            detail=_("Another rank or kind of network fails when its weights are loaded."),
            arguments=("network_weights", "network_dim"),
            fixes=(
                write({"dim_from_weights": True}, _("take rank and alpha from the file"), identity="by-file"),
            ),
            sources=("CONF-21", "trainer: train_network.py:671-714"),
        )


RULES: tuple[Rule, ...] = (
    Rule(
        "wrong-script",
        check_wrong_script,
        ("OOM-04", "CLI-02"),
        lambda: _("A LoRA with a script for whole models"),
    ),
    Rule("netw-module", check_netw_module, ("CONF-14",), lambda: _("The network module fits the model")),
    Rule("netw-pkg", check_netw_pkg, ("ENV-13",), lambda: _("The network module’s package is installed")),
    Rule("dim-explicit", check_dim_explicit, ("CONF-20",), lambda: _("Rank and alpha are given")),
    Rule("dylora", check_dylora, ("trainer: dylora.py:39",), lambda: _("What DyLoRA asserts")),
    Rule("oft", check_oft, ("trainer: oft.py:172",), lambda: _("What OFT wants")),
    Rule("oft-rank", check_oft_rank, ("trainer: oft_flux.py:63",), lambda: _("The rank of OFT for FLUX")),
    Rule("norm-limit", check_norm_limit, ("trainer: train_network.py:698",), lambda: _("Limits of norms")),
    Rule(
        "t5-lora", check_t5_lora, ("trainer: flux_train_network.py:196",), lambda: _("A LoRA for a cached T5")
    ),
    Rule("netw", check_netw, ("CONF-21",), lambda: _("Weights that the network begins with")),
)
