"""Rules about settings that are said twice, files of settings, and runs that train nothing.

That a run never uses ``config_file`` is said when the plan is resolved.
Source: trainer-facts 1.7, 1.13, 2.2 (config_util.py:675-698, train_network.py:521, 567).
"""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding
from gui.engine.plan.dataset_options import KEY_OF_ARGUMENT, OPTIONS, read_value
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import leave_out
from gui.engine.preflight.view import View
from gui.engine.texts import _


def check_dup_arg(view: View) -> Iterator[Finding]:
    """A dataset option stands among the arguments and in the dataset: the dataset wins (OOM-07, 2.2)."""
    own = view.own or view.plan
    if not view.dataset_known:
        return
    for name, key in KEY_OF_ARGUMENT.items():
        value = own.arguments.get(name)
        said = own.dataset.get(key)
        if value is None or said is None:
            continue
        same = read_value(OPTIONS[key].type, value) == read_value(OPTIONS[key].type, said)
        yield Finding(
            id="dup-arg",
            severity="hint" if same else "warning",
            title=_("{name} is given twice: among the arguments and in the dataset.").format(name=name),
            detail=_("The dataset’s {said} counts, not {value}.").format(said=said, value=value),
            arguments=(name, f"dataset.{key}"),
            where=name,
            fixes=(leave_out(name, safe=True),),
            sources=("OOM-07", "trainer: config_util.py:437-471"),
        )


def check_debug_dataset(view: View) -> Iterator[Finding]:
    """``debug_dataset`` shows the data and ends (train_network.py:567)."""
    if not view.flag("debug_dataset"):
        return
    yield Finding(
        id="debug-dataset",
        severity="stop",
        title=_("debug_dataset shows the images and trains nothing."),
        detail=_("The trainer opens windows, and ends with status 0 after them."),
        arguments=("debug_dataset",),
        fixes=(leave_out("debug_dataset", safe=True),),
        sources=("trainer: train_network.py:567",),
    )


def check_dataset_file(view: View) -> Iterator[Finding]:
    """A dataset file is TOML or JSON by its name (config_util.py:675-698)."""
    name = view.text("dataset_config")
    if name is None or name.lower().endswith((".toml", ".json")):
        return
    yield Finding(
        id="dataset-file",
        severity="stop",
        title=_("dataset_config must be a .toml or .json file: {name}.").format(name=name),
        detail=_("The trainer goes by the name’s end and stops."),
        arguments=("dataset_config",),
        sources=("trainer: config_util.py:675-698",),
    )


RULES: tuple[Rule, ...] = (
    Rule("dup-arg", check_dup_arg, ("OOM-07",), lambda: _("Settings that are said twice")),
    Rule(
        "debug-dataset",
        check_debug_dataset,
        ("trainer: train_network.py:567",),
        lambda: _("Showing the data instead of training"),
    ),
    Rule(
        "dataset-file",
        check_dataset_file,
        ("trainer: config_util.py:675",),
        lambda: _("The dataset file’s name"),
    ),
)
