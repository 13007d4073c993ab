"""Rules about the trainer's Python and packages: too old, too new, or not for this machine.

Source: ENV-05, ENV-06, ENV-09, ENV-11, ENV-19, MODEL-12, T17.
"""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding, Fix
from gui.engine.preflight.limits import machine_limits, version_of
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.rules.trainers import (
    BITSANDBYTES,
    package_of_optimizer,
    package_version,
    plain_optimizers,
    real_trainer,
    uses_bitsandbytes,
)
from gui.engine.preflight.view import View
from gui.engine.texts import _

LEADING = frozenset({"accelerate", "diffusers", "transformers", "huggingface-hub", "safetensors"})
"""Packages whose other versions have broken trainings."""

NAMED_PACKAGES = 5

T5_SCRIPTS = ("flux_", "sd3_")
FP8 = "F8_"
TEXT_CHANGES = ("shuffle_caption", "caption_dropout_rate", "caption_tag_dropout_rate", "token_warmup_step")
"""What cannot be used with cached text encoder outputs (train_util.py:1102)."""


def check_py(view: View) -> Iterator[Finding]:
    """The trainer was made for some versions of Python (ENV-11)."""
    trainer, limits = real_trainer(view), machine_limits().python
    version = version_of(trainer.python) if trainer else None
    if trainer is None or version is None:
        return
    old = version < (version_of(limits.oldest) or ())
    if not old and version[:2] <= (version_of(limits.newest) or ()):
        return
    yield Finding(
        id="py",
        severity="danger" if old else "hint",
        title=_("The trainer runs on Python {version}.").format(version=trainer.python),
        detail=(
            _("It was made for Python {oldest} and newer; make its environment anew with one of them.")
            if old
            else _("It is known to work with Python {oldest} to {newest}; a newer one may do as well.")
        ).format(oldest=limits.oldest, newest=limits.newest),
        arguments=("plan.trainer",),
        sources=("ENV-11", "trainer: README.md:129-134"),
    )


def check_old_torch(view: View) -> Iterator[Finding]:
    """A torch before 2.0 is slow and lacks the attention that is fast (T17)."""
    trainer, oldest = real_trainer(view), machine_limits().torch.oldest
    version = version_of(trainer.torch) if trainer else None
    if trainer is None or version is None or version >= (version_of(oldest) or ()):
        return
    yield Finding(
        id="torch-old",
        severity="warning",
        title=_("The trainer has torch {version}.").format(version=trainer.torch),
        detail=_("From {oldest} on it is faster, and has sdpa. Make the trainer’s environment anew.").format(
            oldest=oldest
        ),
        arguments=("plan.trainer",),
        sources=("T17",),
    )


def check_pins(view: View) -> Iterator[Finding]:
    """Other versions than the trainer's requirements ask for may break it (ENV-19)."""
    trainer = real_trainer(view)
    others = {
        name: (wanted, has)
        for name, wanted in (trainer.pins.items() if trainer else ())
        if (has := (trainer.packages or {}).get(name) if trainer else None) and not _same(wanted, has)
    }
    if not others:
        return
    far = any(
        name in LEADING and _generation(wanted) != _generation(has) for name, (wanted, has) in others.items()
    )
    named = [
        _("{name} {has} instead of {wanted}").format(name=name, has=has, wanted=wanted)
        for name, (wanted, has) in list(others.items())[:NAMED_PACKAGES]
    ]
    yield Finding(
        id="pins",
        severity="warning" if far else "hint",
        title=_("The trainer’s environment has other versions of packages than the trainer asks for."),
        detail=_(
            "{packages}. If the trainer fails strangely, run in its folder: pip install -r requirements.txt"
        ).format(packages="; ".join(named)),
        arguments=("plan.trainer",),
        sources=("ENV-19",),
    )


