"""Rules about what a run leaves behind: names, formats, how often, and room on the disk.

Source: trainer-facts 2.3, 2.4, 7.4 (train_util.py:90-103, 5786-5815, sdxl_train.py:238-243).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from gui.engine.findings import Finding, Fix
from gui.engine.preflight.resume_outlook import overwritten, resume_outlook
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import first_few, leave_out, write
from gui.engine.preflight.steps import forecast_steps
from gui.engine.preflight.view import View
from gui.engine.texts import _

ALWAYS_SAFETENSORS = ("flux_", "sd3_", "lumina_", "anima_", "hunyuan_")
"""Scripts that pay no heed to ``save_model_as`` (flux_train_utils.py:581-610)."""

FORBIDDEN_ON_WINDOWS = '<>:"|?*\\'

CADENCE = ("save_every_n_epochs", "save_every_n_steps", "save_n_epoch_ratio")

FEW_SAVES = 2
"""So many kept saves leave no choice among the results (T1, T8)."""

LONG_RUN_STEPS = 500
"""From here on a run without saves on the way risks hours (T8)."""


def output_base(view: View) -> str | None:
    """Return what all names of saves begin with; None leaves it to the trainer."""
    name = view.value("output_name")
    return None if name is None else str(name)


def check_output_exists(view: View) -> Iterator[Finding]:
    """Existing files are overwritten without a question (trainer-facts 2.4)."""
    there = overwritten(view, view.facts.existing_outputs)
    if not there:
        return
    resumes, outlook = view.given("resume"), resume_outlook(view)
    meant = f"{output_base(view) or 'last'}-{f'from{outlook.done}' if outlook else '2'}"
    yield Finding(
        id="output-exists",
        severity="warning" if resumes else "danger",
        title=_("Files of this name exist and would be overwritten: {names}").format(names=first_few(there)),
        detail=_("The trainer writes over saves and states of an earlier run without asking."),
        arguments=("output_name", "output_dir"),
        where="output_dir",
        fixes=(
            write(
                {"output_name": meant},
                _("save as {name}").format(name=meant),
                identity="other-name",
                safe=resumes,
            ),
        ),
        sources=("trainer: train_util.py:90-103, train_network.py:1297",),
    )


def check_output_name(view: View) -> Iterator[Finding]:
    """A name is no path: folders in it are never made (train_network.py:1297)."""
    name = view.text("output_name")
    if name is None:
        return
    forbidden = FORBIDDEN_ON_WINDOWS if view.facts.os == "windows" else ""
    wrong = sorted({letter for letter in name if letter in forbidden + "/" or ord(letter) < 32})
    if not wrong:
        return
    meant = "".join("_" if letter in wrong else letter for letter in name)
    yield Finding(
        id="output-name",
        severity="stop",
        title=_("output_name {name} cannot be the name of a file: it has {letters}.").format(
            name=name, letters=" ".join(map(repr, wrong))
        ),
        detail=_("The trainer fails at the first save, perhaps after hours. Folders belong into output_dir."),
        arguments=("output_name", "output_dir"),
        fixes=(
            write({"output_name": meant}, _("save as {name}").format(name=meant), identity="name", safe=True),
        ),
        sources=("trainer: train_network.py:1297",),
    )


def check_output_writable(view: View) -> Iterator[Finding]:
    """What cannot be written is found out at the first save (trainer-facts 1.2)."""
    folder = view.text("output_dir")
    fact = view.path(folder)
    if fact is None or fact.kind == "file" or fact.writable is not False:
        return
    yield Finding(
        id="output-writable",
        severity="stop",
        title=_("Nothing can be written to {path}.").format(path=folder),
        detail=_("The trainer would find that out at the first save, perhaps after hours."),
        arguments=("output_dir",),
        sources=("STEP-12", "trainer: train_network.py:1297"),
    )


def check_save_format(view: View) -> Iterator[Finding]:
    """Full trainings and new words are saved as pickles unless told otherwise (sdxl_train.py:238-243)."""
    if view.script.startswith(ALWAYS_SAFETENSORS) or not view.knows("save_model_as"):
        return
    chosen = view.text("save_model_as")
    given = view.given("save_model_as")
    if view.flag("use_safetensors") or (chosen or "").endswith("safetensors") or chosen == "diffusers":
        return
    single = PurePath(view.text("pretrained_model_name_or_path") or "").suffix in (".safetensors", ".ckpt")
    if chosen is None and not single:
        return
    extension = chosen or "ckpt"
    yield Finding(
        id="save-format",
        severity="hint" if given else "warning",
        title=_("The result would be a .{extension} file.").format(extension=extension),
        detail=_(
            "Such files can hold programs: many tools refuse them, and this program does not open them to "
            "see whether the weights are sound."
        ),
        arguments=("save_model_as",),
        fixes=(
            write(
                {"save_model_as": "safetensors"},
                _("save as .safetensors"),
                identity="safetensors",
                safe=not given,
            ),
        ),
        sources=("trainer: sdxl_train.py:238-243, train_textual_inversion.py:783",),
    )


def check_save_last(view: View) -> Iterator[Finding]:
    """How many to keep says nothing where nothing is saved on the way (trainer-facts 2.3)."""
    for unit in ("epochs", "steps"):
        every = f"save_every_n_{unit}"
        if view.given(every) or (unit == "epochs" and view.given("save_n_epoch_ratio")):
            continue
        useless = [
            f"save_last_n_{unit}{end}" for end in ("", "_state") if view.given(f"save_last_n_{unit}{end}")
        ]
        if useless:
            yield Finding(
                id="save-last",
                severity="warning",
                title=_("{names} does nothing without {every}.").format(
                    names=", ".join(useless), every=every
                ),
                detail=_("Only the last model is saved."),
                arguments=(*useless, every),
                where=unit,
                fixes=(leave_out(*useless, safe=True),),
                sources=("trainer: train_util.py:5786-5796",),
            )


def check_save_last_few(view: View) -> Iterator[Finding]:
    """The trainer deletes old saves whatever the new ones are: the last clean one may go (T1, N16)."""
    for unit in ("epochs", "steps"):
        name, every = f"save_last_n_{unit}", view.number(f"save_every_n_{unit}")
        kept = view.number(name) if view.given(name) else None
        if kept is None or not every or every <= 0:
            continue
        files = kept if unit == "epochs" else kept / every
        goes_on = view.plan.guard.nonfinite != "stop"
        if files > FEW_SAVES and not goes_on:
            continue
        yield Finding(
            id="save-last-few",
            severity="warning" if goes_on else "hint",
            title=_("With {name} {kept:g} earlier saves are deleted on the way.").format(
                name=name, kept=kept
            ),
            detail=(
                _(
                    "The run goes on when the loss is no number: then the newest saves are ruined, and the "
                    "last clean one is deleted."
                )
                if goes_on
                else _("The best result is often at 60 to 80 % of the run, and would be gone by then.")
            ),
            arguments=(name, "guard.nonfinite"),
            where=unit,
            fixes=(
                leave_out(name),
                *((_stop_at_nan(),) if goes_on and files > FEW_SAVES else ()),
            ),
            sources=("T1", "N16", "trainer: train_util.py:5786-5815"),
        )


def _stop_at_nan() -> Fix:
    return write({"guard.nonfinite": "stop"}, _("stop when the loss is no number"), identity="stop-at-nan")


def check_save_state(view: View) -> Iterator[Finding]:
    """States are written along with saves: without those only at the end (STEP-10)."""
    if not view.flag("save_state") or any(view.given(name) for name in CADENCE):
        return
    yield Finding(
        id="save-state",
        severity="warning",
        title=_("A state is saved only at the end: there is none to go on from if the run breaks off."),
        detail=_("States are written along with saves, and the plan saves nothing on the way."),
        arguments=("save_state", "save_every_n_epochs", "save_every_n_steps"),
        fixes=(
            write({"save_every_n_epochs": 1}, _("save after every epoch"), identity="epochs"),
            leave_out("save_state"),
        ),
        sources=("STEP-10", "trainer: train_util.py:5942-5964"),
    )


def check_save_cadence(view: View) -> Iterator[Finding]:
    """A long run saves on the way, to be able to choose and to lose nothing (T8)."""
    if any(view.given(name) for name in CADENCE):
        return
    forecast = forecast_steps(view)
    steps = forecast.total_steps if forecast else view.number("max_train_steps")
    if steps is None or steps < LONG_RUN_STEPS or (not forecast and view.given("max_train_epochs")):
        return
    every = max(100, round(steps / 10 / 100) * 100)
    yield Finding(
        id="save-cadence",
        severity="hint",
        title=_("{steps:g} steps, and only the last is saved.").format(steps=steps),
        detail=_(
            "The best result is often earlier, and a run that breaks off or blows up leaves nothing behind."
        ),
        arguments=("save_every_n_steps", "save_every_n_epochs"),
        fixes=(
            write(
                {"save_every_n_steps": every},
                _("save every {steps} steps").format(steps=every),
                identity="steps",
            ),
        ),
        sources=("T1", "T8"),
    )


RULES: tuple[Rule, ...] = (
    Rule(
        "output-exists",
        check_output_exists,
        ("trainer: train_util.py:90",),
        lambda: _("Files that would be overwritten"),
    ),
    Rule(
        "output-name", check_output_name, ("trainer: train_network.py:1297",), lambda: _("Names of results")
    ),
    Rule("output-writable", check_output_writable, ("STEP-12",), lambda: _("Results can be written")),
    Rule(
        "save-format", check_save_format, ("trainer: sdxl_train.py:238",), lambda: _("The format of results")
    ),
    Rule(
        "save-last", check_save_last, ("trainer: train_util.py:5786",), lambda: _("How many saves are kept")
    ),
    Rule(
        "save-last-few",
        check_save_last_few,
        ("T1", "N16", "trainer: train_util.py:5786"),
        lambda: _("Saves that are deleted on the way"),
    ),
    Rule("save-state", check_save_state, ("STEP-10",), lambda: _("States to go on from")),
    Rule("save-cadence", check_save_cadence, ("T8",), lambda: _("Saves on the way")),
)
