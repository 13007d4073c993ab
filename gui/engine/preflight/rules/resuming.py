"""Rules about going on from a saved state, as far as its folder and the plan tell.

Source: STEP-07 to STEP-11; trainer-facts 2.3 (train_network.py:925-975, 1230-1275, train_util.py:4777).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from gui.engine.findings import Finding, Fix, Severity
from gui.engine.preflight.file_facts import StateFact
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import leave_out, write
from gui.engine.preflight.rules.learning_rates import trains_text
from gui.engine.preflight.rules.networks import module_name
from gui.engine.preflight.steps import forecast_steps
from gui.engine.preflight.view import View
from gui.engine.texts import _

DEFAULT_RANK = 4.0

CLASSES = {
    "sgdnesterov": "sgd",
    "sgdnesterov8bit": "sgd8bit",
    "dadaptation": "dadaptadampreprint",
}
"""Optimizers whose class has another name than ``optimizer_type`` (train_util.py:4881-5104)."""

MOVES_WEIGHTS = ("blocks_to_swap", "cpu_offload_checkpointing", "split_mode")
"""What leaves parts of the model on the CPU, where loading a state was seen to fail (STEP-09)."""


def _state(view: View) -> StateFact | None:
    """Return the state that the plan goes on from, where it is known."""
    state = view.facts.state
    if state is None or view.text("resume") != state.path or view.flag("resume_from_huggingface"):
        return None
    return state


def _weights_only(view: View, state: StateFact) -> tuple[Fix, ...]:
    """Return the fix that begins anew with the network's weights, where the file beside is known."""
    if state.network is None or not view.trains_network:
        return ()
    return (
        write(
            {"resume": None, "network_weights": state.network, "dim_from_weights": True},
            _("begin anew with the weights of {file}").format(file=PurePath(state.network).name),
            identity="weights",
        ),
    )


def _finding(
    identity: str, severity: Severity, title: str, detail: str, fixes: tuple[Fix, ...], *sources: str
) -> Finding:
    return Finding(
        id=identity,
        severity=severity,
        title=title,
        detail=detail,
        arguments=("resume",),
        fixes=fixes,
        sources=sources,
    )


def check_resume_path(view: View) -> Iterator[Finding]:
    """A state is the folder that was saved with the optimizer in it (STEP-10)."""
    state = _state(view)
    if state is None or state.has_optimizer:
        return
    yield _finding(
        "resume-path",
        "stop",
        _("{path} is no saved state: it holds no optimizer.").format(path=state.path),
        _("A state is a folder in output_dir such as mira-000010-state, and no folder of logs."),
        (leave_out("resume"),),
        "S7",
        "STEP-10",
        "trainer: train_util.py:4777, 5942",
    )


def check_resume(view: View) -> Iterator[Finding]:
    """The trainer's own count of steps begins anew after resuming (STEP-07)."""
    if not view.given("resume"):
        return
    if not view.trains_network:
        yield _finding(
            "resume",
            "warning",
            _("{script} counts steps and epochs from 0 again after resuming.").format(script=view.script),
            _("Weights and optimizer are restored. Files of the earlier run get overwritten by new ones."),
            (),
            "STEP-07",
            "trainer: train_network.py:1257-1275",
        )
    elif not view.flag("skip_until_initial_step"):
        yield _finding(
            "resume",
            "warning",
            _("After resuming the trainer counts steps from 0 and trains the remaining epochs."),
            _(
                "Files named by step may overwrite earlier ones. With skip_until_initial_step it reads and "
                "drops what was trained before; numbers within the epoch are right then."
            ),
            (write({"skip_until_initial_step": True}, _("skip what was trained before"), identity="skip"),),
            "S7",
            "STEP-07",
            "trainer: train_network.py:1257-1275, 1346, 1401",
        )


def _position(view: View, state: StateFact) -> int | None:
    """Return the optimizer step that a state was saved at, by what it says, else by its name."""
    if state.step is not None:
        return state.step
    if state.counts == "steps":
        return state.step_in_name
    forecast = forecast_steps(view)
    if state.step_in_name is None or forecast is None:
        return None
    return state.step_in_name * forecast.steps_per_epoch


def check_resume_done(view: View) -> Iterator[Finding]:
    """A state of a run that was complete leaves nothing to train (STEP-07, STEP-11)."""
    state = _state(view)
    if state is None:
        return
    at, forecast = _position(view, state), forecast_steps(view)
    by_epochs = view.given("max_train_epochs")
    whole = forecast.total_steps if forecast else None if by_epochs else view.number("max_train_steps")
    if at is None or whole is None or at < whole:
        return
    refused = view.trains_network and state.step is not None
    more = _longer(view, at, forecast.steps_per_epoch if forecast else None)
    yield _finding(
        "resume-done",
        "stop" if refused else "warning",
        _("The state was saved at step {step}; the plan ends at {whole:g}.").format(step=at, whole=whole),
        (
            _("The trainer refuses it: “max_train_steps should be greater than initial step”.")
            if refused
            else _("The schedule is at its end, and the learning rate may be 0: nothing is learnt any more.")
        ),
        (*more, leave_out("resume")),
        "STEP-07",
        "STEP-11",
        "trainer: train_network.py:1252",
    )


def _longer(view: View, at: int, steps_per_epoch: int | None) -> tuple[Fix, ...]:
    if not view.given("max_train_epochs"):
        return (
            write(
                {"max_train_steps": at * 2}, _("train {steps} steps").format(steps=at * 2), identity="longer"
            ),
        )
    if not steps_per_epoch:
        return ()
    epochs = at // steps_per_epoch * 2 + 1
    return (
        write(
            {"max_train_epochs": epochs}, _("train {epochs} epochs").format(epochs=epochs), identity="longer"
        ),
    )


def check_resume_match(view: View) -> Iterator[Finding]:
    """A state fits only the network and the optimizer that it was saved with (STEP-08)."""
    state = _state(view)
    if state is None or not view.trains_network:
        return
    differs = list(_differences(view, state))
    if not differs:
        return
    changes = {name: value for _said, fix in differs for name, value in fix.items()}
    back = (write(changes, _("take what the state was saved with"), identity="as-saved"),) if changes else ()
    yield _finding(
        "resume-match",
        "stop",
        _("The state was saved by other settings: {differences}").format(
            differences="; ".join(said for said, _fix in differs)
        ),
        _("Its weights or its optimizer’s groups do not fit, and the trainer stops after caching."),
        (*back, *_weights_only(view, state), *(() if back else (leave_out("resume"),))),
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
    state = _state(view)
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
            *(_weights_only(view, state) if state else ()),
            leave_out(*names, identity="no-swap"),
        ),
        sources=("STEP-09",),
    )


RULES: tuple[Rule, ...] = (
    Rule("resume-path", check_resume_path, ("STEP-10",), lambda: _("What is resumed is a state")),
    Rule("resume", check_resume, ("STEP-07",), lambda: _("How steps are counted after resuming")),
    Rule("resume-done", check_resume_done, ("STEP-11",), lambda: _("Resuming what was complete")),
    Rule("resume-match", check_resume_match, ("STEP-08",), lambda: _("A state of other settings")),
    Rule("resume-device", check_resume_device, ("STEP-09",), lambda: _("Resuming beside swapped blocks")),
)
