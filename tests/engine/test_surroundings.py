"""What surrounds a training is looked at: who holds GPUs, text files, the hub's cache, other runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from fake_nvml import FakeNvml
from preflight_plans import CATALOGUE, ids, plan_of

from gui.engine.errors import CannotRead
from gui.engine.hardware.disks import Disks
from gui.engine.preflight.check import Checker
from gui.engine.preflight.collect import Collector, trainer_fact
from gui.engine.preflight.facts import Facts, TrainerFact
from gui.engine.preflight.limits import hub, machine_limits, version_of
from gui.engine.preflight.machine import read_machine
from gui.engine.preflight.machine_look import accelerate_fact
from gui.engine.preflight.place_look import is_offline, locked_outputs
from gui.engine.preflight.surroundings import RunFact
from gui.engine.preflight.text_look import look_at_text
from gui.engine.quantities import GIB
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.lock import SupervisorLock
from gui.engine.runs.neighbours import living_runs
from gui.engine.runs.process_table import PsutilTable
from gui.engine.runs.process_tree import RUN_MARKER
from gui.engine.runs.records import CommandRecord
from gui.engine.trainer.facts import AccelerateConfig, GpuSeen, TrainerFacts
from gui.engine.trainer.requirements import pinned


def collected(base: Path, plan, **machine) -> Facts:
    collector = Collector()
    view, _findings = Checker(base, CATALOGUE, Facts(**machine), collector=collector).view(plan)
    assert view is not None
    return view.facts


# GPUs and their holders.


def test_that_holders_of_gpu_memory_are_named_and_runs_of_ours_told(
    nvml_libraries, tmp_path, monkeypatch
) -> None:
    gpus = FakeNvml(nvml_libraries["new"], tmp_path / "state").inside(monkeypatch)
    gpus.set(processes=f"{os.getpid()}:{GIB} {2**22 + 1}:{3 * GIB}")
    run = RunFact(name="old", over=True, watched=False, processes=(os.getpid(),))
    first, second = Collector(runs=lambda: (run,)).machine().gpu[0].holder
    assert (first.pid, first.name, first.gib, first.run) == (2**22 + 1, "", 3.0, None)
    assert (second.name, second.gib, second.run) == (psutil.Process().name(), 1.0, "old")


def test_that_under_wddm_holders_are_named_without_their_size(nvml_libraries, tmp_path, monkeypatch) -> None:
    gpus = FakeNvml(nvml_libraries["new"], tmp_path / "state").inside(monkeypatch)
    gpus.set(driver_model=0, processes=f"{os.getpid()}:?")
    (holder,) = Collector().machine().gpu[0].holder
    assert (holder.pid, holder.gib) == (os.getpid(), None)


def test_that_the_machine_tells_memory_power_and_runs() -> None:
    run = RunFact(name="now")
    machine = Collector(runs=lambda: (run,)).machine()
    assert 0 < machine.ram_available_gib <= machine.ram_gib
    assert machine.run == (run,)


# The trainer.


def test_that_a_probed_trainer_tells_what_its_torch_can(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(
        "# x\ndiffusers[torch]==0.32.1 # why\nHuggingface_Hub==0.34.3\nnumpy\n"
    )
    gpu = GpuSeen(index=0, name="RTX 3060", uuid="GPU-1", usable=False, problem="no")
    facts = TrainerFacts(
        root=str(tmp_path),
        python="p",
        torch="2.6.0",
        cuda="12.4",
        backend="cuda",
        arch_list=("sm_86",),
        gpus=(gpu,),
    )
    fact = trainer_fact(facts)
    assert (fact.backend, fact.arch_list, fact.gpu[0].problem) == ("cuda", ("sm_86",), "no")
    assert fact.pins == {"diffusers": "0.32.1", "huggingface-hub": "0.34.3"}
    assert pinned(tmp_path / "none") == {}


@pytest.mark.parametrize(
    ("torch", "cuda", "build"),
    [
        ("2.6.0+cu124", None, "12.4"),
        ("2.0.1+cpu", None, ""),
        ("2.0.1+cpu", "", ""),
        ("2.6.0", "12.6", "12.6"),
        ("2.6.0", None, None),
        ("2.6.0+rocm6.2", None, None),
        (None, None, None),
    ],
)
def test_that_the_build_of_torch_is_read_from_its_version(torch, cuda, build) -> None:
    assert TrainerFact(torch=torch, cuda=cuda).cuda_build == build


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"num_processes": 2, "mixed_precision": False, "gpu_ids": 0}, (2, "no", "0", None, False)),
        (
            {"num_processes": True, "distributed_type": "DEEPSPEED", "use_cpu": True},
            (None, None, None, "DEEPSPEED", True),
        ),
        ({"num_processes": "x", "gpu_ids": ["a"]}, (None, None, None, None, False)),
    ],
)
def test_that_any_configuration_of_accelerate_is_a_fact(values, expected) -> None:
    fact = accelerate_fact(AccelerateConfig(path="/c", values=values))
    told = (fact.num_processes, fact.mixed_precision, fact.gpu_ids, fact.distributed_type, fact.use_cpu)
    assert told == expected
    assert accelerate_fact(None) is None


# Text files.


@pytest.mark.parametrize(
    ("name", "content", "problem", "line"),
    [
        ("p.txt", "ein Mädchen".encode(), None, None),
        ("p.txt", b"a\nb\nein M\xe4dchen", "encoding", 3),
        ("p.txt", b"\xef\xbb\xbfa", "mark", 1),
        ("d.toml", b'[general]\na = "C:\\images"\n', "escape", 2),
        ("d.toml", b"[general]\na = C\n", "syntax", 2),
        ("d.toml", b"a = 'C:\\images'\n", None, None),
        ("d.JSON", b'{"a": "C:\\images"}', "syntax", 1),
        ("d.json", b'{"a": 1}', None, None),
        ("d.json", b"[" * 100_000, "syntax", None),
    ],
)
def test_that_a_text_is_read_as_strictly_as_the_trainer_does(name, content, problem, line) -> None:
    fact = look_at_text("dataset_config", Path(name), content)
    assert (fact.problem, fact.line) == (problem, line)


def test_that_prompts_and_metadata_of_a_plan_are_looked_at_and_again_when_they_change(tmp_path: Path) -> None:
    prompts, metadata = tmp_path / "p.txt", tmp_path / "m.json"
    prompts.write_bytes(b"\xe4")
    metadata.write_text("{}")
    plan = plan_of(
        {"sample_prompts": "p.txt", "in_json": "."},
        {"subsets": [{"image_dir": "i", "metadata_file": "m.json"}, {"metadata_file": "none.json"}]},
    )
    collector = Collector()
    check = Checker(tmp_path, CATALOGUE, Facts(), collector=collector)

    def problems():
        view, _findings = check.view(plan)
        return {fact.argument: fact.problem for fact in view.facts.text}

    assert problems() == {"sample_prompts": "encoding", "dataset.subsets.0.metadata_file": None}
    prompts.write_bytes(b"good")
    assert problems()["sample_prompts"] is None


# Places.


def test_that_disks_and_the_hubs_cache_of_a_plan_are_facts(tmp_path: Path) -> None:
    cache = tmp_path / "hub"
    (cache / "models--openai--clip-vit-large-patch14" / "snapshots" / "abc").mkdir(parents=True)
    (cache / "models--half--done" / "snapshots").mkdir(parents=True)
    (cache / "datasets--a--b" / "snapshots" / "c").mkdir(parents=True)
    (tmp_path / "tokenizers" / "google_t5-v1_1-xxl").mkdir(parents=True)
    plan = plan_of({"tokenizer_cache_dir": "tokenizers"}, launch={"env": {"HF_HUB_CACHE": str(cache)}})
    facts = collected(tmp_path, plan)
    assert facts.hub == ("google_t5-v1_1-xxl", "openai/clip-vit-large-patch14")
    disks = {disk.argument: disk for disk in facts.disk}
    assert disks.keys() == {"output_dir", "pretrained_model_name_or_path", "dataset.subsets.0.image_dir"}
    assert facts.disk_free_gib == disks["output_dir"].free_gib > 0


@pytest.mark.parametrize("variables", [{"HF_HOME": "{}"}, {"XDG_CACHE_HOME": "{}/.."}])
def test_that_the_hubs_cache_is_where_the_environment_says(tmp_path: Path, variables) -> None:
    home = tmp_path / "huggingface"
    (home / "hub" / "models--a--b" / "snapshots" / "c").mkdir(parents=True)
    env = {name: value.format(home) for name, value in variables.items()}
    assert collected(tmp_path, plan_of(launch={"env": env})).hub == ("a/b",)


@pytest.mark.parametrize(
    ("environ", "offline"), [({"HF_HUB_OFFLINE": "1"}, True), ({"TRANSFORMERS_OFFLINE": "0"}, False)]
)
def test_that_it_is_told_when_nothing_may_be_fetched(environ, offline) -> None:
    assert is_offline(environ) is offline


def test_that_a_result_that_cannot_be_written_is_locked(tmp_path: Path, monkeypatch) -> None:
    out = tmp_path / "out"
    (out / "mira-000001-state").mkdir(parents=True)
    (out / "mira.safetensors").write_bytes(b"x")
    (out / "mira-000001.safetensors").write_bytes(b"x")
    real = Path.open

    def refusing(path: Path, mode: str = "r", *more, **how):
        if path.name == "mira.safetensors" and "+" in mode:
            raise PermissionError
        return real(path, mode, *more, **how)

    monkeypatch.setattr(Path, "open", refusing)
    facts = collected(tmp_path, plan_of({"output_name": "mira"}))
    assert facts.locked_outputs == ("mira.safetensors",)
    assert (out / "mira-000001.safetensors").read_bytes() == b"x"


def test_that_what_lies_on_a_drive_that_is_gone_is_unknown_and_said(tmp_path: Path, monkeypatch) -> None:
    gone = tmp_path / "nas"
    (gone / "images").mkdir(parents=True)
    asked = []

    def answers(_disks: Disks, path: Path) -> bool:
        asked.append(path)
        return gone not in (path, *path.parents)

    monkeypatch.setattr(Disks, "answers", answers)
    monkeypatch.setattr(Disks, "_network", lambda _disks, path: "x" if not answers(_disks, path) else None)
    plan = plan_of(
        {"vae": str(gone / "vae.safetensors")},
        {"subsets": [{"image_dir": str(gone / "images")}, {"image_dir": "images"}]},
    )
    facts = collected(tmp_path, plan)
    assert str(gone / "vae.safetensors") not in facts.paths
    assert [subset.exists for subset in facts.dataset.subsets] == [None, False]
    found = Checker(tmp_path, CATALOGUE, Facts(), collector=Collector()).findings(plan)
    assert "disk-gone" in ids(found, "danger")


# Runs.


@pytest.fixture
def run(tmp_path: Path):
    """A run folder, and a process that carries its marker until the test ends."""
    folder = tmp_path / "20260101-120000-mira"
    folder.mkdir()
    CommandRecord(
        argv=("python",), cwd=tmp_path, python="python", output_dir=tmp_path / "out", output_name="mira"
    ).write(RunFolder(folder).command)
    words = [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"]
    environment = {**os.environ, RUN_MARKER: str(folder)}
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as child:
        assert child.stdout is not None
        child.stdout.readline()
        yield RunFolder(folder), child.pid
        assert child.stdin is not None
        child.stdin.close()


def ours(run: RunFolder, table=None) -> RunFact:
    (found,) = [fact for fact in living_runs(table) if fact.name == run.name]
    return found


@pytest.mark.parametrize("table", [None, PsutilTable()])
def test_that_a_run_without_a_supervisor_is_known_by_its_marker(run, tmp_path: Path, table) -> None:
    folder, pid = run
    fact = ours(folder, table)
    assert (fact.over, fact.watched, fact.processes) == (False, False, (pid,))
    assert (fact.output_dir, fact.output_name) == (str(tmp_path / "out"), "mira")
    assert fact.folder == str(folder.path)


def test_that_a_run_whose_trainer_has_ended_is_over_and_one_with_a_supervisor_watched(run) -> None:
    folder, _pid = run
    lock = SupervisorLock(folder.lock)
    lock.take()
    folder.exit.write_text("{}")
    fact = ours(folder)
    lock.release()
    assert (fact.over, fact.watched) == (True, True)


def test_that_a_run_whose_folder_is_gone_is_found_all_the_same(run) -> None:
    folder, pid = run
    folder.command.unlink()
    folder.status.write_text(json.dumps({"schema": 99}))
    fact = ours(folder)
    assert (fact.output_dir, fact.processes, fact.over) == (None, (pid,), False)


# Figures.


def test_that_the_figures_about_machines_are_read_and_have_sources() -> None:
    limits = machine_limits()
    assert all(each.sources for each in (limits.gpu, limits.ram, limits.workers, *limits.architectures))
    assert all(each.repositories and each.sources for each in hub().tokenizers)


@pytest.mark.parametrize("text", ["schema: 2", "a: [", "schema: 1\nfamilies: {}"])
def test_that_figures_that_are_none_name_their_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(CannotRead):
        machine_limits(path)


@pytest.mark.parametrize(
    ("text", "version"), [("2.6.0+cu124", (2, 6, 0)), ("v0.10", (0, 10)), ("x", None), (None, None)]
)
def test_that_a_version_is_read_as_far_as_it_is_numbers(text, version) -> None:
    assert version_of(text) == version


def test_that_another_machines_surroundings_can_be_given(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text(
        """
