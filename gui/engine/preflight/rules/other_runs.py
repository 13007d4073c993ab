"""Rules about other runs of this program: what they left behind, and whether they write the same files.

Source: ENV-20, OOM-12, OOM-15.
"""

from __future__ import annotations

import ntpath
import posixpath
from collections.abc import Iterator

from gui.engine.findings import Finding
from gui.engine.plan.changes import ACTION
from gui.engine.preflight.actions import END_RUN
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.surroundings import RunFact
from gui.engine.preflight.view import View
from gui.engine.texts import _


def check_proc_tree(view: View) -> Iterator[Finding]:
    """What an earlier run left behind holds memory and files (ENV-20, OOM-12)."""
    for run in view.facts.run:
        if run.watched:
            continue
        held = _gpu_gib(view, run)
        same = _same_output(view, run)
        yield Finding(
            id="proc-tree",
            severity="danger" if same or held else "warning",
            title=_title(run),
            detail=_detail(run, held, same=same),
            arguments=("launch.gpu_ids", "output_dir"),
            where=run.folder or run.name,
            fixes=(
                write({ACTION: END_RUN}, _("end the run {run}").format(run=run.name), identity="end-run"),
            ),
            sources=("ENV-20", "OOM-12", "OOM-15"),
        )


def _title(run: RunFact) -> str:
    if run.over:
        return _("The run {run} is over, and {count} of its processes live on.").format(
            run=run.name, count=len(run.processes)
        )
    return _("The run {run} goes on training, and nothing watches it.").format(run=run.name)


def _detail(run: RunFact, held: float | None, *, same: bool) -> str:
    parts = []
    if held:
        parts.append(_("They hold {held:.1f} GiB of GPU memory.").format(held=held))
    if same:
        parts.append(_("They may still write into this plan’s output folder."))
    parts.append(
        _("To end it is to end processes {pids}; nothing is lost by it.")
        if run.over
        else _("To look at it, take it up with: attach {run}. To end it is to lose what it has not saved.")
    )
    return " ".join(parts).format(run=run.name, pids=", ".join(map(str, run.processes)))


def _gpu_gib(view: View, run: RunFact) -> float | None:
    """Return what a run holds of the GPUs that the plan would use; None where the driver does not tell."""
    told = [
        holder.gib
        for gpu in view.gpus
        for holder in gpu.holder or ()
        if holder.run == run.name and holder.gib is not None
    ]
    return sum(told) if told else None


def check_out_run(view: View) -> Iterator[Finding]:
    """Two trainings into the same files overwrite, and tidy away, each other's."""
    for run in view.facts.run:
        if run.over or not _same_output(view, run):
            continue
        name = view.text("output_name") or "last"
        yield Finding(
            id="out-run",
            severity="stop",
            title=_("The run {run} is training into the same files now.").format(run=run.name),
            detail=_("Each would overwrite, and tidy away, what the other saves."),
            arguments=("output_name", "output_dir"),
            where=run.name,
            fixes=(
                write(
                    {"output_name": f"{name}-2"},
                    _("call this one’s files {name}").format(name=f"{name}-2"),
                    identity="other-name",
                ),
            ),
            sources=("trainer: train_util.py:90-99",),
        )


def _same_output(view: View, run: RunFact) -> bool:
    folder = view.text("output_dir")
    windows = view.facts.os == "windows"
    if not folder or not run.output_dir:
        return False

    def key(text: str) -> str:
        return ntpath.normcase(ntpath.normpath(text)) if windows else posixpath.normpath(text)

    names = (view.text("output_name") or "", run.output_name)
    return key(folder) == key(run.output_dir) and key(names[0]) == key(names[1])


RULES: tuple[Rule, ...] = (
    Rule("proc-tree", check_proc_tree, ("ENV-20", "OOM-12"), lambda: _("What earlier runs left behind")),
    Rule("out-run", check_out_run, ("trainer: train_util.py:90",), lambda: _("Two runs into the same files")),
)
