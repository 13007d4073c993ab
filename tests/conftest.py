"""What every test may use: a home of its own, a look for leftovers, the real trainer, a pseudo-language."""

from __future__ import annotations

import os
import shutil
import signal
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from hypothesis import settings

from gui.engine.paths import HOME_VARIABLE, Home
from gui.engine.runs import neighbours
from gui.engine.runs.process_table import ProcessTable, process_table
from gui.engine.runs.process_tree import RUN_MARKER
from gui.engine.texts import use_language
from gui.engine.trainer.choosing import open_trainer
from gui.engine.trainer.installs import practice_install

if TYPE_CHECKING:
    from fake_nvml import FakeNvml

settings.register_profile("here", deadline=None, print_blob=True)
settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")

MARK_VARIABLE = "KOHYA_PREFLIGHT_TEST_MARK"
TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "WANDB_API_KEY")


@pytest.fixture(scope="session", autouse=True)
def _apart_from_this_person(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the person's own runs, tokens and language out of the tests, and the tests out of theirs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
        patch.setenv(HOME_VARIABLE, str(tmp_path_factory.mktemp("home")))
        patch.setenv("LANGUAGE", "en")
        for name in TOKENS:
            patch.delenv(name, raising=False)
        use_language("en")
        yield


class _OwnProcesses:
    """The processes of this machine; runs of others, and of tests beside these, are none of theirs."""

    def __init__(self, table: ProcessTable, place: Path) -> None:
        self._table = table
        self._place = place

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)

    def environment_value(self, pid: int, name: str) -> str | None:
        """Return a variable of a process; a run elsewhere counts as none."""
        value = self._table.environment_value(pid, name)
        elsewhere = name == RUN_MARKER and value and not Path(value).is_relative_to(self._place)
        return None if elsewhere else value


@pytest.fixture(scope="session", autouse=True)
def _apart_from_other_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep runs that others start at the same time, in tests beside these too, out of what checks find."""
    place = tmp_path_factory.getbasetemp()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "process_table", lambda: _OwnProcesses(process_table(), place))
        yield


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c_is_heard() -> Iterator[None]:
    """Hear Ctrl-C also where the tests were started in the background, which has it ignored.

    Children inherit that, and there are tests of what Ctrl-C does to them.
    """
    before = signal.getsignal(signal.SIGINT)
    if before == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    if before == signal.SIG_IGN:
        signal.signal(signal.SIGINT, before)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Return a home below ``tmp_path`` that this process and its children use."""
    root = tmp_path / "home of this test"
    monkeypatch.setenv(HOME_VARIABLE, str(root))
    return Home(root)


@pytest.fixture(scope="session")
def asked_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Return a home that knows the practice trainer: asking it takes seconds, and once is enough."""
    asked = Home(tmp_path_factory.mktemp("asked"))
    open_trainer(asked, practice_install())
    return asked


@pytest.fixture
def practice_is_known(home: Home, asked_home: Home) -> None:
    """Let the home of this test know the practice trainer already."""
    shutil.copytree(asked_home.cache, home.cache)


@pytest.fixture
def keyring_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let this process and its children use a keyring whose entries lie in a file; return the file."""
    import file_keyring
    import keyring

    before = keyring.get_keyring()
    place = tmp_path / "keyring of this test.json"
    helpers = str(Path(__file__).parent / "run_helpers")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (helpers, os.environ.get("PYTHONPATH")))))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "file_keyring.FileKeyring")
    monkeypatch.setenv(file_keyring.PLACE, str(place))
    keyring.set_keyring(file_keyring.FileKeyring())
    yield place
    keyring.set_keyring(before)


