"""One time that captions are made: its folder, which images, and how far it is.

The folder can be read without the program, and outlives whoever started it: captions that were made are not
lost when the window or the terminal is closed before they are written.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from gui.engine.dataset.journal import read_journal, write_journal
from gui.engine.documents import Document, reason_of
from gui.engine.errors import CannotRead, CannotWrite
from gui.engine.paths import Home
from gui.engine.runs.processes import ExitRecord, Tree, read_exit, read_launched, tree_of
from gui.engine.texts import _

JOB, IMAGES, LOG = "captioning.json", "images", "output.log"
MADE = ".txt"
"""How the captions end that the trainer's script writes into the scratch folder."""


class JobImage(Document):
    """One image.

    Attributes:
        folder: Where it lies.
        name: Its file name.
        extension: Of its caption, with the dot.
        link: What it is called in the scratch folder.
    """

    folder: str
    name: str
    extension: str
    link: str


class CaptionJob(Document):
    """What was asked for: ``captioning.json``.

    Attributes:
        tagger: Name of the captioner.
        argv: The command.
        python: Whose interpreter it is.
        root: The trainer's folder, in which it runs.
        images: Which; all that can be read.
        unreadable: Images that were left out since they cannot be decoded.
        trigger: The word that each caption shall hold; empty for none.
        made: Seconds since 1970.
    """

    schema_: int = Field(default=1, alias="schema")
    tagger: str
    argv: tuple[str, ...]
    python: str
    root: str
    images: tuple[JobImage, ...]
    unreadable: tuple[str, ...] = ()
    trigger: str = ""
    made: float = 0.0


@dataclass(frozen=True)
class CaptioningState:
    """How far it is.

    Attributes:
        done: Captions that are made.
        total: Images.
        alive: Whether anything of it runs.
        ended: How it ended; None before that, or when its launcher was killed.
    """

    done: int
    total: int
    alive: bool
    ended: ExitRecord | None

    @property
    def over(self) -> bool:
        """Whether there will be no more captions."""
        return not self.alive

    @property
    def failed(self) -> bool:
        """Whether it ended otherwise than it should."""
        return self.over and (self.ended is None or self.ended.status != 0)


class Captioning:
    """The folder of one job.

    Args:
        folder: Where; ``prepare_captioning`` makes it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.images = folder / IMAGES
        self.log = folder / LOG

    def job(self) -> CaptionJob:
        """Return what was asked for.

        Raises:
            CannotRead: It is no such folder, or damaged.
        """
        job = read_journal(self.folder / JOB, CaptionJob)
        if job is None:
            raise CannotRead(self.folder, _("it is no folder of captions that were made"))
        return job

    def write(self, job: CaptionJob) -> None:
        """Note what is asked for.

        Raises:
            CannotWrite: It cannot be written.
        """
        write_journal(self.folder / JOB, job)

    @property
    def tree(self) -> Tree:
        """Its processes."""
        return tree_of(self.folder)

    def state(self) -> CaptioningState:
        """Return how far it is.

        Raises:
            CannotRead: The folder is damaged.
        """
        images = self.job().images
        done = sum((self.images / image.link).with_suffix(MADE).is_file() for image in images)
        alive = read_launched(self.folder) is not None and bool(self.tree.alive())
        return CaptioningState(done, len(images), alive=alive, ended=read_exit(self.folder))

    def stop(self) -> None:
        """End all of its processes; captions that were made stay."""
        self.tree.stop()

    def discard(self) -> None:
        """Stop it and remove its folder; nothing of the user's is in it. Another window may have been first.

        Raises:
            CannotWrite: It cannot be removed.
        """
        self.stop()
        try:
            shutil.rmtree(self.folder)
        except FileNotFoundError:
            return
        except OSError as error:
            raise CannotWrite(self.folder, reason_of(error)) from error


def new_captioning(home: Home) -> Captioning:
    """Make an empty folder.

    Raises:
        CannotWrite: It cannot be made.
    """
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for number in range(1, 1000):
        folder = home.captioning / (stamp if number == 1 else f"{stamp}-{number}")
        try:
            (folder / IMAGES).mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise CannotWrite(folder, reason_of(error)) from error
        return Captioning(folder)
    raise CannotWrite(home.captioning, _("there are too many folders of captions that were made"))


def unwritten(home: Home) -> Iterator[Captioning]:
    """Yield the jobs whose captions were neither written nor thrown away, newest first."""
    folders = sorted(home.captioning.glob(f"*/{JOB}"), reverse=True)
    yield from (Captioning(file.parent) for file in folders)