def _same(wanted: str, has: str) -> bool:
    """Compare without what stands behind ``+``, and without zeros at the end."""

    def key(text: str) -> str:
        parts = text.partition("+")[0].split(".")
        while len(parts) > 1 and parts[-1] == "0":
            parts.pop()
        return ".".join(parts)

    return key(wanted) == key(has)


def _generation(text: str) -> tuple[int, ...]:
    """Return the part of a version that tells whether it may break others: 4, or 0.34."""
    numbers = version_of(text) or (0,)
    return numbers[:1] if numbers[0] else numbers[:2]


def check_bnb(view: View) -> Iterator[Finding]:
    """A bitsandbytes that does not work ends the training after loading and caching (ENV-05)."""
    limits, trainer = machine_limits().bitsandbytes, real_trainer(view)
    version = package_version(view, BITSANDBYTES)
    if trainer is None or not uses_bitsandbytes(view):
        return
    reason = trainer.unusable.get(BITSANDBYTES)
    windows = view.facts.os == "windows" and version is not None
    old = windows and (version or ()) < (version_of(limits.windows) or ())
    if not old and reason is None:
        return
    yield Finding(
        id="bnb",
        severity="danger" if reason is None else "stop",
        title=(
            _("bitsandbytes {version} has no CUDA library for Windows.").format(
                version=(trainer.packages or {}).get(BITSANDBYTES)
            )
            if reason is None
            else _("bitsandbytes is installed, and does not work: {reason}").format(reason=reason)
        ),
        detail=_(
            "The trainer stops after loading and caching. Install a newer one into its environment ({newer} "
            "or newer on Windows): pip install -U bitsandbytes"
        ).format(newer=limits.windows),
        arguments=("optimizer_type", "plan.trainer"),
        fixes=plain_optimizers(view),
        sources=("ENV-05", "trainer: train_util.py:4881-4990"),
    )


def check_pkg_broken(view: View) -> Iterator[Finding]:
    """A package that cannot be imported ends the training after loading and caching (ENV-13)."""
    trainer = real_trainer(view)
    for package, (argument, fix) in _needed(view).items() if trainer else ():
        reason = trainer.unusable.get(package) if trainer else None
        if reason is None:
            continue
        yield Finding(
            id="pkg-broken",
            severity="stop",
            title=_("{package} is installed, and does not work: {reason}").format(
                package=package, reason=reason
            ),
            detail=_(
                "The trainer stops when it needs it, after loading and caching. Install it again in its "
                "environment: pip install --force-reinstall --no-deps {package}"
            ).format(package=package),
            arguments=(argument, "plan.trainer"),
            where=package,
            fixes=(fix,),
            sources=("ENV-13", "trainer: train_util.py:4881-5104, train_network.py:644"),
        )


def _needed(view: View) -> dict[str, tuple[str, Fix]]:
    """Return the packages that the plan needs: each with the argument that asks for it, and a way out."""
    needed: dict[str, tuple[str, Fix]] = {}
    optimizer = package_of_optimizer(view)
    if optimizer is not None and optimizer != BITSANDBYTES:
        needed[optimizer] = ("optimizer_type", plain_optimizers(view)[0].model_copy(update={"safe": False}))
    if (view.text("network_module") or "").startswith("lycoris."):
        usual = {"network_module": "networks.lora", "network_args": None}
        needed["lycoris-lora"] = ("network_module", write(usual, _("use networks.lora"), identity="usual"))
    if view.flag("xformers") and not view.is_transformer:
        sdpa = {"xformers": None, "sdpa": True}
        needed["xformers"] = (
            "xformers",
            write(sdpa, _("use PyTorch’s attention"), identity="sdpa", safe=True),
        )
    return needed


