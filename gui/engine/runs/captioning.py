"""Has captions made by the trainer's own captioners, in processes that outlive this one.

The scripts write beside the images that they are shown, so they are shown links in a scratch folder: nothing
is written beside the user's images before the user has seen every caption.
Source: sd-scripts finetune/tag_images_by_wd14_tagger.py, make_captions.py, make_captions_by_git.py.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gui.engine.dataset.caption_files import read_caption
from gui.engine.dataset.crew import AT_ONCE, usual_processes
from gui.engine.dataset.doctor import CACHE_FOLDER
from gui.engine.dataset.image_cache import ImageCache
from gui.engine.dataset.listing import list_folder
from gui.engine.dataset.pairing import stem_of
from gui.engine.dataset.scan import FolderToScan, Scan
from gui.engine.dataset.spec import DatasetSpec
from gui.engine.documents import reason_of
from gui.engine.errors import Cancelled, CannotRead, CannotWrite, RunRefused
from gui.engine.paths import Home
from gui.engine.plan.model import LaunchSettings
from gui.engine.runs.captioning_job import (
    MADE,
    Captioning,
    CaptioningState,
    CaptionJob,
    JobImage,
    new_captioning,
)
from gui.engine.runs.processes import launch
from gui.engine.texts import _
from gui.engine.trainer.captioners import Captioner, CaptionerFacts, require_runnable, way_of
from gui.engine.trainer.installs import TrainerInstall
from gui.engine.trainer.launch_environment import added_variables, removed_variables
from gui.engine.trainer.values import Problem, words_for

WITHOUT = frozenset({"missing", "empty", "blank"})
"""What is wrong with a caption that says nothing."""

OWN = frozenset({"caption_extension", "caption_extention", "max_data_loader_n_workers", "recursive"})
"""Arguments that the program sets itself, or that would lead out of the scratch folder."""

WRITERS = frozenset({"output_path", "append_tags"})
"""Arguments with which captions would land elsewhere."""

LOOK_SECONDS = 0.2

Told = Callable[[int, int], None]


@dataclass(frozen=True)
class CaptionOrder:
    """What is wanted.

    Attributes:
        tagger: Name of the captioner.
        captioner: Which it is.
        options: Its arguments, where they are not to be its own.
        trigger: The word that each caption shall hold; empty for none.
        everything: Whether images that have captions are taken as well.
    """

    tagger: str
    captioner: Captioner
    options: Mapping[str, Any] = field(default_factory=dict)
    trigger: str = ""
    everything: bool = False


def images_to_caption(spec: DatasetSpec, *, everything: bool = False) -> list[tuple[Path, str, str]]:
    """Return folder, name and caption's extension of the images that have no caption.

    Regularisation images are left out; of images that share a caption the first is taken.

    Args:
        spec: The dataset.
        everything: Whether those that have one are taken as well.
    """
    found: dict[tuple[Path, str], tuple[Path, str, str]] = {}
    for subset in spec.subsets:
        if subset.is_reg or subset.captions is None:
            continue
        try:
            names = list_folder(subset.image_dir, subset.caption_extension, spec.suffixes).images
        except CannotRead:
            continue
        for name in names:
            caption = read_caption(subset.image_dir, name, subset.caption_extension)
            if everything or caption.fault in WITHOUT:
                key = (subset.image_dir, caption.name or stem_of(name))
                found.setdefault(key, (subset.image_dir, name, subset.caption_extension))
    return list(found.values())


def prepare_captioning(  # noqa: PLR0917 - all that it is made of
    home: Home,
    install: TrainerInstall,
    facts: CaptionerFacts,
    spec: DatasetSpec,
    order: CaptionOrder,
    told: Told = lambda _done, _total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Captioning:
    """Make the folder of a job: links to all images that can be read, and the command.

    Args:
        home: Where it is made.
        install: The trainer.
        facts: What it says about the captioner.
        spec: The dataset.
        order: What is wanted.
        told: Gets how many images were looked at, and how many there are.
        cancelled: Asked often; True ends it.

    Raises:
        RunRefused: Packages are missing, an option is wrong, or no image is without a caption.
        CannotWrite: The folder cannot be made.
        Cancelled: The caller asked for it.
    """
    require_runnable(install, order.captioner, facts)
    words = _words(order, facts, home, install)
    wanted = images_to_caption(spec, everything=order.everything)
    if not wanted:
        raise RunRefused(_("Every image has a caption."))
    readable, unreadable = _readable(home, wanted, told, cancelled)
    if not readable:
        raise RunRefused(_("None of the images without a caption can be read."))
    made = new_captioning(home)
    try:
        images = [_linked(made, number, *image) for number, image in enumerate(readable)]
        job = CaptionJob(
            tagger=order.tagger,
            argv=(str(install.python), order.captioner.script, str(made.images), *words),
            python=str(install.python),
            root=str(install.root),
            images=tuple(images),
            unreadable=tuple(unreadable),
            trigger=order.trigger.strip(),
            made=time.time(),
        )
        made.write(job)
    except BaseException:
        shutil.rmtree(made.folder, ignore_errors=True)
        raise
    return made


def _readable(
    home: Home, wanted: Iterable[tuple[Path, str, str]], told: Told, cancelled: Callable[[], bool]
) -> tuple[list[tuple[Path, str, str]], list[str]]:
    """Part images that can be decoded from those that would end the script."""
    by_folder: dict[Path, list[tuple[Path, str, str]]] = {}
    for image in wanted:
        by_folder.setdefault(image[0], []).append(image)
    folders = [FolderToScan(folder, [image[1] for image in images]) for folder, images in by_folder.items()]
    cache = ImageCache(home.cache / CACHE_FOLDER)
    count = sum(len(folder.names) for folder in folders)
    scan = Scan(folders, cache, min(usual_processes(), -(-count // AT_ONCE)))  # no idle ones for a few
    sound: set[tuple[Path, str]] = set()
    try:
        for batch in scan.batches():
            told(batch.progress.done, batch.progress.total)
            sound |= {
                (folders[each.place].folder, each.name) for each in batch.images if each.facts.fault is None
            }
            if cancelled():
                raise Cancelled
    finally:
        scan.cancel()
        cache.close()
    every = [image for images in by_folder.values() for image in images]
    left_out = [str(image[0] / image[1]) for image in every if image[:2] not in sound]
    return [image for image in every if image[:2] in sound], left_out


def _linked(made: Captioning, number: int, folder: Path, name: str, extension: str) -> JobImage:
    """Give an image a plain name in the scratch folder: names can hold what a script stumbles over.

    Raises:
        CannotWrite: It can be neither linked nor copied there.
    """
    link = f"{number:06}{os.path.splitext(name)[1].lower()}"  # noqa: PTH122 - a name
    _link(folder / name, made.images / link)
    return JobImage(folder=str(folder), name=name, extension=extension, link=link)


def _link(source: Path, link: Path) -> None:
    for way in (os.symlink, os.link):
        with contextlib.suppress(OSError, NotImplementedError):
            way(source, link)
            return
    try:
        shutil.copyfile(source, link)
    except OSError as error:
        raise CannotWrite(link, reason_of(error)) from error


def _words(order: CaptionOrder, facts: CaptionerFacts, home: Home, install: TrainerInstall) -> list[str]:
    """Return the argv words after the folder, judged as the script's own parser would.

    Raises:
        RunRefused: There is no such argument, or it cannot have that value.
    """
    captioner, known = order.captioner, facts.arguments(order.captioner)
    values: dict[str, Any] = {**captioner.arguments, **order.options, **way_of(captioner, facts).arguments}
    if captioner.models and captioner.models not in order.options:
        values[captioner.models] = str(_models(home, install, known.arguments[captioner.models].default))
    values |= {"caption_extension": MADE, "max_data_loader_n_workers": 0}
    words: list[str] = []
    for name, value in values.items():
        argument = known.find(name)
        refused = name in WRITERS or (name in OWN and name in order.options)
        if argument is None or refused:
            if name in order.options:
                raise RunRefused(
                    _("{script} cannot be given {name} here.").format(script=captioner.script, name=name)
                )
            continue  # another version of the script
        found = words_for(argument, value)
        if isinstance(found, Problem) and found.kind == "flag" and found.suggestions:
            found = words_for(argument, found.suggestions[0])  # a switch that was given as a word
        if isinstance(found, Problem):
            raise RunRefused(found.sentence)
        words += found.words
    return words


def _models(home: Home, install: TrainerInstall, default: Any) -> Path:
    """Return where weights are kept: where the trainer has some already, else in the home."""
    own = install.root / str(default or "models")
    return own if own.is_dir() else home.cache / "captioners" / "models"


def start_captioning(made: Captioning, tokens: Mapping[str, str] | None = None) -> None:
    """Start the script of a job that was prepared.

    Args:
        made: The job.
        tokens: Variable to token, for its environment.

    Raises:
        CannotLaunch: It could not be started.
        CannotRead: The folder is damaged.
    """
    job = made.job()
    added = added_variables(LaunchSettings(), (), tokens or {}, os.environ)
    removed = removed_variables(os.environ, added)
    environment = {name: value for name, value in os.environ.items() if name not in removed} | added
    environment["PYTHONPATH"] = job.root  # its folder finetune is no package that would find the library
    launch(
        job.argv,
        cwd=Path(job.root),
        env=environment,
        output_log=made.log,
        run_folder=made.folder,
        python=job.python,
    )


def follow_captioning(
    made: Captioning, told: Told = lambda _done, _total: None, cancelled: Callable[[], bool] = lambda: False
) -> CaptioningState:
    """Wait until a job is over; one that is cancelled keeps the captions that it has.

    Args:
        made: The job.
        told: Gets how many captions are made, and how many there are to be.
        cancelled: Asked often; True stops it.

    Raises:
        CannotRead: The folder is damaged.
    """
    state = made.state()
    while not state.over:
        told(state.done, state.total)
        if cancelled():
            made.stop()
        time.sleep(LOOK_SECONDS)
        state = made.state()
    told(state.done, state.total)
    return state
