"""Rules about FLUX and Chroma: what Chroma needs, and defaults of the trainer that suit neither.

Source: trainer-facts 1.10, 2.1, section 3 (flux_train_network.py:54, flux_train_control_net.py:72,
flux_train.py:274, flux_train_utils.py:648-682, docs/flux_train_network.md:157-173, 216-225).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gui.engine.findings import Finding, Fix, Severity
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import leave_out, write
from gui.engine.preflight.view import View
from gui.engine.texts import _

RECOMMENDED: dict[str, Any] = {
    "guidance_scale": 1.0,
    "model_prediction_type": "raw",
    "timestep_sampling": "flux_shift",
}
"""What the trainer's guide says for FLUX, against its own defaults of 3.5, sigma_scaled and sigma."""


def is_chroma(view: View) -> bool:
    """Return whether the plan says that the model is Chroma."""
    return view.text("model_type") == "chroma"


def check_chroma(view: View) -> Iterator[Finding]:
    """Chroma needs its attention mask and no guidance, and only the LoRA script knows it."""
    if not is_chroma(view):
        return
    if view.script != "flux_train_network.py":
        yield _chroma(
            "stop",
            _("{script} cannot train Chroma.").format(script=view.script),
            _("The trainer refuses it, or builds FLUX in its place. LoRAs for Chroma work."),
            "model_type",
            (leave_out("model_type"),),
        )
        return
    if not view.flag("apply_t5_attn_mask"):
        yield _chroma(
            "stop",
            _("Chroma needs apply_t5_attn_mask."),
            _("The trainer checks it after reading the dataset, and stops."),
            "apply_t5_attn_mask",
            (write({"apply_t5_attn_mask": True}, _("mask the padding of T5"), identity="mask", safe=True),),
        )
    if view.number("guidance_scale") != 0:
        yield _chroma(
            "warning",
            _("Chroma is trained with a guidance_scale of 0."),
            _("It has no distilled guidance; the trainer’s default of 3.5 is for FLUX."),
            "guidance_scale",
            (write({"guidance_scale": 0.0}, _("set guidance_scale to 0"), identity="zero", safe=True),),
        )


def _chroma(severity: Severity, title: str, detail: str, argument: str, fixes: tuple[Fix, ...]) -> Finding:
    return Finding(
        id="chroma",
        severity=severity,
        title=title,
        detail=detail,
        arguments=(argument,),
        where=argument,
        fixes=fixes,
        sources=("trainer: flux_train_network.py:54, docs/flux_train_network.md:157-173",),
    )


def check_flux_defaults(view: View) -> Iterator[Finding]:
    """The trainer's own defaults do not suit FLUX (docs/flux_train_network.md:216-225)."""
    if not view.script.startswith("flux_train") or is_chroma(view):
        return
    missing = [name for name in RECOMMENDED if view.knows(name) and not view.given(name)]
    if not missing:
        return
    yield Finding(
        id="flux-defaults",
        severity="warning",
        title=_("The trainer’s defaults for {names} do not suit FLUX.").format(names=", ".join(missing)),
        detail=_(
            "They are there for experiments. The trainer’s guide takes guidance_scale 1.0, "
            "model_prediction_type raw, and timestep_sampling flux_shift or shift."
        ),
        arguments=tuple(missing),
        fixes=(
            write(
                {name: RECOMMENDED[name] for name in missing},
                _("take the guide’s values"),
                identity="guide",
                safe=True,
            ),
        ),
        sources=("trainer: flux_train_utils.py:648-682, docs/flux_train_network.md:216-225",),
    )


RULES: tuple[Rule, ...] = (
    Rule("chroma", check_chroma, ("trainer: flux_train_network.py:54",), lambda: _("What Chroma needs")),
    Rule(
        "flux-defaults",
        check_flux_defaults,
        ("trainer: flux_train_utils.py:648",),
        lambda: _("Defaults that do not suit FLUX"),
    ),
)
