"""Launching, finding, pausing and stopping real processes."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from gui.engine.errors import CannotLaunch, CannotRead
from gui.engine.resources import resource_path
from gui.engine.runs import process_table as table_module
from gui.engine.runs.launching import too_long_for_windows
from gui.engine.runs.process_memory import SharedMemory
from gui.engine.runs.process_table import LinuxTable, ProcessRow, PsutilTable, process_table
from gui.engine.runs.processes import (
    RUN_MARKER,
    ExitRecord,
    Launched,
    ProcessId,
    StopSteps,
    Tree,
    boot_id,
    boottime,
    identify,
    launch,
    read_exit,
    read_launched,
    tree_of,
)

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and signals")

SLEEPER = "import time; time.sleep(600)"
DEAF = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    "print('deaf', flush=True); time.sleep(600)"
)
FAMILY = """
import os, subprocess, sys, time
sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
workers = [subprocess.Popen(sleeper) for _ in range(2)]           # loader workers
subprocess.Popen(sleeper, start_new_session=True)                 # torchrun does this
if os.fork() == 0:                                                # a daemon: own session, no parent
    os.setsid()
    if os.fork() == 0:
        os.execv(sys.executable, sleeper)
    os._exit(0)
os.wait()
print("ready", flush=True)
time.sleep(600)
"""
FAMILY_SIZE = 5


def wait_for(fact: Callable[[], object], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < deadline, "what was waited for did not happen"
        time.sleep(0.02)


class Bench:
    """One run folder, and whatever was started in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "run ☃ 'one'"
        self.folder.mkdir()
        self.output = self.folder / "output.log"

    def launch(self, *words: str, env: dict[str, str] | None = None, **more: object) -> Launched:
        return launch(
            words,
            cwd=more.pop("cwd", self.folder),  # type: ignore[arg-type]
            # Without coverage: what is killed in the middle would leave half a data file.
            env={k: v for k, v in os.environ.items() if not k.startswith("COVERAGE_")} | (env or {}),
            output_log=self.output,
            run_folder=self.folder,
            python=more.pop("python", sys.executable),  # type: ignore[arg-type]
            **more,  # type: ignore[arg-type]
        )

    def python(self, code: str, *words: str, **more: object) -> Launched:
        return self.launch(sys.executable, "-c", code, *words, **more)  # type: ignore[arg-type]

    def text(self) -> str:
        return self.output.read_text("utf-8", "replace") if self.output.exists() else ""

    def ended(self) -> ExitRecord:
        wait_for(lambda: read_exit(self.folder))
        record = read_exit(self.folder)
        assert record is not None
        return record


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    tree_of(bench.folder).stop(StopSteps(grace_seconds=0.0))


def test_that_the_exit_status_and_both_streams_are_kept(bench: Bench) -> None:
    before = boottime()
    launched = bench.python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)")
    record = bench.ended()
    assert record.status == 7
    assert record.reason is None
    assert record.sentence() is None
    assert before <= launched.started_boottime == record.started_boottime <= record.ended_boottime
    assert record.boot_id == boot_id()
    assert sorted(bench.text().split()) == ["err", "out"]


def test_that_output_is_appended_to_what_is_there(bench: Bench) -> None:
    bench.output.write_text("before\n")
    bench.python("print('after')")
    bench.ended()
    assert bench.text().split() == ["before", "after"]


def test_that_every_word_of_the_command_arrives_as_it_is(bench: Bench) -> None:
    words = ["", " ", "한글 ☃", "quote'\"`$HOME", "-leading", "\\back\\", "new\nline", "x" * 100_000]
    if sys.platform == "linux":
        words.append(os.fsdecode(b"\xff\xfe"))
    code = "import sys; print([w.encode('utf-8', 'surrogateescape').hex() for w in sys.argv[1:]])"
    bench.python(code, *words)
    bench.ended()
    assert bench.text().strip() == repr([w.encode("utf-8", "surrogateescape").hex() for w in words])


def test_that_the_trainer_reads_nothing_and_knows_its_folder_environment_and_run(bench: Bench) -> None:
    code = (
        "import os, sys; print(repr((sys.stdin.read(), os.getcwd(), os.environ['X'], os.environ['RUN_']))) "
    )
    bench.python(code.replace("RUN_", RUN_MARKER), env={"X": "ü"})
    bench.ended()
    assert bench.text().strip() == repr(("", str(bench.folder), "ü", str(bench.folder)))