def check_bnb_old_gpu(view: View) -> Iterator[Finding]:
    """Kernels for old GPUs are missing in many builds of bitsandbytes (ENV-06)."""
    least = version_of(machine_limits().bitsandbytes.capability) or ()
    old = next((gpu for gpu in view.gpus if gpu.capability and gpu.capability < least), None)
    if old is None or not uses_bitsandbytes(view):
        return
    yield Finding(
        id="bnb-oldgpu",
        severity="warning",
        title=_("8-bit optimizers have failed on GPUs as old as {gpu}.").format(
            gpu=old.name or _("this one")
        ),
        detail=_(
            "“no kernel image is available for execution on the device”, after loading and caching: many "
            "builds of bitsandbytes leave out compute capability {capability}."
        ).format(capability=old.compute_capability),
        arguments=("optimizer_type",),
        fixes=tuple(fix.model_copy(update={"safe": False}) for fix in plain_optimizers(view)),
        sources=("ENV-06",),
    )


def check_xformers_gpu(view: View) -> Iterator[Finding]:
    """The kernels of xformers fail on the newest GPUs (ENV-09)."""
    least = version_of(machine_limits().xformers.capability) or ()
    new = next((gpu for gpu in view.gpus if gpu.capability and gpu.capability >= least), None)
    if new is None or not view.flag("xformers") or view.flag("mem_eff_attn") or view.is_transformer:
        return
    yield Finding(
        id="xformers-gpu",
        severity="warning",
        title=_("xformers has failed on {gpu}.").format(gpu=new.name or _("this GPU")),
        detail=_("“CUDA error: invalid argument” in its attention. PyTorch’s own is as fast."),
        arguments=("xformers", "sdpa"),
        fixes=(
            write({"xformers": None, "sdpa": True}, _("use PyTorch’s attention"), identity="sdpa", safe=True),
        ),
        sources=("ENV-09",),
    )


def check_t5_fp8(view: View) -> Iterator[Finding]:
    """Older trainers cannot look words up in a T5 in fp8 (MODEL-12)."""
    trainer, limits = real_trainer(view), machine_limits().t5_fp8
    version = version_of(trainer.version) if trainer else None
    fact = view.model("t5xxl")
    if fact is None or version is None or not view.script.startswith(T5_SCRIPTS):
        return
    caches = view.flag("cache_text_encoder_outputs") or view.flag("cache_text_encoder_outputs_to_disk")
    if not (fact.dtype or "").startswith(FP8) or caches or version >= (version_of(limits.mended) or ()):
        return
    changing = any(subset.value(name) for subset in view.subsets for name in TEXT_CHANGES)
    yield Finding(
        id="t5-fp8",
        severity="danger",
        title=_("Trainers before {version} cannot use a T5 in fp8 that is not cached.").format(
            version=limits.mended
        ),
        detail=_("“index_select_cuda not implemented for Float8”, after everything is loaded."),
        arguments=("cache_text_encoder_outputs", "t5xxl"),
        fixes=()
        if changing
        else (
            write({"cache_text_encoder_outputs": True}, _("cache its outputs"), identity="cache", safe=True),
        ),
        sources=("MODEL-12",),
    )


RULES: tuple[Rule, ...] = (
    Rule("py", check_py, ("ENV-11",), lambda: _("The trainer’s Python")),
    Rule("torch-old", check_old_torch, ("T17",), lambda: _("The trainer’s torch")),
    Rule("pins", check_pins, ("ENV-19",), lambda: _("The trainer’s packages are those that it asks for")),
    Rule("bnb", check_bnb, ("ENV-05",), lambda: _("bitsandbytes works")),
    Rule("pkg-broken", check_pkg_broken, ("ENV-13",), lambda: _("Packages that are installed work")),
    Rule("bnb-oldgpu", check_bnb_old_gpu, ("ENV-06",), lambda: _("8-bit optimizers on old GPUs")),
    Rule("xformers-gpu", check_xformers_gpu, ("ENV-09",), lambda: _("xformers on the newest GPUs")),
    Rule("t5-fp8", check_t5_fp8, ("MODEL-12",), lambda: _("A T5 in fp8 with older trainers")),
)
