"""Rules about how paths are spelled: letters, signs, blanks and lengths that have failed, most on Windows.

Source: RAM-07, ENC-03, ENC-04, ENC-06.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gui.engine.findings import Finding
from gui.engine.plan.paths import PATH_ARGUMENTS, PATH_OR_HUB_ARGUMENTS
from gui.engine.preflight.limits import machine_limits
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.caching import caches_to_disk
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.rules.paths import dataset_paths
from gui.engine.preflight.rules.trainers import real_trainer
from gui.engine.preflight.view import View
from gui.engine.texts import _

NAMED_PATHS = 3

LONGEST_ENDING = len("-step00000000-state\\random_states_0.pkl")
"""What the longest name that a run writes has behind ``output_name`` (train_util.py:90-99)."""

CACHE_ENDING = len("_0000x0000_te_outputs.npz")
"""What the longest name of a cache has behind an image's own (strategy_*.py)."""

LONGEST_IMAGE = 40
"""Characters of an image's name that are likely."""


def _plan_paths(view: View) -> list[tuple[str, str]]:
    """Return target and path of all that the plan names."""
    names = PATH_ARGUMENTS | PATH_OR_HUB_ARGUMENTS
    found = [(name, view.plan.arguments[name]) for name in sorted(names & view.plan.arguments.keys())]
    found += dataset_paths("dataset", view.plan.dataset)
    return [(target, value) for target, value in found if isinstance(value, str)]


def _named(paths: Sequence[str]) -> str:
    return ", ".join(paths[:NAMED_PATHS]) + (" …" if len(paths) > NAMED_PATHS else "")


def check_path_ascii(view: View) -> Iterator[Finding]:
    """Letters beyond ASCII in paths have crashed trainings on Windows (RAM-07, ENC-03)."""
    odd = [(target, path) for target, path in _plan_paths(view) if not path.isascii()]
    if view.facts.os != "windows" or not odd:
        return
    yield Finding(
        id="path-ascii",
        severity="hint",
        title=_("Paths have letters that some programs cannot open on Windows: {paths}").format(
            paths=_named([path for _target, path in odd])
        ),
        detail=_(
            "Most work. If the trainer does not find a file, or crashes with 3221225477, move it to a path "
            "of plain letters and digits."
        ),
        arguments=tuple(dict.fromkeys(target for target, _path in odd)),
        sources=("RAM-07", "ENC-03"),
    )


def check_path_chars(view: View) -> Iterator[Finding]:
    """A ``#`` cuts a path on a network share (ENC-06)."""
    for target, path in _plan_paths(view):
        if not path.startswith(("\\\\", "//")) or "#" not in path:
            continue
        yield Finding(
            id="path-chars",
            severity="warning",
            title=_("{name}: the path on the network share has a “#”: {path}").format(name=target, path=path),
            detail=_("It has been cut there. Rename the folder, or give the share a drive letter."),
            arguments=(target,),
            where=target,
            sources=("ENC-06",),
        )


def check_path_space(view: View) -> Iterator[Finding]:
    """Blanks in the path of the install break tools that build programs there (ENC-04)."""
    trainer = real_trainer(view)
    compiles = view.plan.launch.dynamo_backend not in ("no", "")
    where = next((path for path in (trainer.root, trainer.interpreter) if " " in path), "") if trainer else ""
    if not where:
        return
    yield Finding(
        id="path-space",
        severity="warning" if compiles else "hint",
        title=_("The trainer is installed in a path with blanks: {path}").format(path=where),
        detail=(
            _("What torch.compile builds often fails there.")
            if compiles
            else _("Training works; what installs or builds programs there may not.")
        ),
        arguments=("launch.dynamo_backend", "plan.trainer") if compiles else ("plan.trainer",),
        fixes=(write({"launch.dynamo_backend": "no"}, _("do not compile"), identity="no-compile"),)
        if compiles
        else (),
        sources=("ENC-04",),
    )


def check_path_long(view: View) -> Iterator[Finding]:
    """Windows refuses long paths, which shows when something is written: at the first save."""
    if view.facts.os != "windows":
        return
    most = machine_limits().paths.longest_windows
    output, name = view.text("output_dir") or "", view.text("output_name") or "last"
    ending = LONGEST_ENDING if view.flag("save_state") else len("-step00000000.safetensors")
    places = [("output_dir", output, len(output) + 1 + len(name) + ending)] if output else []
    if caches_to_disk(view):
        places += [
            (target, path, len(path) + 1 + LONGEST_IMAGE + CACHE_ENDING)
            for target, path in dataset_paths("dataset", view.plan.dataset)
            if isinstance(path, str) and target.endswith("image_dir")
        ]
    for target, path, length in places:
        if length <= most:
            continue
        yield Finding(
            id="path-long",
            severity="danger" if target == "output_dir" else "warning",
            title=_("{name}: names in {path} would have {length} characters; Windows takes {most}.").format(
                name=target, path=path, length=length, most=most
            ),
            detail=_(
                "What is written there fails, after hours. Take a shorter path, or switch long paths on in "
                "Windows (LongPathsEnabled)."
            ),
            arguments=(target, *(("output_name",) if target == "output_dir" else ())),
            where=target,
            sources=machine_limits().paths.sources,
        )


RULES: tuple[Rule, ...] = (
    Rule("path-ascii", check_path_ascii, ("RAM-07", "ENC-03"), lambda: _("Letters beyond ASCII in paths")),
    Rule("path-chars", check_path_chars, ("ENC-06",), lambda: _("Signs that cut paths")),
    Rule("path-space", check_path_space, ("ENC-04",), lambda: _("Blanks in the trainer’s path")),
    Rule(
        "path-long",
        check_path_long,
        ("Windows: maximum path length limitation",),
        lambda: _("Paths that Windows refuses"),
    ),
)