def test_that_no_secret_stands_in_a_command_line_or_file(bench: Bench) -> None:
    launched = bench.python(SLEEPER, env={"HF_TOKEN": "hf_secretsecretsecret"})
    for process in (launched.launcher, launched.trainer):
        if sys.platform == "linux":
            assert b"hf_secret" not in Path(f"/proc/{process.pid}/cmdline").read_bytes()
    assert all(b"hf_secret" not in file.read_bytes() for file in bench.folder.iterdir())


@linux
def test_that_launcher_and_trainer_lead_sessions_of_their_own(bench: Bench) -> None:
    launched = bench.python(SLEEPER)
    assert os.getsid(launched.launcher.pid) == launched.launcher.pid
    assert os.getsid(launched.trainer.pid) == os.getpgid(launched.trainer.pid) == launched.trainer.pid
    assert launched.group == launched.trainer.pid


@linux
def test_that_ignored_and_blocked_signals_are_not_handed_down(bench: Bench) -> None:
    code = """
import signal
kept = [s.name for s in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}
        if isinstance(s, signal.Signals) and signal.getsignal(s) is signal.SIG_IGN]
print(kept, signal.pthread_sigmask(signal.SIG_BLOCK, ()), signal.getsignal(signal.SIGINT).__name__)
"""
    ignored = (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD, signal.SIGTERM)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in ignored if number != signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGTERM})
    try:
        bench.python(code)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1, signal.SIGTERM})
        for number, handler in before.items():
            signal.signal(number, handler)
    assert bench.ended().status == 0
    assert bench.text().strip() == "[] set() default_int_handler"


@linux
def test_that_the_launcher_outlives_the_signals_that_end_others(bench: Bench) -> None:
    launched = bench.python("import time; time.sleep(1.5); print('done')")
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT):
        os.kill(launched.launcher.pid, number)
    assert bench.ended().status == 0
    assert "done" in bench.text()


@linux
def test_that_the_signal_that_ended_the_trainer_is_its_status(bench: Bench) -> None:
    launched = bench.python(SLEEPER)
    os.kill(launched.trainer.pid, signal.SIGKILL)
    assert bench.ended().status == -9
    assert not launched.trainer.alive()


@linux
def test_that_a_trainer_whose_launcher_was_killed_trains_on_and_is_found(bench: Bench) -> None:
    code = "import time\nfor n in range(400):\n    print(n, flush=True)\n    time.sleep(0.05)"
    launched = bench.python(code)
    os.kill(launched.launcher.pid, signal.SIGKILL)
    wait_for(lambda: not launched.launcher.alive())
    seen = bench.text()
    wait_for(lambda: len(bench.text()) > len(seen))
    tree = tree_of(bench.folder)
    assert tree.alive()
    assert [row.pid for row in tree.members()] == [launched.trainer.pid]
    assert tree.stop().complete
    assert read_exit(bench.folder) is None
    assert not tree.alive()


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("/nowhere/at all/python", "not-found"),
        ("{folder}", "not-permitted"),
        ("{folder}/not executable", "not-permitted"),
        ("{folder}/no program", "not-a-program"),
    ],
)
@linux
def test_that_a_program_that_cannot_be_started_is_told_in_one_sentence(
    bench: Bench, program: str, reason: str
) -> None:
    (bench.folder / "not executable").write_bytes(b"")
    broken = bench.folder / "no program"
    broken.write_bytes(b"\x00\x01\x02")
    broken.chmod(0o755)
    with pytest.raises(CannotLaunch) as caught:
        bench.launch(program.format(folder=bench.folder), "x")
    record = read_exit(bench.folder)
    assert record is not None
    assert record.reason == reason
    assert record.status is None
    assert record.sentence() in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not tree_of(bench.folder).alive()


@linux
def test_that_a_command_that_is_too_long_is_told(bench: Bench) -> None:
    with pytest.raises(CannotLaunch, match="longer than this system allows"):
        bench.python("pass", "x" * 200_000)


def test_that_windows_takes_32766_characters_with_their_quotes() -> None:
    assert not too_long_for_windows(["x" * 16_382, "y" * 16_383])
    assert too_long_for_windows(["x" * 16_382, "y" * 16_384])
    assert too_long_for_windows(["x y" * 10_922])


def test_that_a_missing_working_folder_is_told(bench: Bench) -> None:
    with pytest.raises(CannotLaunch, match="does not exist"):
        bench.python("pass", cwd=bench.folder / "gone")


