"""What to try after each kind of end that is not about the loss, in the order in which to try it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from gui.engine.plan.changes import ACTION, changes_in_words
from gui.engine.preflight.launch_look import ABOUT_MEMORY
from gui.engine.quantities import gib
from gui.engine.runs.diagnoses import known_diagnoses
from gui.engine.runs.disk import WARN_BYTES
from gui.engine.runs.recovery_case import Case
from gui.engine.runs.recovery_models import Way
from gui.engine.runs.smaller_plan import OUT_OF_MEMORY, SmallerPlan
from gui.engine.runs.triage import memory_ways
from gui.engine.texts import _, ngettext


def memory_try_ways(case: Case, smaller: SmallerPlan | None) -> Iterator[Way]:
    """Yield what to try when memory ran out, what costs least first (T15).

    Args:
        case: The run.
        smaller: What would fit in its place; None where nothing was forecast of it.
    """
    if case.causes[:1] != (OUT_OF_MEMORY,):
        yield from diagnosed_ways(case)
    elif smaller is not None:
        if smaller.advised.fits and smaller.changes:
            words = changes_in_words(smaller.changes)
            effect = " ".join(smaller.steps())
            yield Way("fit", words, effect, smaller.changes, superseded=ABOUT_MEMORY)
    else:
        for each in memory_ways(case.settings):
            if each.changes:
                words = changes_in_words(each.changes)
                yield Way(each.id, words, each.words, dict(each.changes), superseded=ABOUT_MEMORY)


def memory_by_hand(case: Case, smaller: SmallerPlan | None) -> tuple[str, ...]:
    """Return what to do about memory outside of the plan."""
    if case.causes[:1] != (OUT_OF_MEMORY,):
        return diagnosed_by_hand(case)
    if smaller is not None:
        return smaller.by_hand
    return tuple(each.words for each in memory_ways(case.settings) if not each.changes)


def memory_hopeless(smaller: SmallerPlan | None) -> Iterator[str]:
    """Yield why nothing fits, where that is so."""
    if smaller is None or (smaller.advised.fits and smaller.changes):
        return
    yield _("No change of the plan alone makes it fit.")
    if not smaller.advised.fits:
        yield from smaller.steps()[-1:]


def image_ways(case: Case, images: tuple[Path, ...]) -> Iterator[Way]:
    """Yield the way on without the images that cannot be read."""
    if images:
        names = ", ".join(path.name for path in images[:3]) + (", …" if len(images) > 3 else "")
        change = ngettext("Set {names} aside", "Set {count} images aside", len(images))
        effect = _(
            "{names} and what belongs to it go into quarantine beside the images, from where they can be "
            "brought back. All else is trained as before."
        )
        yield Way(
            "set-aside",
            change.format(names=names, count=len(images)),
            effect.format(names=names),
            {},
            set_aside=images,
            unchanged=True,
        )
    yield from diagnosed_ways(case)


def image_by_hand(case: Case, images: tuple[Path, ...]) -> tuple[str, ...]:
    """Return what to do where no image is found that could be set aside."""
    if images:
        return ()
    return (
        _("No image of the dataset is unreadable now. Look at its drive: a file that was may be so again."),
        *diagnosed_by_hand(case),
    )


def go_on_ways(case: Case) -> tuple[Way, ...]:
    """Return the way that changes nothing: to go on."""
    effects = {
        "disk": _("Nothing else is changed: what was missing was room on the disk."),
        "gpu": _("Nothing else is changed. Without a restart of the machine it ends the same."),
        "power": _("Nothing else is changed: the plan was not the cause."),
        "stopped": _("Nothing else is changed."),
    }
    effect = effects.get(case.kind, _("Only of use when the cause is gone: nothing else is changed."))
    change = _("Go on") if case.points else _("Start again")
    return (Way("go-on", change, effect, {}, "point", unchanged=True),)


def disk_by_hand(case: Case, free_bytes: Callable[[Path], int]) -> Iterator[str]:
    """Yield where to make how much room, and what of this run's own could go.

    Args:
        case: The run.
        free_bytes: Says how much room there is below a folder.
    """
    folder = _full_folder(case)
    if folder is None:
        yield _("Make room on the disk, or save less often.")
        return
    try:
        missing = WARN_BYTES - free_bytes(folder)
    except OSError:
        missing = WARN_BYTES
    if missing > 0:
        text = _("Make room on the disk of {folder}: {amount} at the least.")
        yield text.format(folder=folder, amount=gib(missing))
    doubtful = [path.name for path in case.verdict.doubtful if path.exists()]
    if doubtful:
        text = _("These files of the run are of no use and may be deleted: {names}.")
        yield text.format(names=", ".join(doubtful[:5]))


def gpu_by_hand() -> tuple[str, ...]:
    """Return what brings a GPU back; no plan does."""
    return (
        _("Restart the machine: only that brings a lost GPU back."),
        _("When it happens again, look at power supply, cooling, overclocking and the driver."),
    )


def diagnosed_ways(case: Case) -> Iterator[Way]:
    """Yield what the likeliest diagnosis would change in the plan."""
    for number, (label, changes) in enumerate(_fixes(case), start=1):
        if changes and ACTION not in changes:
            yield Way(f"fix-{number}", label.rstrip("."), "", changes)


def diagnosed_by_hand(case: Case) -> tuple[str, ...]:
    """Return what the likeliest diagnosis would have done outside of the plan."""
    return tuple(label for label, changes in _fixes(case) if not changes or ACTION in changes)


def _fixes(case: Case) -> list[tuple[str, dict[str, object]]]:
    first = case.causes[:1]
    known = [each for each in known_diagnoses() if (each.id,) == first]
    return [(_(fix.label), dict(fix.changes)) for each in known for fix in each.fixes]


def _full_folder(case: Case) -> Path | None:
    """Return the folder whose disk was the fullest, as it was last seen."""
    seen = case.status.host.disk_free_bytes
    return Path(min(seen, key=lambda path: seen[path])) if seen else None
