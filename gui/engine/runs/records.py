"""The documents of a run folder that are written once or seldom, and how documents are versioned."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Self

from pydantic import ConfigDict, Field, ValidationError

from gui.engine.documents import Document, read_json, write_atomically
from gui.engine.errors import CannotRead, NewerDocument
from gui.engine.hardware.memory.observations import MemoryExpectation
from gui.engine.preferences import NonfinitePolicy
from gui.engine.runs.rehearsal_result import RehearsalOrder
from gui.engine.texts import _
from gui.engine.trainer.saved_state import StateNumbers

SCHEMA = 1


class Versioned(Document):
    """A document that says which format it has, so that an older program can say so and stop.

    Attributes:
        schema_: The format's number; ``schema`` in the file.
    """

    model_config = ConfigDict(populate_by_name=True)

    schema_: int = Field(default=SCHEMA, alias="schema")

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read and judge the document.

        Raises:
            CannotRead: It is missing, broken, or of another kind.
            NewerDocument: A newer version of this program wrote it.
        """
        value = read_json(path)
        refuse_newer(path, value)
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            first = error.errors()[0]
            at = ".".join(str(part) for part in first["loc"])
            reason = _("{field}: {problem}").format(field=at, problem=first["msg"])
            raise CannotRead(path, reason) from error

    def write(self, path: Path, *, durable: bool = True) -> None:
        """Replace the file by this document.

        Args:
            path: The file.
            durable: Whether it must survive a power cut; what is written twice a second need not.

        Raises:
            CannotWrite: The disk is full, or the folder cannot be written.
        """
        write_atomically(path, self.model_dump_json(by_alias=True, indent=1) + "\n", durable=durable)


def refuse_newer(path: Path, value: Any) -> None:
    """Check the format's number of a document.

    Raises:
        CannotRead: It has none.
        NewerDocument: It is newer than this program.
    """
    schema = value.get("schema") if isinstance(value, dict) else None
    if not isinstance(schema, int):
        raise CannotRead(path, _("it does not say which format it has"))
    if schema > SCHEMA:
        raise NewerDocument(path, schema, SCHEMA)


class FileMark(Document):
    """What tells a file from another one that later bears its name, whatever the clock says.

    Attributes:
        path: The file, absolute.
        size: Bytes.
        inode: The file system's number; 0 where there is none.
        mtime_ns: Time of the last change; only compared for being the same, never for being later.
    """

    path: Path
    size: int
    inode: int
    mtime_ns: int