ram_available_gib = 8
commit_available_gib = 20
hub = ["openai/clip-vit-large-patch14"]
[[gpu]]
vram_gib = 12
free_gib = 6
[[gpu.holder]]
pid = 7
name = "python"
gib = 5.5
[[disk]]
argument = "output_dir"
kind = "network"
[power]
on_battery = true
[accelerate]
num_processes = 2
[[run]]
name = "20260101-120000-mira"
watched = false
[trainer]
arch_list = ["sm_90"]
pins = { diffusers = "0.32.1" }
[[trainer.gpu]]
usable = false
""",
        "utf-8",
    )
    facts = read_machine(path)
    assert (facts.gpu[0].used_gib, facts.gpu[0].holder[0].gib) == (6, 5.5)
    check = Checker(tmp_path, CATALOGUE, facts, files_known=False)
    assert {"oom-free", "power", "accel", "proc-tree", "cuda-hw"} <= ids(check.findings(plan_of()))


def test_that_a_folder_that_is_none_holds_nothing_of_the_hub_and_no_locked_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    plan = plan_of({"output_dir": "file"}, launch={"env": {"HF_HUB_CACHE": str(tmp_path / "file")}})
    facts = collected(tmp_path, plan)
    assert (facts.hub, facts.locked_outputs) == ((), ())


def test_that_a_result_that_no_system_lets_be_opened_is_not_called_locked(
    tmp_path: Path, monkeypatch
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mira.safetensors").write_bytes(b"x")

    def failing(path: Path, *more, **how):
        raise OSError

    monkeypatch.setattr(Path, "open", failing)
    assert locked_outputs_of(tmp_path) == ()


def locked_outputs_of(base: Path) -> tuple[str, ...]:
    view, _findings = Checker(base, CATALOGUE, Facts(), files_known=False).view(
        plan_of({"output_name": "mira"})
    )
    return locked_outputs(view, ["mira.safetensors"])


def test_that_prompts_tell_the_sizes_of_their_samples():
    lines = b"# --w 64\na cat --w 768 --h 1024 --s 4\na dog\nanother --W 768 --H 1024\n"
    assert look_at_text("sample_prompts", Path("p.txt"), lines).sizes_px == ((768, 1024), (None, None))
    table = b'[prompt]\nwidth = 640\n[[prompt.subset]]\nheight = 512\n[[prompt.subset]]\nwidth = "big"\n'
    assert look_at_text("sample_prompts", Path("p.toml"), table).sizes_px == ((640, 512), (None, None))
    broken = look_at_text("sample_prompts", Path("p.json"), b"[")
    assert (broken.problem, broken.sizes_px) == ("syntax", ())
