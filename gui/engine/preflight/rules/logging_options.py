"""Rules about trackers. Folder and tracker are filled in when the command is made.

Source: trainer-facts 1.12, 2.2 (train_util.py:5436-5466, 6597); ENV-16.
"""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import leave_out, write
from gui.engine.preflight.view import View
from gui.engine.texts import _

WANDB_VARIABLES = ("WANDB_API_KEY", "WANDB_MODE")
"""With the key or an offline mode in the environment nothing is asked for."""


def _wants_wandb(view: View) -> bool:
    return view.text("log_with") in ("wandb", "all")


def check_wandb(view: View) -> Iterator[Finding]:
    """Weights & Biases needs its package, and a key that nobody can type (ENV-16)."""
    if not _wants_wandb(view):
        return
    local = write({"log_with": "tensorboard"}, _("log to this machine"), identity="tensorboard", safe=True)
    if view.package("wandb") is False:
        yield Finding(
            id="wandb",
            severity="stop",
            title=_("wandb is not installed in the trainer’s environment."),
            detail=_("The trainer stops when it prepares its trackers. Install it there: pip install wandb"),
            arguments=("log_with",),
            fixes=(local,),
            sources=("ENV-16", "trainer: train_util.py:5455"),
        )
    elif not view.given("wandb_api_key") and not any(
        view.plan.launch.env.get(name) for name in WANDB_VARIABLES
    ):
        yield Finding(
            id="wandb",
            severity="hint",
            title=_("wandb needs a key; nobody can type one while training."),
            detail=_(
                "Log in beforehand on this machine, or set WANDB_API_KEY; else the run ends at its start."
            ),
            arguments=("log_with", "env.WANDB_MODE"),
            fixes=(
                write({"env.WANDB_MODE": "offline"}, _("log offline and upload later"), identity="offline"),
                local.model_copy(update={"safe": False}),
            ),
            sources=("ENV-16", "trainer: train_util.py:5463"),
        )


def check_tensorboard(view: View) -> Iterator[Finding]:
    """Without its package accelerate leaves the tracker out in silence."""
    if view.text("log_with") != "tensorboard" or view.package("tensorboard") is not False:
        return
    yield Finding(
        id="tensorboard",
        severity="warning",
        title=_("tensorboard is not installed in the trainer’s environment: nothing is logged."),
        detail=_(
            "The loss of single steps, which tells one bad step from a dead model, is then not known. "
            "Install it there: pip install tensorboard"
        ),
        arguments=("log_with",),
        fixes=(leave_out("log_with"),),
        sources=("trainer: train_util.py:5441-5454",),
    )


def check_run_name(view: View) -> Iterator[Finding]:
    """A tracker's configuration hides the name of the run (train_util.py:6597)."""
    if not view.given("wandb_run_name") or not view.given("log_tracker_config"):
        return
    yield Finding(
        id="wandb-name",
        severity="hint",
        title=_("wandb_run_name does nothing beside log_tracker_config."),
        detail=_("The file takes its place; write the name into it."),
        arguments=("wandb_run_name", "log_tracker_config"),
        fixes=(leave_out("wandb_run_name", safe=True),),
        sources=("trainer: train_util.py:6597",),
    )


QUIET_LEVELS = ("WARNING", "ERROR", "CRITICAL")
"""Levels at which the trainer no longer says that a model was saved (utils.py:24)."""


def check_console_log(view: View) -> Iterator[Finding]:
    """What the trainer says into a file of its own, this program does not read (utils.py:41-83)."""
    names = ["console_log_file"] if view.given("console_log_file") else []
    if view.given("console_log_level") and view.value("console_log_level") in QUIET_LEVELS:
        names.append("console_log_level")
    if not names:
        return
    yield Finding(
        id="console-log",
        severity="danger",
        title=_("{names} keeps from this program what the trainer says.").format(names=", ".join(names)),
        detail=_(
            "Saves, errors and the end of the run are told from the trainer’s output. It is kept in the "
            "run’s folder anyway."
        ),
        arguments=tuple(names),
        fixes=(leave_out(*names, safe=True),),
        sources=("trainer: utils.py:24, 41-83",),
    )


RULES: tuple[Rule, ...] = (
    Rule("wandb", check_wandb, ("ENV-16",), lambda: _("What Weights & Biases needs")),
    Rule(
        "tensorboard",
        check_tensorboard,
        ("trainer: train_util.py:5441",),
        lambda: _("What TensorBoard needs"),
    ),
    Rule(
        "wandb-name", check_run_name, ("trainer: train_util.py:6597",), lambda: _("The name of a run in W&B")
    ),
    Rule(
        "console-log",
        check_console_log,
        ("trainer: utils.py:41",),
        lambda: _("Where the trainer writes what it says"),
    ),
)