@pytest.fixture
def no_leftovers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], list[str]]]:
    """Fail the test when a process that it began still lives five seconds after its end.

    A process is the test's own when it inherited this test's mark, or names ``tmp_path`` in its
    command line or as its working folder. What is left is killed, so that the next test is not harmed.

    Returns:
        A function that describes the processes alive now, for looks in the middle of a test.
    """
    mark = uuid.uuid4().hex
    monkeypatch.setenv(MARK_VARIABLE, mark)

    def alive() -> list[str]:
        return [_describe(process) for process in _own_processes(mark, tmp_path)]

    yield alive
    deadline = time.monotonic() + 5
    while (left := _own_processes(mark, tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.05)
    told = [_describe(process) for process in left]
    for process in left:
        process.kill()
    psutil.wait_procs(left, timeout=5)
    assert not told, "left alive: " + "; ".join(told)


def _own_processes(mark: str, folder: Path) -> list[psutil.Process]:
    return [
        each for each in psutil.process_iter() if each.pid != os.getpid() and _is_own(each, mark, str(folder))
    ]


def _is_own(process: psutil.Process, mark: str, folder: str) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return (
            process.environ().get(MARK_VARIABLE) == mark
            or any(folder in word for word in process.cmdline())
            or process.cwd().startswith(folder)
        )
    except (psutil.Error, OSError):
        return False


def _describe(process: psutil.Process) -> str:
    try:
        return f"{process.pid} {' '.join(process.cmdline())}"
    except psutil.Error:
        return str(process.pid)


@dataclass(frozen=True)
class RealTrainer:
    """A real sd-scripts on this machine and small inputs for it.

    Attributes:
        root: The checkout.
        python: Its interpreter.
        inputs: Holds ``sd15-random.safetensors``, ``tokenizers/`` and ``images/``.
    """

    root: Path
    python: Path
    inputs: Path


REAL_TRAINER_VARIABLES = {
    "KOHYA_PREFLIGHT_SD_SCRIPTS": "the sd-scripts checkout",
    "KOHYA_PREFLIGHT_TRAINER_PYTHON": "its interpreter",
    "KOHYA_PREFLIGHT_TRAINER_INPUTS": "a folder with a small model, tokenizers and images",
}


@pytest.fixture(scope="session")
def real_trainer() -> RealTrainer:
    """Return the real trainer that the environment names; skip, saying what is missing, without one."""
    for name, meaning in REAL_TRAINER_VARIABLES.items():
        value = os.environ.get(name)
        if not value:
            pytest.skip(f"no real trainer: {name} is not set ({meaning})")
        if not Path(value).exists():
            pytest.skip(f"no real trainer: {name} names {value}, which is not there ({meaning})")
    root, python, inputs = (Path(os.environ[name]) for name in REAL_TRAINER_VARIABLES)
    return RealTrainer(root, python, inputs)


@pytest.fixture(scope="session")
def nvml_libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the stand-ins for NVIDIA's library: ``new`` and ``old`` driver; skip where none can be built."""
    import fake_nvml

    reason = fake_nvml.why_not()
    if reason:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("nvml")
    return {name: fake_nvml.build(folder / name, old_driver=name == "old") for name in ("new", "old")}


@pytest.fixture
def fake_gpus(nvml_libraries: dict[str, Path], tmp_path: Path) -> FakeNvml:
    """Return GPUs for child processes: start them with its ``environment()``."""
    from fake_nvml import FakeNvml

    return FakeNvml(nvml_libraries["new"], tmp_path / "nvml.state")


@pytest.fixture(scope="session")
def pseudo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a translations folder with the pseudo-language, compiled from the sentences of now."""
    from translations import make_pseudo_language

    folder = tmp_path_factory.mktemp("translations")
    make_pseudo_language(folder)
    return folder


@pytest.fixture
def pseudo_language(pseudo_folder: Path) -> Iterator[str]:
    """Speak the pseudo-language in this process: half as much text again, ending in dots."""
    from translations import PSEUDO_LANGUAGE

    use_language(PSEUDO_LANGUAGE, pseudo_folder)
    yield PSEUDO_LANGUAGE
    use_language("en")
