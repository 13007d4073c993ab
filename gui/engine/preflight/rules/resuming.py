"""Rules about the state that a plan goes on from: is it one, is it whole, does it fit the plan.

Source: STEP-08 to STEP-10; trainer-facts 2.3 (train_network.py:925-975, train_util.py:4777); accelerate
1.6, ``checkpointing.py`` 217-299.
"""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding
from gui.engine.preflight.file_facts import StateFact
from gui.engine.preflight.resume_outlook import resumed_state
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import leave_out, write
from gui.engine.preflight.rules.learning_rates import trains_text
from gui.engine.preflight.rules.networks import module_name
from gui.engine.preflight.rules.resume_fixes import from_weights, resume_finding
from gui.engine.preflight.view import View
from gui.engine.texts import _
from gui.engine.trainer.saved_state import SCHEDULE_FILE

DEFAULT_RANK = 4.0

CLASSES = {
    "sgdnesterov": "sgd",
    "sgdnesterov8bit": "sgd8bit",
    "dadaptation": "dadaptadampreprint",
}
"""Optimizers whose class has another name than ``optimizer_type`` (train_util.py:4881-5104)."""

MOVES_WEIGHTS = ("blocks_to_swap", "cpu_offload_checkpointing", "split_mode")
"""What leaves parts of the model on the CPU, where loading a state was seen to fail (STEP-09)."""


def check_resume_path(view: View) -> Iterator[Finding]:
    """A state is the folder that was saved with the optimizer in it (STEP-10)."""
    state = resumed_state(view)
    if state is None or state.has_optimizer:
        return
    yield resume_finding(
        "resume-path",
        "stop",
        _("{path} is no saved state: it holds no optimizer.").format(path=state.path),
        _("A state is a folder in output_dir such as mira-000010-state, and no folder of logs."),
        (*from_weights(view, state), leave_out("resume")),
        "S7",
        "STEP-10",
        "trainer: train_util.py:4777, 5942",
    )


def check_resume_parts(view: View) -> Iterator[Finding]:
    """A state that lacks a file cannot be loaded; a full disk or a stop amid the saving leaves such (S7)."""
    state = resumed_state(view)
    if state is None or not state.has_optimizer:
        return
    scheduled = not view.optimizer.endswith("schedulefree")
    lacks = [name for name in state.lacks if name != SCHEDULE_FILE or scheduled]
    if not lacks:
        return
    yield resume_finding(
        "resume-parts",
        "stop",
        _("The saved state is incomplete: {names} is missing or cut short.").format(names=", ".join(lacks)),
        _("Perhaps it was being written when the disk was full or the training ended. Take an earlier one."),
        (*from_weights(view, state), leave_out("resume")),
        "S7",
        "trainer: train_util.py:4777",
    )


def check_resume_finite(view: View) -> Iterator[Finding]:
    """The trainer saves states of ruined weights as well, and goes on from them (N2, S7)."""
    state = resumed_state(view)
    if state is None or state.finite is not False:
        return
    yield resume_finding(
        "resume-finite",
        "stop",
        _("The saved state is ruined: its weights hold NaN or Inf."),
        _("Its optimizer holds them too, and no setting mends that. Take a state from before."),
        (leave_out("resume"),),
        "N2",
        "S7",
        "trainer: train_util.py:5942",
    )


def check_resume_random(view: View) -> Iterator[Finding]:
    """Random numbers that do not go on change nothing but which noise meets which image (S7)."""
    state = resumed_state(view)
    if state is None or not state.has_optimizer or state.has_random or state.lacks:
        return
    yield resume_finding(
        "resume-random",
        "hint",
        _("The saved state holds no random numbers: noise and the order of images will be others."),
        _("That is harmless; only the same training twice cannot be had with it."),
        (),
        "S7",
        "trainer: train_util.py:4777",
    )


def check_resume_match(view: View) -> Iterator[Finding]:
    """A state fits only the network and the optimizer that it was saved with (STEP-08)."""
    state = resumed_state(view)
    if state is None or not view.trains_network:
        return
    differs = list(_differences(view, state))
    if not differs:
        return
    changes = {name: value for _said, fix in differs for name, value in fix.items()}
    back = (write(changes, _("take what the state was saved with"), identity="as-saved"),) if changes else ()
    yield resume_finding(
        "resume-match",
        "stop",
        _("The state was saved by other settings: {differences}").format(
            differences="; ".join(said for said, _fix in differs)
        ),
        _("Its weights or its optimizer’s groups do not fit, and the trainer stops after caching."),
        (*back, *from_weights(view, state), *(() if back else (leave_out("resume"),))),
        "S7",
        "STEP-08",
        "trainer: train_network.py:925-975",
    )


def _differences(view: View, state: StateFact) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield what differs, in words, and the arguments that would make it the same."""
    module = module_name(view)
    if state.module is not None and module and state.module != module:
        yield (
            _("network module {saved}, not {planned}").format(saved=state.module, planned=module),
            {"network_module": state.module},
        )
    rank = view.number("network_dim") or DEFAULT_RANK
    if state.rank is not None and state.rank != rank and not view.pairs("network_args"):
        yield (
            _("rank {saved}, not {planned:g}").format(saved=state.rank, planned=rank),
            {"network_dim": state.rank},
        )
    text = trains_text(view)
    if state.trains_text is not None and state.trains_text != text:
        yield (
            _("with text encoder") if state.trains_text else _("without text encoder"),
            {"network_train_unet_only": None if state.trains_text else True},
        )
    saved = (state.optimizer or "").partition("(")[0].rsplit(".", 1)[-1]
    planned = view.optimizer.rsplit(".", 1)[-1]
    if saved and saved.lower() != CLASSES.get(planned, planned):
        yield (
            _("optimizer {saved}, not {planned}").format(
                saved=saved, planned=view.text("optimizer_type") or view.optimizer
            ),
            {},
        )


def check_resume_device(view: View) -> Iterator[Finding]:
    """Loading a state beside swapped blocks was seen to fail (STEP-09)."""
    if not view.given("resume") or not view.is_transformer:
        return
    names = [name for name in MOVES_WEIGHTS if view.flag(name) or (view.number(name) or 0) > 0]
    if not names:
        return
    state = resumed_state(view)
    yield Finding(
        id="resume-device",
        severity="warning",
        title=_("Resuming was seen to fail beside {names}.").format(names=", ".join(names)),
        detail=_(
            "“Expected all tensors to be on the same device”: a part of the model waits on the CPU. "
            "Beginning anew with the saved weights works; the optimizer then starts afresh."
        ),
        arguments=("resume", *names),
        fixes=(
            *(from_weights(view, state) if state else ()),
            leave_out(*names, identity="no-swap"),
        ),
        sources=("STEP-09",),
    )


RULES: tuple[Rule, ...] = (
    Rule("resume-path", check_resume_path, ("STEP-10",), lambda: _("What is resumed is a state")),
    Rule("resume-parts", check_resume_parts, ("S7",), lambda: _("The state that is resumed is whole")),
    Rule("resume-finite", check_resume_finite, ("N2", "S7"), lambda: _("A state of ruined weights")),
    Rule("resume-random", check_resume_random, ("S7",), lambda: _("Random numbers of a state")),
    Rule("resume-match", check_resume_match, ("STEP-08",), lambda: _("A state of other settings")),
    Rule("resume-device", check_resume_device, ("STEP-09",), lambda: _("Resuming beside swapped blocks")),
)
