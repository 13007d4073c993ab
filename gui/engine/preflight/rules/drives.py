"""Rules about drives: slow ones, such as do not answer, caches that do not fit, files that others hold.

Source: T17, S10, DATA-13, STEP-12.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gui.engine.findings import Finding, Fix
from gui.engine.preflight.disk import forecast_disk
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.caching import IMAGE_CHANGES
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.surroundings import DiskFact
from gui.engine.preflight.view import SubsetView, View
from gui.engine.quantities import GIB
from gui.engine.texts import _

OUTPUT = "output_dir"

WATCHED_FOLDERS = re.compile(
    r"webui|comfyui|[\\/]models[\\/]lora|onedrive|dropbox|google ?drive|icloud|nextcloud", re.IGNORECASE
)
"""Parts of folders' names in which other programs open what is new (STEP-12)."""


def _image_disks(view: View) -> Iterator[tuple[SubsetView, DiskFact]]:
    """Yield each folder of images with its disk; of folders on the same disk the first."""
    known = {disk.argument: disk for disk in view.facts.disk}
    seen: set[tuple[object, object]] = set()
    for subset in view.subsets:
        disk = known.get(subset.target_of("image_dir"))
        key = (disk.kind, disk.free_gib) if disk else None
        if disk is not None and key is not None and key not in seen:
            seen.add(key)
            yield subset, disk


def check_disk_gone(view: View) -> Iterator[Finding]:
    """A drive that does not answer makes the trainer wait for good."""
    for disk in view.facts.disk:
        if disk.answers:
            continue
        yield Finding(
            id="disk-gone",
            severity="danger",
            title=_("The network drive of {name} does not answer: {path}").format(
                name=disk.argument, path=disk.path
            ),
            detail=_(
                "The trainer would wait for it, perhaps for good. Connect it again, or take another place."
            ),
            arguments=(disk.argument,),
            where=disk.argument,
            sources=("S10",),
        )


def check_disk_slow(view: View) -> Iterator[Finding]:
    """Images that are read again and again from a slow disk leave the GPU waiting (T17)."""
    held = view.flag("cache_latents") and not view.flag("cache_latents_to_disk")
    for subset, disk in () if held else _image_disks(view):
        if disk.kind not in ("rotational", "network"):
            continue
        yield Finding(
            id="disk-slow",
            severity="hint",
            title=(
                _("The images are on a network drive: {path}")
                if disk.kind == "network"
                else _("The images are on a hard disk: {path}")
            ).format(path=disk.path),
            detail=_(
                "They, or their caches, are read at each step, and the GPU waits. Copy them to an SSD of "
                "this machine, or keep the latents in RAM."
            ),
            arguments=(subset.target_of("image_dir"), "cache_latents"),
            where=subset.target,
            fixes=_keep_in_ram(view),
            sources=("T17",),
        )


def _keep_in_ram(view: View) -> tuple[Fix, ...]:
    changing = any(subset.flag(name) for subset in view.subsets for name in IMAGE_CHANGES)
    if changing or not view.knows("cache_latents"):
        return ()
    changes = {"cache_latents": True, "cache_latents_to_disk": None}
    return (write(changes, _("keep latents in RAM"), identity="cache"),)


def check_disk_cache(view: View) -> Iterator[Finding]:
    """Caches are written beside the images; a full disk there damages them (DATA-13)."""
    forecast = forecast_disk(view)
    need = forecast.caches_bytes / GIB if forecast else 0.0
    for subset, disk in _image_disks(view) if need else ():
        if disk.free_gib is None or disk.free_gib >= need:
            continue
        changes = {
            name: None
            for name in ("cache_latents_to_disk", "cache_text_encoder_outputs_to_disk")
            if view.flag(name)
        }
        kept = {name.removesuffix("_to_disk"): True for name in changes}
        yield Finding(
            id="disk-cache",
            severity="danger",
            title=_("Caches beside the images need {need:.1f} GiB; {free:.1f} are free at {path}").format(
                need=need, free=disk.free_gib, path=disk.path
            ),
            detail=_(
                "Those that are there already count too. When the disk is full, the trainer stops, and the "
                "last cache is damaged."
            ),
            arguments=(*changes, subset.target_of("image_dir")),
            where=subset.target,
            fixes=(write({**changes, **kept}, _("keep caches in RAM"), identity="ram"),),
            sources=("DATA-13",),
        )


def check_out_lock(view: View) -> Iterator[Finding]:
    """A file that another program has open cannot be written over, which shows at the save (STEP-12)."""
    locked = view.facts.locked_outputs
    folder = view.text(OUTPUT) or ""
    if locked:
        yield Finding(
            id="out-lock",
            severity="danger",
            title=_("{name} cannot be written now: another program has it open, or it is protected.").format(
                name=locked[0]
            ),
            detail=_(
                "The save would fail after the whole training. Close the other program, or take a new name."
            ),
            arguments=("output_name", OUTPUT),
            where=locked[0],
            fixes=(_renamed(view),),
            sources=("STEP-12",),
        )
    elif view.facts.os == "windows" and WATCHED_FOLDERS.search(folder):
        yield Finding(
            id="out-lock",
            severity="hint",
            title=_("Other programs open new files in this folder: {path}").format(path=folder),
            detail=_(
                "On Windows a file that is open cannot be written over, and a save fails. Save to a folder "
                "of its own, and copy the file when it is done."
            ),
            arguments=(OUTPUT,),
            where=OUTPUT,
            sources=("STEP-12",),
        )


def _renamed(view: View) -> Fix:
    name = f"{view.text('output_name') or 'last'}-2"
    return write({"output_name": name}, _("call the files {name}").format(name=name), identity="rename")


RULES: tuple[Rule, ...] = (
    Rule("disk-gone", check_disk_gone, ("S10",), lambda: _("Network drives answer")),
    Rule("disk-slow", check_disk_slow, ("T17",), lambda: _("Images on slow disks")),
    Rule("disk-cache", check_disk_cache, ("DATA-13",), lambda: _("Room for caches beside the images")),
    Rule("out-lock", check_out_lock, ("STEP-12",), lambda: _("Results that others have open")),
)