@linux
def test_that_an_unwritable_log_is_told(bench: Bench) -> None:
    with pytest.raises(CannotLaunch, match="full"):
        launch(
            [sys.executable, "-c", "pass"],
            cwd=bench.folder,
            env=os.environ,
            output_log=Path("/dev/full"),
            run_folder=_full_folder(bench),
            python=sys.executable,
        )


def _full_folder(bench: Bench) -> Path:
    """A run folder in which the launcher's second note finds no room."""
    (bench.folder / ".launcher.json.reserved").symlink_to("/dev/full")
    return bench.folder


def test_that_a_null_in_a_word_is_told(bench: Bench) -> None:
    with pytest.raises(CannotLaunch, match="null"):
        bench.python("pass", "a\0b")


def test_that_a_missing_interpreter_is_told(bench: Bench) -> None:
    with pytest.raises(CannotLaunch, match="does not run"):
        bench.python("pass", python=bench.folder / "no python")


@linux
def test_that_an_interpreter_that_may_not_be_run_is_told(bench: Bench) -> None:
    forbidden = bench.folder / "python"
    forbidden.write_bytes(b"")
    with pytest.raises(CannotLaunch, match=r"(?i)permission denied"):
        bench.python("pass", python=forbidden)


@linux
def test_that_an_interpreter_that_fails_is_told_and_its_words_are_in_the_log(bench: Bench) -> None:
    broken = bench.folder / "python"
    broken.write_text("#!/bin/sh\necho 'libpython is missing' >&2\nexit 127\n")
    broken.chmod(0o755)
    with pytest.raises(CannotLaunch, match=r"output\.log"):
        bench.python("pass", python=broken)
    assert "libpython is missing" in bench.text()


@linux
def test_that_an_interpreter_that_hangs_is_ended(bench: Bench) -> None:
    hanging = bench.folder / "python"
    hanging.write_text("#!/bin/sh\nexec sleep 600\n")
    hanging.chmod(0o755)
    with pytest.raises(CannotLaunch):
        bench.python("pass", python=hanging, patience_seconds=0.3)
    assert not Tree(bench.folder).alive()


@linux
def test_that_a_launcher_whose_job_is_cut_short_starts_nothing(bench: Bench) -> None:
    words = [sys.executable, "-I", "-S", resource_path("launcher", "launcher.py")]
    done = subprocess.run(words, input=b'{"command": ["tou', timeout=60, check=False)
    assert done.returncode == 2


def test_that_the_launcher_is_written_for_the_pythons_of_old_trainers() -> None:
    text = resource_path("launcher", "launcher.py").read_text("utf-8")
    tree = ast.parse(text, feature_version=(3, 8))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        )
    }
    assert imported <= sys.stdlib_module_names


def test_that_damaged_notes_are_told(tmp_path: Path) -> None:
    (tmp_path / "exit.json").write_text('{"schema": 1, "status": "nine"}')
    (tmp_path / "launcher.json").write_text("[]")
    with pytest.raises(CannotRead):
        read_exit(tmp_path)
    with pytest.raises(CannotRead):
        read_launched(tmp_path)
    assert not tree_of(tmp_path).alive()


def test_that_a_process_is_known_by_boot_and_start_and_not_by_its_pid() -> None:
    me = identify(os.getpid())
    assert me is not None
    assert me.start_ticks is not None
    assert me.alive()
    assert not me.model_copy(update={"start_ticks": me.start_ticks - 100_000}).alive()
    assert not me.model_copy(update={"boot_id": "another boot"}).alive()
    assert me.model_copy(update={"start_ticks": None}).alive()
    assert identify(2**22 + 1) is None


def test_that_a_system_without_boot_ids_has_an_empty_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(table_module, "PROC", tmp_path)
    assert boot_id() == ""


@linux
def test_that_a_zombie_is_dead() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    process = identify(child.pid)
    assert process is not None
    assert process.alive()
    assert child.stdin is not None
    child.stdin.close()
    wait_for(lambda: not process.alive())
    assert Path(f"/proc/{child.pid}").exists(), "not reaped yet, so it is a zombie"
    assert PsutilTable().row(child.pid) is None
    child.wait()