def mark_of(path: Path) -> FileMark | None:
    """Return the mark of a file or folder, None where there is none."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return FileMark(path=path, size=facts.st_size, inode=facts.st_ino, mtime_ns=facts.st_mtime_ns)


class BaseModelFile(Document):
    """The base model that the run starts from.

    Attributes:
        path: As the plan names it, made absolute where it is a file.
        size: Bytes; None where it is not a local file.
        sha256: Worked out while the run trains; None until then.
    """

    path: str
    size: int | None = None
    sha256: str | None = None


class CommandRecord(Versioned):
    """The trainer's command without its tokens, and where its work will lie: ``command.json``.

    Attributes:
        argv: Its words.
        cwd: Where it runs.
        environment: What is added to the environment.
        unset: What is taken out of it.
        python: The trainer's interpreter.
        script: The training script.
        output_dir: Where models and states are written; None where the plan names no place.
        output_name: What their names begin with.
        logging_dir: Where the tracker writes.
        tracker: Whether it writes event files that can be read.
        expected_final: The last file, as far as the arguments tell.
        save_state: Whether a state follows each model.
        resumed: Whether the training goes on from a state.
        wrapped: Whether another program (accelerate) starts the script.
        note: Says what was left out, and that output.log is not cleaned.
    """

    argv: tuple[str, ...]
    cwd: Path
    environment: dict[str, str] = Field(default_factory=dict)
    unset: tuple[str, ...] = ()
    python: str
    script: str = ""
    output_dir: Path | None = None
    output_name: str | None = None
    logging_dir: Path | None = None
    tracker: bool = False
    expected_final: Path | None = None
    save_state: bool = False
    resumed: bool = False
    wrapped: bool = False
    note: str = ""


class LaunchOrder(Document):
    """What the first supervisor of a run is told to start; it comes through a pipe, tokens and all.

    Attributes:
        argv: The trainer's words.
        cwd: Where it runs.
        environment: Its whole environment.
        python: The interpreter that runs the launcher.
        measure_memory: Whether the memory hook goes along (``runs.memory_hook``).
    """

    argv: tuple[str, ...]
    cwd: Path
    environment: dict[str, str]
    python: str
    measure_memory: bool = False


class RetryRecord(Document):
    """How many tries may follow a run by themselves.

    Attributes:
        left: When the GPU's memory runs out.
        recoveries: When it is stopped because its loss is no number.
    """

    model_config = ConfigDict(extra="ignore")
    """Earlier versions noted here what ``follows`` says now."""

    left: int = 0
    recoveries: int = 0


class FollowedRun(Document):
    """Which run this one goes on from or tries again.

    Attributes:
        run: Its name.
        way: The try's id; ``try`` in the file.
        changes: What is different in this one's plan: target to value.
        by_itself: Whether nobody asked for this try but the plan's own word.
    """

    run: str
    way: str = Field(default="", alias="try")
    changes: dict[str, Any] = Field(default_factory=dict)
    by_itself: bool = False

    model_config = ConfigDict(populate_by_name=True)


class Manifest(Versioned):
    """What the run was made of, so that it can be understood and repeated.

    Attributes:
        program: Version of this program.
        practice: Whether the practice trainer runs.
        plan_name: The plan's name.
        guard: What happens when the loss is not finite.
        created_at: Seconds since 1970 at which it was made, to tell its tracker's files from others'.
        created: Local time of day with its offset, for reading only.
        plan_file: Where the plan came from.
        presets: The plan's layers.
        base_model: See there.
        trainer: The install's folder.
        trainer_python: Its interpreter.
        trainer_commit: Its commit, where it is a checkout.
        trainer_version: Its version.
        python_version: Of its interpreter.
        torch: Version of its torch.
        cuda: The CUDA build of its torch.
        driver: Version of the NVIDIA driver.
        gpus: Names of the GPUs that the trainer sees.
        measures_memory: Whether the memory hook went along.
        memory: What the run was expected to need of the GPU's memory; None when that was not known.
        rehearsal: What it stands for, where it is a rehearsal and no run.
        retry: How many tries may follow it by themselves.
        follows: The run that it goes on from, where it does.
        queue_item: The number that it had in the queue; None where it was launched by hand.
        accepted: Ids of the dangers that the user said yes to.
        existing: Files of the names that this run will write, as they were before launch.
        overwrites: Those of them that the run will write over, by name.
        resumed_from: What the state that it goes on from told; None without one, or where it was not here.
    """

    program: str
    practice: bool = False
    plan_name: str = ""
    guard: NonfinitePolicy = "stop"
    created_at: float = 0.0
    created: str = ""
    plan_file: str | None = None
    presets: tuple[str, ...] = ()
    base_model: BaseModelFile | None = None
    trainer: str = ""
    trainer_python: str = ""
    trainer_commit: str | None = None
    trainer_version: str | None = None
    python_version: str | None = None
    torch: str | None = None
    cuda: str | None = None
    driver: str | None = None
    gpus: tuple[str, ...] = ()
    measures_memory: bool = False
    memory: MemoryExpectation | None = None
    rehearsal: RehearsalOrder | None = None
    retry: RetryRecord = RetryRecord()
    follows: FollowedRun | None = None
    queue_item: int | None = None
    accepted: tuple[str, ...] = ()
    existing: tuple[FileMark, ...] = ()
    overwrites: tuple[str, ...] = ()
    resumed_from: StateNumbers | None = None


def local_time() -> str:
    """Return the time of day for people to read; nothing is computed from it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")
