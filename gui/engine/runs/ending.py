"""All that is known about a run when it is over, before it is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gui.engine.runs.events import StopReason
from gui.engine.runs.final_file import FinalFile
from gui.engine.runs.status import Cause, FileNow
from gui.engine.trainer.output.tally import Tally


@dataclass(frozen=True)
class Ending:
    """All that is known when nothing of the trainer is alive any more.

    Attributes:
        tally: What the output said.
        exit_status: Of the trainer's command, None when nobody could see it.
        final: The last file; None where the run has no name for it.
        stop: Who wanted the run stopped, None when nobody did.
        not_started: Why the trainer never ran, in plain words; empty when it did.
        rebooted: Whether the machine was restarted while it ran.
        disk_full: The folder whose disk was full, None when there was room.
        resumed: Whether it goes on from a saved state, which ends by epochs and so with fewer steps.
        begun_at: Steps of the whole training that were done before, where that is known.
        whole: Steps of the whole training, likewise.
        recovered: Whether the steps' own losses became finite again.
        files: Models and states that it wrote, judged.
        causes: What the diagnosis says.
        last_words: The last that the trainer said.
    """

    tally: Tally
    exit_status: int | None = None
    final: FinalFile | None = None
    stop: StopReason | None = None
    not_started: str = ""
    rebooted: bool = False
    disk_full: str | None = None
    resumed: bool = False
    begun_at: int | None = None
    whole: int | None = None
    recovered: bool = False
    files: Sequence[FileNow] = ()
    causes: tuple[Cause, ...] = ()
    last_words: str = ""

    @property
    def total(self) -> int | None:
        """How many steps the run was to do: of a resumed one the bar expects too many."""
        if self.begun_at is None or self.whole is None:
            return self.tally.total
        return self.whole - self.begun_at