@linux
def test_that_a_leader_whose_other_threads_work_on_lives() -> None:
    code = (
        "import ctypes, threading, time\n"
        "threading.Thread(target=time.sleep, args=(600,)).start()\n"
        "print(1, flush=True)\n"
        "ctypes.CDLL(None).pthread_exit(None)"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None
        child.stdout.readline()
        stat = Path(f"/proc/{child.pid}/stat")
        wait_for(lambda: stat.read_bytes().rpartition(b")")[2].split()[0] == b"Z")
        process = identify(child.pid)
        assert process is not None
        assert process.alive()
    finally:
        child.kill()
        child.communicate()


@linux
def test_that_both_tables_agree_on_this_process() -> None:
    one, other = LinuxTable().row(os.getpid()), PsutilTable().row(os.getpid())
    assert one is not None
    assert other is not None
    assert (one.pid, one.parent, one.state) == (other.pid, other.parent, other.state)
    assert os.getpid() in {row.pid for row in PsutilTable().rows()}
    assert isinstance(process_table(), LinuxTable)
    for table in (LinuxTable(), PsutilTable()):
        assert table.environment_has(os.getpid(), "PATH", os.environ["PATH"])
        assert not table.environment_has(2**22 + 1, "PATH", "")
        assert table.row(2**22 + 1) is None
        assert table.proportional_bytes(2**22 + 1) is None
        assert (table.proportional_bytes(os.getpid()) or 0) > 1_000_000


@linux
@pytest.mark.parametrize("table", [LinuxTable(), PsutilTable()])
def test_that_a_later_user_of_a_pid_is_not_hit(table: LinuxTable | PsutilTable) -> None:
    child = subprocess.Popen([sys.executable, "-c", SLEEPER])
    row = table.row(child.pid)
    assert row is not None
    earlier = type(row)(**{name: getattr(row, name) for name in row.__slots__} | {"start": row.start - 7})
    table.act(earlier, "kill")
    time.sleep(0.1)
    assert child.poll() is None
    table.act(row, "kill")
    assert child.wait() == -9
    table.act(row, "kill")


@linux
@pytest.mark.parametrize("lack", ["kernel", "python"])
def test_that_a_signal_is_sent_without_pidfds_too(monkeypatch: pytest.MonkeyPatch, lack: str) -> None:
    def refuse(pid: int) -> int:
        raise OSError(38, "not implemented")

    if lack == "kernel":
        monkeypatch.setattr(os, "pidfd_open", refuse, raising=False)
    else:
        monkeypatch.delattr(os, "pidfd_open", raising=False)
    child = subprocess.Popen([sys.executable, "-c", SLEEPER])
    row = LinuxTable().row(child.pid)
    assert row is not None
    LinuxTable().act(row, "kill")
    assert child.wait() == -9


@linux
def test_that_a_process_without_an_environment_yet_is_asked_again(bench: Bench) -> None:
    class Starting(LinuxTable):
        answers: ClassVar[list[bool | None]] = [None, True]

        def environment_has(self, pid: int, name: str, value: str) -> bool | None:
            return self.answers.pop(0) if pid == child.pid else False

    child = subprocess.Popen([sys.executable, "-c", SLEEPER], env={})
    try:
        assert LinuxTable().environment_has(child.pid, "A", "b") is None
        assert PsutilTable().environment_has(child.pid, "A", "b") is None
        tree = Tree(bench.folder, table=Starting())
        assert tree.members() == []
        assert [row.pid for row in tree.members()] == [child.pid]
    finally:
        child.kill()
        child.wait()


@linux
def test_that_threads_of_the_kernel_are_nobodys_processes() -> None:
    kernel = Path("/proc/2/stat")
    if not kernel.exists() or b"(kthreadd)" not in kernel.read_bytes():
        pytest.skip("no threads of the kernel are seen here, as in a container")
    assert LinuxTable().row(2) is None
    assert 2 not in {row.parent for row in LinuxTable().rows()}


@linux
@pytest.mark.parametrize("kind", ["proc", "psutil"])
def test_that_workers_escapees_and_daemons_are_found_and_stopped(bench: Bench, kind: str) -> None:
    launched = bench.python(FAMILY)
    wait_for(lambda: "ready" in bench.text())
    table = LinuxTable() if kind == "proc" else PsutilTable()
    tree = Tree(bench.folder, launched.launcher, launched.trainer, table=table)
    wait_for(lambda: len(tree.members()) == FAMILY_SIZE + 1)
    members = [identify(row.pid) for row in tree.members()]
    assert len({os.getsid(row.pid) for row in tree.members()}) == 4
    assert tree.memory().processes == FAMILY_SIZE + 1
    report = tree.stop()
    assert report.complete
    assert report.steps[0].act == "terminate"
    assert report.steps[-1].act == "gone"
    assert not any(process and process.alive() for process in members)
    assert bench.ended().status == -15


@linux
def test_that_orphans_are_found_by_a_supervisor_that_never_saw_their_parents(bench: Bench) -> None:
    launched = bench.python(FAMILY)
    wait_for(lambda: "ready" in bench.text())
    wait_for(lambda: len(tree_of(bench.folder).members()) == FAMILY_SIZE + 1)
    os.kill(launched.launcher.pid, signal.SIGKILL)
    os.kill(launched.trainer.pid, signal.SIGKILL)
    wait_for(lambda: not launched.trainer.alive() and not launched.launcher.alive())
    for note in ("launcher.json", "none"):
        if note == "none":
            (bench.folder / "launcher.json").unlink()
        tree = tree_of(bench.folder)
        assert tree.alive()
        assert len(tree.members()) == FAMILY_SIZE - 1
    assert tree_of(bench.folder).stop().complete
    assert not tree_of(bench.folder).alive()


@linux
def test_that_a_daemon_without_the_marker_is_still_a_descendant(bench: Bench) -> None:
    code = (
        "import os, sys, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        f"        os.execve(sys.executable, [sys.executable, '-c', {SLEEPER!r}], {{}})\n"
        "    os._exit(0)\n"
        "os.wait()\n"
        "print('ready', flush=True)\n"
    )
    bench.python(code)
    assert bench.ended().status == 0
    tree = tree_of(bench.folder)
    assert tree.alive()
    assert len(tree.members()) == 2, "the launcher adopted it and stays as long as it lives"
    assert tree.stop().complete
    assert not tree.alive()


@linux
def test_that_a_run_of_another_folder_is_left_in_peace(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    other = Bench(tmp_path / "b")
    mine, theirs = bench.python(SLEEPER), other.python(SLEEPER)
    assert tree_of(bench.folder).stop().complete
    assert not mine.trainer.alive()
    assert theirs.trainer.alive()
    assert tree_of(other.folder).stop().complete


@linux
def test_that_what_does_not_listen_is_killed(bench: Bench) -> None:
    bench.python(DEAF)
    wait_for(lambda: "deaf" in bench.text())
    looks: list[int] = []
    report = tree_of(bench.folder).stop(StopSteps(grace_seconds=0.2), meanwhile=lambda: looks.append(1))
    assert [step.act for step in report.steps] == ["terminate", "kill", "gone"]
    assert report.complete
    assert looks
    assert bench.ended().status == -9


@linux
def test_that_workers_started_during_the_stop_are_stopped_too(bench: Bench) -> None:
    code = f"""
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
while True:
    subprocess.Popen([sys.executable, "-c", {DEAF!r}], start_new_session=True)
    time.sleep(0.1)
"""
    bench.python(code)
    wait_for(lambda: "ready" in bench.text())
    tree = tree_of(bench.folder)
    report = tree.stop(StopSteps(grace_seconds=0.5))
    assert report.complete
    assert not tree.alive()
    assert not tree_of(bench.folder).alive()


@linux
@pytest.mark.parametrize("kind", ["proc", "psutil"])
def test_that_a_paused_run_halts_goes_on_and_can_be_stopped(bench: Bench, kind: str) -> None:
    worker = "import time\nwhile True:\n    print('.', end='', flush=True)\n    time.sleep(0.01)"
    code = (
        f"import subprocess, sys\nworker = [sys.executable, '-c', {worker!r}]\n"
        "children = [subprocess.Popen(worker), subprocess.Popen(worker, start_new_session=True)]\n"
        "[child.wait() for child in children]"
    )
    launched = bench.python(code)
    table = LinuxTable() if kind == "proc" else PsutilTable()
    tree = Tree(bench.folder, launched.launcher, launched.trainer, table=table)
    wait_for(lambda: len(tree.members()) == 4 and len(bench.text()) > 10)
    assert not tree.paused()
    report = tree.pause()
    assert (report.processes, report.others) == (3, ())
    assert tree.paused()
    before = bench.text()
    time.sleep(0.3)
    assert bench.text() == before
    assert tree.resume().processes == 3
    assert not tree.paused()
    wait_for(lambda: len(bench.text()) > len(before))
    tree.pause()
    stopped = tree.stop()
    assert stopped.complete
    assert "kill" not in [step.act for step in stopped.steps], "it was woken and heard the wish"
    assert bench.ended().status == -15


@linux
def test_that_what_cannot_be_halted_in_time_is_named(bench: Bench) -> None:
    launched = bench.python(SLEEPER)
    report = tree_of(bench.folder).pause(patience_seconds=-1)
    assert report.others == (launched.trainer.pid,)


@linux
def test_that_a_stop_names_what_it_could_not_end(bench: Bench) -> None:
    class Powerless(LinuxTable):
        def act(self, row: object, act: object) -> None:
            pass

    bench.python(SLEEPER)
    launched = read_launched(bench.folder)
    assert launched is not None
    tree = Tree(bench.folder, launched.launcher, table=Powerless())
    steps = StopSteps(grace_seconds=0.1, kill_seconds=0.1, launcher_seconds=0.1)
    report = tree.stop(steps)
    assert not report.complete
    assert launched.trainer.pid in report.survivors


def test_that_stopping_what_has_ended_does_nothing(bench: Bench) -> None:
    bench.python("pass")
    bench.ended()
    tree = tree_of(bench.folder)
    wait_for(lambda: not tree.alive())
    report = tree.stop()
    assert report.steps == ()
    assert report.complete
    assert not tree.paused()


@linux
def test_that_what_processes_share_counts_once_in_the_memory_of_a_run(bench: Bench) -> None:
    code = (
        "import os, time\nblock = bytearray(os.urandom(1)) * (64 << 20)\n"
        "[os.fork() for _ in range(2)]\nprint('ready', flush=True)\ntime.sleep(600)"
    )
    bench.python(code)
    wait_for(lambda: bench.text().count("ready") == 4)
    memory = tree_of(bench.folder).memory()
    assert memory.processes == 5
    assert memory.pss_bytes is not None
    assert memory.rss_bytes > 4 * (64 << 20)
    assert 64 << 20 < memory.pss_bytes < 3 * (64 << 20)


class Measured:
    """A table that says how often it was asked to measure, and a clock."""

    def __init__(self, cost_seconds: float = 0.0) -> None:
        self.now, self.cost, self.asked, self.share = 0.0, cost_seconds, 0, 40

    def proportional_bytes(self, pid: int) -> int | None:
        self.asked += 1
        self.now += self.cost
        return None if pid == 13 else self.share


def row(pid: int, resident: int) -> ProcessRow:
    return ProcessRow(pid, 1, None, None, 5, "running", resident)


def test_that_growth_is_seen_between_measurements_and_these_are_rare() -> None:
    table = Measured()
    memory = SharedMemory(table, lambda: table.now)  # type: ignore[arg-type]
    assert memory.held_bytes([row(1, 100), row(13, 7)]) == 40
    assert memory.held_bytes([row(1, 130), row(13, 7)]) == 70
    assert memory.held_bytes([row(1, 10), row(13, 7)]) == 0
    assert table.asked == 2
    table.now = 6
    assert memory.held_bytes([row(1, 130), row(2, 50)]) == 80, "a new process: measured anew"
    table.now = 12
    assert memory.held_bytes([row(1, 140), row(2, 50)]) == 90
    assert table.asked == 4
    table.now = 22
    assert memory.held_bytes([row(1, 140), row(2, 50)]) == 80
    assert table.asked == 6
    assert memory.held_bytes([row(13, 5)]) is None
    assert memory.held_bytes([]) is None


def test_that_a_dear_measurement_is_made_more_rarely() -> None:
    table = Measured(cost_seconds=0.5)
    memory = SharedMemory(table, lambda: table.now)  # type: ignore[arg-type]
    memory.held_bytes([row(1, 100)])
    table.now = 45
    memory.held_bytes([row(1, 100)])
    assert table.asked == 1
    table.now = 51
    memory.held_bytes([row(1, 100)])
    assert table.asked == 2


@linux
def test_that_a_trainer_of_another_boot_is_not_taken_for_one_of_ours(bench: Bench) -> None:
    me = identify(os.getpid())
    assert me is not None
    elsewhere = ProcessId(pid=os.getppid(), boot_id="another boot", start_ticks=1)
    tree = Tree(bench.folder, elsewhere, elsewhere)
    assert not tree.alive()


@linux
def test_that_a_session_led_by_a_later_user_of_the_pid_is_not_ours(bench: Bench) -> None:
    child = subprocess.Popen([sys.executable, "-c", SLEEPER], start_new_session=True)
    try:
        process = identify(child.pid)
        assert process is not None
        assert process.start_ticks is not None
        earlier = process.model_copy(update={"start_ticks": process.start_ticks - 50})
        assert Tree(bench.folder, None, earlier).members() == []
        assert [row.pid for row in Tree(bench.folder, None, process).members()] == [child.pid]
    finally:
        child.kill()
        child.wait()
