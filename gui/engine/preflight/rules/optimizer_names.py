"""Rules about the names of optimizers: which exist, and what must be installed for them.

Source: trainer-facts 1.9 and section 4 (train_util.py:4881-5134).
"""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding, Fix
from gui.engine.preflight.limits import version_of
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.view import View
from gui.engine.texts import _

PACKAGES: dict[str, str] = {
    "lion": "lion-pytorch",
    "prodigy": "prodigyopt",
    "adamwschedulefree": "schedulefree",
    "sgdschedulefree": "schedulefree",
    "radamschedulefree": "schedulefree",
    "dadaptation": "dadaptation",
    "dadaptadampreprint": "dadaptation",
    "dadaptadagrad": "dadaptation",
    "dadaptadam": "dadaptation",
    "dadaptadan": "dadaptation",
    "dadaptadanip": "dadaptation",
    "dadaptlion": "dadaptation",
    "dadaptsgd": "dadaptation",
    **dict.fromkeys(
        (
            "adamw8bit",
            "lion8bit",
            "sgdnesterov8bit",
            "pagedadamw8bit",
            "pagedlion8bit",
            "pagedadamw",
            "pagedadamw32bit",
        ),
        "bitsandbytes",
    ),
}
"""Built-in optimizer names in lower case and the package that each needs (train_util.py:4881-5104)."""

BY_MODULE: dict[str, str] = {
    "bitsandbytes": "bitsandbytes",
    "prodigyplus": "prodigy-plus-schedule-free",
    "pytorch_optimizer": "pytorch-optimizer",
    "schedulefree": "schedulefree",
    "lion_pytorch": "lion-pytorch",
    "dadaptation": "dadaptation",
    "prodigyopt": "prodigyopt",
    "came_pytorch": "came-pytorch",
    "LoraEasyCustomOptimizer": "LoraEasyCustomOptimizer",
}
"""First part of a dotted optimizer name to its package."""

BUILT_IN = frozenset(PACKAGES) | {"adamw", "adafactor", "sgdnesterov"}

TORCH_OPTIMIZERS = frozenset(
    {"ASGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop", "SGD"}
)
"""Names that ``torch.optim`` has in all versions; matched with their case (train_util.py:5121)."""

LATER_OPTIMIZERS = frozenset({"Adafactor", "LBFGS", "Muon", "SparseAdam"})
"""What it has besides: in newer versions, or for other kinds of training."""

TORCH_KNOWN = (2, 14)
"""Of torch up to this version the names are known."""


def check_opt_pkg(view: View) -> Iterator[Finding]:
    """The optimizer's package must be in the trainer's environment (ENV-13)."""
    name = view.text("optimizer_type") or ""
    module = name.split(".", 1)[0] if "." in name else ""
    package = PACKAGES.get(view.optimizer) or BY_MODULE.get(module)
    if package is None or view.package(package) is not False:
        return
    yield Finding(
        id="opt-pkg",
        severity="stop",
        title=_("{optimizer} needs the package {package}, which the trainer does not have.").format(
            optimizer=name or view.optimizer, package=package
        ),
        detail=_(
            "The trainer would stop after loading and caching. Install it there: pip install {package}"
        ).format(package=package),
        arguments=("optimizer_type",),
        fixes=(
            Fix(
                id="use-adamw",
                label=_("use AdamW (more memory)"),
                changes={
                    "optimizer_type": "AdamW",
                    "optimizer_args": None,
                    "use_8bit_adam": None,
                    "use_lion_optimizer": None,
                },
                safe=package == "bitsandbytes" and not view.words("optimizer_args"),
            ),
        ),
        sources=("ENV-13", "trainer: train_util.py:4881-5104"),
    )


def check_opt_module(view: View) -> Iterator[Finding]:
    """A name with dots is imported from a module, which must be there (train_util.py:5128)."""
    name = view.text("optimizer_type") or ""
    module = name.partition(".")[0]
    if "." not in name or module in BY_MODULE or view.module(name) is not False:
        return
    yield Finding(
        id="opt-module",
        severity="stop",
        title=_("{name}: the trainer has no module {module}.").format(name=name, module=module),
        detail=_(
            "What stands before the dots is imported from the trainer’s environment; the trainer would stop "
            "after loading and caching."
        ),
        arguments=("optimizer_type",),
        fixes=(
            Fix(
                id="use-adamw",
                label=_("use AdamW"),
                changes={"optimizer_type": "AdamW", "optimizer_args": None},
                safe=False,
            ),
        ),
        sources=("ENV-13", "trainer: train_util.py:5121-5134"),
    )


def check_optimizer_name(view: View) -> Iterator[Finding]:
    """A bare unknown name is looked up in torch.optim, with its case (train_util.py:5121)."""
    name = view.text("optimizer_type")
    if name is None or "." in name or name.lower() in BUILT_IN or name in TORCH_OPTIMIZERS:
        return
    right = next((known for known in TORCH_OPTIMIZERS if known.lower() == name.lower()), None)
    version = version_of(view.facts.trainer.torch if view.facts.trainer else None)
    absent = version is not None and version[:2] <= TORCH_KNOWN and name not in LATER_OPTIMIZERS
    refused = right is not None or absent or name.lower().startswith("dadapt")
    fixes = (
        (
            Fix(
                id="case",
                label=_("write {name}").format(name=right),
                changes={"optimizer_type": right},
                safe=True,
            ),
        )
        if right
        else (
            Fix(
                id="use-adamw",
                label=_("use AdamW"),
                changes={"optimizer_type": "AdamW", "optimizer_args": None},
                safe=False,
            ),
        )
    )
    yield Finding(
        id="optimizer-name",
        severity="stop" if refused else "danger",
        title=_("The trainer has no optimizer called {name}.").format(name=name),
        detail=_(
            "It looks for the name in torch.optim, letter by letter, and stops when it is not there. "
            "Optimizers of other packages are named with the package: bitsandbytes.optim.AdEMAMix8bit."
        ),
        arguments=("optimizer_type",),
        fixes=fixes,
        sources=("trainer: train_util.py:5032, 5121-5134",),
    )


RULES: tuple[Rule, ...] = (
    Rule("opt-pkg", check_opt_pkg, ("ENV-13",), lambda: _("The optimizer's package is installed")),
    Rule("opt-module", check_opt_module, ("ENV-13",), lambda: _("The optimizer’s module can be imported")),
    Rule(
        "optimizer-name",
        check_optimizer_name,
        ("trainer: train_util.py:5121",),
        lambda: _("The optimizer's name exists"),
    ),
)
