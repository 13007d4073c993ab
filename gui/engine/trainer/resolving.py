"""Fills in what a plan leaves to its family, makes paths absolute, and says what is wrong or missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gui.engine.errors import UnknownFamily
from gui.engine.findings import Finding, Fix
from gui.engine.plan.families import Family, KindOfTraining, families, family, script_for
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.paths import absolute, arguments_with_paths
from gui.engine.plan.preset_filling import fill_plan
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.redaction import SECRET_ARGUMENTS
from gui.engine.texts import _
from gui.engine.trainer.catalogue import Catalogue, ScriptArguments
from gui.engine.trainer.judging import judge_arguments
from gui.engine.trainer.resolving_dataset import Said, remove, resolve_dataset

_NEVER = frozenset({"config_file", "output_config"})
"""Arguments that make the trainer do something else than the plan says (trainer-facts 1.8)."""

_USUAL: Mapping[str, Any] = {"output_dir": "output", "cond_emb_dim": 32, "network_dim": 64}
"""What can be taken where nothing is said: a folder beside the plan, and the figures of the trainer's guide
to ControlNet-LLLite (docs/train_lllite_README.md), the only script that insists on them."""


@dataclass(frozen=True)
class ResolvedPlan:
    """A plan in the words of one training script.

    Attributes:
        script: The script and its arguments.
        effective: The plan as the trainer would understand it: what its presets and its family
            say filled in, paths absolute, dataset options in the dataset section.
        arguments: What the command line gets: what presets and family say filled in, paths absolute,
            without tokens and without what the dataset file says.
        dataset_toml: The dataset file's content; None when the plan brings its own.
        tokens: Environment variable to token, of tokens that stood in the plan.
        findings: All that is unknown, wrong or missing.
        notes: What was done that a user should know.
        dataset_file: The dataset file of the user's own that ``effective`` takes its dataset from; None
            where there is none, or it is not known.
    """

    script: ScriptArguments
    effective: TrainingPlan
    arguments: dict[str, Any]
    dataset_toml: str | None
    tokens: dict[str, str]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    dataset_file: Path | None = None


def resolve(
    plan: TrainingPlan,
    base: Path,
    catalogue: Catalogue,
    *,
    files_known: bool = True,
    library: PresetLibrary | None = None,
    trainer_root: Path | None = None,
) -> ResolvedPlan:
    """Return a plan in the words of its training script.

    Args:
        plan: The plan.
        base: The folder of the plan file.
        catalogue: The trainer's arguments.
        files_known: Whether the folders that the plan names are those of this machine; when not,
            an empty or missing one says nothing.
        library: The presets that the plan may name; None takes the program's own.
        trainer_root: The folder that the trainer runs in, against which it takes relative paths in a dataset
            file of the user's own; None leaves them as they are.

    Raises:
        PlanNotRunnable: Neither script nor family and kind tell what to run.
        ScriptNotUsable: The trainer lacks the script, or cannot import it.
    """
    script = catalogue.script(script_for(plan))
    kin = _family_of(plan)
    kind = _kind_of(plan, kin, script.name)
    presets = fill_plan(plan, library, script.arguments)
    plan, given = presets.plan, presets.plan.arguments
    full = arguments_with_paths(given, lambda value: absolute(value, base), base)
    said = Said(plan, full, script, base, files_known=files_known, trainer_root=trainer_root)
    data = resolve_dataset(said)
    arguments = data.mapping.arguments
    return ResolvedPlan(
        script=script,
        effective=plan.model_copy(update={"arguments": arguments, "dataset": data.dataset}),
        arguments={name: value for name, value in arguments.items() if name not in SECRET_ARGUMENTS},
        dataset_toml=data.toml,
        tokens={SECRET_ARGUMENTS[name]: str(given[name]) for name in SECRET_ARGUMENTS if given.get(name)},
        findings=(
            *presets.findings,
            *_never(given),
            *judge_arguments(full, script, catalogue),
            *_missing(full, kin, kind, plan.kind, script),
            *data.findings,
        ),
        notes=data.mapping.notes,
        dataset_file=data.file,
    )


def _family_of(plan: TrainingPlan) -> Family | None:
    try:
        return family(plan.family)
    except UnknownFamily:
        return None  # the plan names its script; that is enough


def _kind_of(plan: TrainingPlan, kin: Family | None, script: str) -> KindOfTraining | None:
    """Return how the family does what the script does; the plan's own kind where it fits."""
    if kin is None:
        return None
    own = kin.kinds.get(plan.kind)
    if own is not None and own.script == script:
        return own
    return next((kind for kind in kin.kinds.values() if kind.script == script), None)


def _never(given: Mapping[str, Any]) -> Iterator[Finding]:
    for name in sorted(_NEVER & given.keys()):
        if given[name] is False:
            continue
        yield Finding(
            id="config-file",
            severity="stop",
            title=_("A run never uses {name}.").format(name=name),
            detail=_(
                "The trainer's own file of arguments skips its checks and swallows misspelt names; "
                "writing one ends the trainer without training."
            ),
            arguments=(name,),
            where=name,
            fixes=(remove(name),),
            sources=("trainer: train_util.py:4700",),
        )


def _missing(
    full: Mapping[str, Any],
    kin: Family | None,
    kind: KindOfTraining | None,
    kind_name: str,
    script: ScriptArguments,
) -> Iterator[Finding]:
    """Name what the parser does not insist on but the run needs, often only hours later."""
    needed = {
        "pretrained_model_name_or_path": _("the base model"),
        "output_dir": _("the folder for the results"),
    }
    if "network_module" in script.arguments:
        needed["network_module"] = _("the network's module")
    if kin is not None and kind is not None:
        needed |= {file.argument: _(file.title) for file in kin.needed_files(kind_name)}
        needed |= {name: needed.get(name, "") for name in kind.needs}
    if "token_string" in script.arguments:
        needed["token_string"] = _("the new word")
    for name, what in needed.items():
        if full.get(name) in (None, "") and name in script.arguments:
            title = _("{name} is missing: {what}.") if what else _("{name} is missing.")
            yield Finding(
                id="arg-missing",
                severity="stop",
                title=title.format(name=name, what=what),
                detail=_("The trainer would begin, and fail when it first needs it."),
                arguments=(name,),
                where=name,
                fixes=_usual(name, script.name),
                sources=("trainer: train_network.py:644, 1297", "trainer: train_util.py:5527"),
            )


def _usual(name: str, script: str) -> tuple[Fix, ...]:
    """Return the fix that takes the usual value; a file or a word that only the user knows has none."""
    modules = (
        kind.network_modules[0]
        for known in families().values()
        for kind in known.kinds.values()
        if kind.script == script and kind.network_modules
    )
    value = next(modules, None) if name == "network_module" else _USUAL.get(name)
    if value is None:
        return ()
    label = _("take {value}").format(value=value)
    return (Fix(id="usual", label=label, changes={name: value}, safe=name == "network_module"),)
