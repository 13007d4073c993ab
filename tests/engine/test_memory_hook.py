"""The hook in the trainer's interpreter: what it writes, and that nothing else is different."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from gui.engine.resources import resource_path
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.memory_hook import MemoryHook, MemoryRow, read_memory, with_hook
from gui.engine.runs.processes import RUN_MARKER, boottime

FAKE_TORCH = Path(__file__).parents[1] / "fake_torch"
HOOK = resource_path("launcher", "in_trainer")

WAITS = """
import json, os, sys, time
run = os.environ["KOHYA_PREFLIGHT_RUN"]
def rows():
    try:
        return [json.loads(line) for line in open(run + "/memory.jsonl")]
    except OSError:
        return []
def wait(count):
    until = time.monotonic() + 60
    while len(rows()) < count:
        if time.monotonic() > until: sys.exit("no row came")
        time.sleep(0.02)
def phase(word):
    open(run + "/phase.new", "w").write(word)
    os.replace(run + "/phase.new", run + "/phase.txt")
"""


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "runs" / "r")
    folder.path.mkdir(parents=True)
    folder.launcher.write_text(json.dumps({"started_boottime": boottime()}))
    return folder


def environment(run: RunFolder, *, hooked: bool = True, behind: Path = FAKE_TORCH) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    plain |= {"PYTHONPATH": str(behind), RUN_MARKER: str(run.path), "PYTHONUTF8": "1"}
    return with_hook(plain) if hooked else plain


def train(
    run: RunFolder,
    source: str,
    *,
    words: tuple[str, ...] = (),
    hooked: bool = True,
    behind: Path = FAKE_TORCH,
) -> subprocess.CompletedProcess[str]:
    """Run a script as a trainer; return how it ended and what it printed."""
    script = run.path.parent.parent / "trainer" / "train_network.py"
    script.parent.mkdir(exist_ok=True)
    script.write_text(textwrap.dedent(source), "utf-8")
    return subprocess.run(
        [sys.executable, str(script), *words],
        cwd=script.parent,
        env=environment(run, hooked=hooked, behind=behind),
        capture_output=True,
        text=True,
        timeout=120,
    )


def good(run: RunFolder, source: str) -> list[MemoryRow]:
    done = train(run, WAITS + textwrap.dedent(source))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return list(read_memory(run.memory))


def test_that_each_phase_and_the_exit_are_told_with_peaks_of_their_own(run: RunFolder) -> None:
    rows = good(
        run,
        """
        import torch
        phase("caching-latents"); torch.cuda.init()
        torch.cuda.take(700, 900); torch.cuda.take(100, 200); wait(1)
        phase("training"); wait(2)
        torch.cuda.take(500, 600); torch.cuda.take(400, 600); wait(3)
        torch.cuda.counters[0]["num_alloc_retries"] = 2; wait(4)
        """,
    )
    told = [(row.event, row.phase, row.allocated_peak, row.reserved_peak, row.retries) for row in rows]
    assert told[-4:] == [
        ("phase", "caching-latents", 700, 900, 0),
        ("grown", "training", 500, 600, 0),
        ("grown", "training", 500, 600, 2),
        ("exit", "training", 500, 600, 2),
    ]
    last = rows[-1]
    assert (last.allocated, last.reserved, last.ooms, last.device, last.peaks) == (400, 600, 0, 0, "phase")
    assert last.uuid == "fa4e0000-0000-0000-0000-000000000000"
    assert last.t is not None and 0 <= last.t < 120


def test_that_each_gpu_that_is_used_is_told_and_no_other(run: RunFolder) -> None:
    rows = good(
        run, "import torch\ntorch.cuda.init(3)\ntorch.cuda.take(5, 5, 0)\ntorch.cuda.take(7, 8, 2)\nwait(2)"
    )
    assert {(row.device, row.allocated_peak) for row in rows} == {(0, 5), (2, 7)}


def test_that_an_exception_leaves_the_last_figures(run: RunFolder) -> None:
    source = (
        "import torch\ntorch.cuda.init(); torch.cuda.take(9, 9); torch.cuda.counters[0]['num_ooms'] = 1\n1/0"
    )
    done = train(run, source)
    assert done.returncode == 1
    assert [(row.event, row.ooms) for row in read_memory(run.memory)] == [("exit", 1)]


@pytest.mark.parametrize(
    ("source", "peaks", "resets"),
    [
        ("", "phase", [0]),
        ("def show(): return torch.cuda.max_memory_allocated()\n", "process", []),
        ("import helper\n", "process", []),
        ("import own_program\n", "phase", [0]),
    ],
)
def test_that_peaks_are_reset_only_where_the_trainer_does_not_read_them(
    run: RunFolder, source: str, peaks: str, resets: list[int]
) -> None:
    place = run.path.parent.parent / "trainer"
    place.mkdir()
    (place / "helper.py").write_text("def f(torch): return torch.cuda.memory_stats(0)\n")
    (place / "own_program.py").write_text(
        "if __name__ == '__main__':\n    torch.cuda.max_memory_reserved()\n"
    )
    done = train(
        run,
        WAITS
        + source
        + "import torch\ntorch.cuda.init(); torch.cuda.take(9, 9); wait(1)\nphase('training'); wait(2)\n"
        + "torch.cuda.take(20, 20); wait(3)\nprint(torch.cuda.resets)",
    )
    assert done.stdout == f"{resets}\n", done.stderr
    assert list(read_memory(run.memory))[-1].peaks == peaks


NO_CUDA = "import torch, time\ntorch.version.cuda = None\n"


@pytest.mark.parametrize("source", [NO_CUDA, NO_CUDA + "time.sleep(1)", "import torch"])
def test_that_a_trainer_without_cuda_gets_one_row_that_says_so(run: RunFolder, source: str) -> None:
    rows = good(run, source)
    assert [(row.event, row.device, row.reserved_peak) for row in rows] == [("no-cuda", None, None)]


def test_that_a_trainer_without_cuda_has_said_so_also_when_it_is_killed(run: RunFolder) -> None:
    train(run, WAITS + NO_CUDA + "wait(1)\nos.kill(os.getpid(), 9)")
    assert [row.event for row in read_memory(run.memory)] == ["no-cuda"]


def test_that_what_imports_no_torch_gets_no_file(run: RunFolder) -> None:
    assert good(run, "import json") == []
    assert not run.memory.exists()


OUTCOMES = {
    "surroundings": """
        import torch
        print(sys.argv, __name__, __file__, __spec__, sys.path, sys.flags, "json" in dir())
        print(sorted(name for name in os.environ), os.environ.get("PYTHONPATH"))
        print(sys.modules["__main__"].__dict__.keys())
    """,
    "wrong arguments": """
        import argparse, torch
        parser = argparse.ArgumentParser()
        parser.add_argument("--a", type=int)
        parser.parse_args()
    """,
    "traceback": "import torch\ndef step():\n    raise ValueError('no') from KeyError(1)\nstep()",
    "exit code": "import torch; sys.exit(7)",
    "exit words": "import torch; sys.exit('gone')",
    "hard exit": "import torch; print('x', flush=True); os._exit(3)",
    "killed": "import torch, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "no such module": "import torch, no_such_module",
    "no torch": "import importlib.util; sys.path[:] = sys.path[:1]; import torch",
    "warnings": "import torch, warnings; warnings.warn('careful'); warnings.warn('old', DeprecationWarning)",
    "fork": """
        import torch
        torch.cuda.init(); torch.cuda.take(5, 5)
        pid = os.fork()
        if pid == 0: sys.exit(4)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    """,
    "workers": """
        import torch, multiprocessing
        if __name__ == "__main__":
            torch.cuda.init(); torch.cuda.take(5, 5)
            for way in ("fork", "spawn"):
                with multiprocessing.get_context(way).Pool(1) as pool: print(pool.map(abs, [-3]))
    """,
}


@pytest.mark.parametrize("case", OUTCOMES)
@pytest.mark.skipif(os.name == "nt", reason="signals and fork")
def test_that_output_and_exit_are_the_same_with_and_without(run: RunFolder, case: str) -> None:
    source = "import os, sys\n" + textwrap.dedent(OUTCOMES[case])
    plain, hooked = (train(run, source, words=("--a", "x"), hooked=hooked) for hooked in (False, True))
    assert (hooked.returncode, hooked.stdout, hooked.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    pids = {row.pid for row in read_memory(run.memory)}
    assert len(pids) <= 1, "a worker wrote rows"


def test_that_a_module_that_starts_the_script_hands_the_hook_on_and_writes_nothing(run: RunFolder) -> None:
    place = run.path.parent.parent
    (place / "starter.py").write_text(
        "import os, subprocess, sys, torch\n"
        "assert 'in_trainer' in os.environ['PYTHONPATH']\n"
        "done = subprocess.run([sys.executable, *sys.argv[1:]], env=dict(os.environ, RANK='0'))\n"
        "sys.exit(done.returncode)\n"
    )
    (place / "train.py").write_text(
        "import os, torch\ntorch.cuda.init(); torch.cuda.take(5, 5)\nprint(os.getpid())\n"
        "assert 'in_trainer' not in os.environ['PYTHONPATH']\n"
    )
    words = [sys.executable, "-m", "starter", str(place / "train.py")]
    done = subprocess.run(words, cwd=place, env=environment(run), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert [(row.event, row.pid) for row in read_memory(run.memory)] == [("exit", int(done.stdout))]


@pytest.mark.parametrize(
    "text",
    [
        "import sys; sys.own = 1; print('own', __name__, __file__)",
        "raise RuntimeError('own fault')",
        "import not_there",
        "1/0",
    ],
)
def test_that_a_sitecustomize_of_the_users_own_runs_as_without(
    run: RunFolder, tmp_path: Path, text: str
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text(text)
    source = "import sys; print(getattr(sys, 'own', 0), sys.modules.get('sitecustomize'))"
    plain, hooked = (train(run, source, hooked=hooked, behind=own) for hooked in (False, True))
    if "own" in text and "print" in text:
        assert "own sitecustomize" in hooked.stdout
        assert hooked.stdout == plain.stdout
    assert (hooked.returncode, hooked.stderr) == (plain.returncode, plain.stderr)


@pytest.mark.parametrize(
    "fault",
    [
        "torch.cuda.broken = True",
        "torch.cuda.counters[:] = [{}]; torch._C._cuda_getDeviceCount = lambda: 4",
        "os.mkdir(run + '/memory.jsonl')",
        "import shutil; shutil.rmtree(run)",
        "open(run + '/launcher.json', 'w').write('{}'); open(run + '/phase.txt', 'wb').write(b'\\xff')",
        "del torch._C",
    ],
)
def test_that_a_fault_of_the_hook_is_silent(run: RunFolder, fault: str) -> None:
    source = "import os, time, torch\nrun = os.environ['KOHYA_PREFLIGHT_RUN']\ntorch.cuda.init()\n"
    done = train(run, f"{source}torch.cuda.take(5, 5)\n{fault}\ntime.sleep(0.7)\nprint('trained')")
    assert (done.returncode, done.stdout, done.stderr) == (0, "trained\n", "")


def test_that_a_run_folder_that_is_gone_before_the_start_changes_nothing(
    run: RunFolder, tmp_path: Path
) -> None:
    done = train(RunFolder(tmp_path / "x" / "gone"), "import torch\nprint(1)", behind=FAKE_TORCH)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


def test_that_the_environment_keeps_what_stood_in_it() -> None:
    assert with_hook({"A": "1"}) == {"A": "1", "PYTHONPATH": str(HOOK)}
    behind = os.pathsep.join(["x", "y"])
    assert with_hook({"PYTHONPATH": behind})["PYTHONPATH"] == os.pathsep.join([str(HOOK), "x", "y"])


def test_that_a_folder_that_no_variable_can_name_leaves_the_hook_out(monkeypatch: pytest.MonkeyPatch) -> None:
    place = Path(f"/a{os.pathsep}b")
    monkeypatch.setattr("gui.engine.runs.memory_hook.resource_path", lambda *_: place)
    assert with_hook({"A": "1"}) == {"A": "1"}


def test_that_the_supervisors_end_tells_phases_and_keeps_the_newest_rows(run: RunFolder) -> None:
    hook = MemoryHook(run)
    hook.look(0.0, "loading")
    assert run.phase.read_text() == "loading\n"
    row = MemoryRow(phase="loading", event="grown", pid=3, device=0, reserved=5)
    lines = [row, row.model_copy(update={"reserved": 6}), MemoryRow(phase="x", event="no-cuda", pid=9)]
    run.memory.write_text("".join(line.model_dump_json() + "\n" for line in lines) + 'junk\n{"half"')
    hook.look(0.1, "training")
    assert run.phase.read_text() == "training\n"
    assert hook.newest == {}, "too early to read again"
    hook.look(1.0, "training")
    assert {key: row.reserved for key, row in hook.newest.items()} == {(3, 0): 6}
    hook.close()


def test_that_a_phase_that_cannot_be_written_harms_nobody(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    MemoryHook(RunFolder(tmp_path / "file" / "run")).look(0.0, "training")
    assert list(read_memory(tmp_path / "none")) == []
