"""The probe asks a trainer's own Python, survives what happens there, and remembers the answer."""

import json
import os
import subprocess
import sys
import textwrap
import venv
from pathlib import Path

import pytest

from gui.engine.errors import Cancelled, ScriptNotUsable, TrainerBroken
from gui.engine.resources import resource_path
from gui.engine.trainer.accelerate_config import accelerate_config
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.inherited import clean_environment, variables_to_set, variables_to_unset
from gui.engine.trainer.installs import TrainerInstall, practice_install
from gui.engine.trainer.interpreters import executable_in
from gui.engine.trainer.probe import probe, remembered_facts, require_torch

TORCH = """
    __version__ = "2.6.0+cu124"
    bfloat16, float16 = "bf16", "fp16"
    class version:
        cuda, hip = "12.4", None
    class cuda:
        is_available = staticmethod(lambda: False)
"""
GPUS = """
    __version__ = "2.6.0+cu124"
    bfloat16, float16 = "bf16", "fp16"
    class version:
        cuda, hip = "12.4", None
    class _Gpu:
        def __init__(self, name, major, minor):
            self.name, self.major, self.minor = name, major, minor
            self.total_memory, self.uuid = 12 * 2**30, "1-2-3"
    class _Tensor:
        def __init__(self, device): self.device = device
        def __matmul__(self, other):
            if self.device == "cuda:1":
                raise RuntimeError("CUDA error: no kernel image is available for execution\\nmore")
            if self.device == "cuda:2":
                raise RuntimeError("CUDA out of memory. Tried to allocate")
            return self
        def sum(self): return self
        def item(self): return 4096.0
    def ones(*shape, dtype, device): return _Tensor(device)
    class cuda:
        is_available = staticmethod(lambda: True)
        device_count = staticmethod(lambda: 3)
        get_arch_list = staticmethod(lambda: ["sm_86", "sm_90"])
        get_device_properties = staticmethod(
            lambda i: [_Gpu("RTX 3060", 8, 6), _Gpu("GTX 1080", 6, 1), _Gpu("RTX 2070", 7, 5)][i])
"""
PARSER = """
    import argparse
    from pathlib import Path

    def setup_parser():
        parser = argparse.ArgumentParser()
        parser.add_argument("--network_dim", type=int, default=None, help="the rank, %(default)s or more")
        parser.add_argument("--dataset_config", type=Path, default=Path("x"), help="strange 100 %")
        parser.add_argument("--kind", choices=["a", None], help=argparse.SUPPRESS)
        parser.add_argument("--network_args", nargs="*")
        return parser
"""


class Checkout:
    """A small checkout whose modules do what a test needs."""

    def __init__(self, root):
        self.root = root
        (root / "library").mkdir(parents=True)
        (root / "library" / "__init__.py").touch()
        self.write("torch", TORCH)
        self.write("train_network", PARSER)

    def write(self, name, text):
        path = self.root / f"{name}.py"
        path.write_text(textwrap.dedent(text), "utf-8")
        return path

    def script(self, name, text):
        self.write(name, textwrap.dedent(text) + textwrap.dedent(PARSER))

    def install(self, python=sys.executable):
        return TrainerInstall(root=self.root, python=Path(python), origin="sd-scripts", label="sd-scripts")


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path / "sd scripts ✓")


def ask(checkout, tmp_path, **how):
    return probe(checkout.install(), tmp_path / "cache", **how)


def test_that_a_parser_is_read_row_by_row(checkout, tmp_path):
    facts = ask(checkout, tmp_path)
    rows = {row.dest: row for row in facts.scripts["train_network.py"].arguments}
    assert list(rows) == ["help", "network_dim", "dataset_config", "kind", "network_args"]
    assert rows["network_dim"].type == "int"
    assert rows["network_dim"].help == "the rank, None or more"
    assert (rows["dataset_config"].type, rows["dataset_config"].default) == ("Path", "x")
    assert rows["dataset_config"].help == "strange 100 %"
    assert (rows["kind"].choices, rows["kind"].help) == (("a", None), "")
    assert rows["network_args"].nargs == "*"
    assert Catalogue.from_facts(facts).live


def test_that_python_torch_and_the_checkout_are_told(checkout, tmp_path):
    (checkout.root / "TRAINER.json").write_text(json.dumps({"name": "mine", "version": "1.2"}))
    facts = ask(checkout, tmp_path)
    assert (facts.name, facts.version, facts.commit) == ("mine", "1.2", None)
    assert facts.python_version == ".".join(map(str, sys.version_info[:3]))
    assert (facts.torch, facts.cuda, facts.hip, facts.backend) == ("2.6.0+cu124", "12.4", None, "cpu")
    assert facts.platform == sys.platform
    assert facts.problems == ()
    require_torch(checkout.install(), facts)


def test_that_gpus_are_told_with_what_works_on_them(checkout, tmp_path):
    checkout.write("torch", GPUS)
    facts = ask(checkout, tmp_path)
    assert (facts.backend, facts.arch_list) == ("cuda", ("sm_86", "sm_90"))
    ampere, pascal, turing = facts.gpus
    assert (ampere.capability, ampere.bf16, ampere.usable) == ("8.6", True, True)
    assert (ampere.uuid, ampere.total_bytes) == ("GPU-1-2-3", 12 * 2**30)
    assert (pascal.bf16, pascal.usable) == (False, False)
    assert pascal.problem == "CUDA error: no kernel image is available for execution"
    assert (turing.bf16, turing.usable) == (False, None)


def test_that_a_module_in_the_checkout_counts_as_a_package_and_a_bare_folder_does_not(checkout, tmp_path):
    checkout.write("tensorboard", "")
    (checkout.root / "wandb").mkdir()
    facts = ask(checkout, tmp_path)
    assert facts.packages["tensorboard"] is None or isinstance(facts.packages["tensorboard"], str)
    assert "wandb" not in facts.packages
    assert "torch" in facts.packages


BITSANDBYTES = """
    class lib:
        compiled_with_cuda = {}
"""


@pytest.mark.parametrize(("answer", "unusable"), [(False, {"bitsandbytes"}), (True, set()), (None, set())])
def test_that_a_bitsandbytes_without_its_library_does_not_work_on_a_gpu(checkout, tmp_path, answer, unusable):
    checkout.write("torch", GPUS)
    (checkout.root / "bitsandbytes").mkdir()
    checkout.write("bitsandbytes/__init__", "")
    checkout.write("bitsandbytes/cextension", BITSANDBYTES.format(answer))
    facts = ask(checkout, tmp_path)
    assert "bitsandbytes" in facts.packages
    assert facts.unusable.keys() & {"bitsandbytes"} == unusable


@pytest.mark.parametrize("answer", [True, False])
def test_that_an_old_bitsandbytes_tells_it_otherwise(checkout, tmp_path, answer):
    checkout.write("torch", GPUS)
    (checkout.root / "bitsandbytes").mkdir()
    checkout.write("bitsandbytes/__init__", "")
    checkout.write("bitsandbytes/cextension", f"COMPILED_WITH_CUDA = {answer}")
    assert ("bitsandbytes" in ask(checkout, tmp_path).unusable) is not answer


def test_that_a_package_that_is_there_and_broken_is_told_and_harms_nothing_else(checkout, tmp_path):
    checkout.write("prodigyopt", "import einops_that_is_not_there")
    checkout.write("dadaptation", "raise ImportError('undefined symbol')")
    checkout.write("xformers", "import os; os._exit(11)")
    facts = ask(checkout, tmp_path)
    assert "einops_that_is_not_there" in facts.unusable["prodigyopt"]
    assert "undefined symbol" in facts.unusable["dadaptation"]
    assert "crash" in facts.unusable["xformers"]
    assert facts.problems == ()
    assert facts.scripts["train_network.py"].arguments


def test_that_without_torch_no_package_is_called_broken(checkout, tmp_path):
    checkout.write("torch", "raise ImportError('no')")
    checkout.write("train_network", PARSER.replace("import torch", ""))
    assert ask(checkout, tmp_path).unusable == {}


def test_that_the_trainers_own_environment_is_asked(checkout, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "of this program"))
    checkout.script("sees", "import os\nassert 'PYTHONPATH' not in os.environ\nimport xformers\n")
    venv.create(tmp_path / "venv", symlinks=os.name != "nt", with_pip=False)
    python = executable_in(tmp_path / "venv")
    site = next((tmp_path / "venv").glob("**/site-packages"))
    (site / "xformers").mkdir()
    (site / "xformers" / "__init__.py").touch()
    (site / "xformers-0.0.29.dist-info").mkdir()
    (site / "xformers-0.0.29.dist-info" / "METADATA").write_text("Name: xformers\nVersion: 0.0.29\n")
    (checkout.root / "sees.py").rename(checkout.root / "train_sees.py")
    facts = probe(checkout.install(python), tmp_path / "cache")
    assert facts.packages == {"torch": None, "xformers": "0.0.29"}
    assert facts.scripts["train_sees.py"].error is None
    (site / "later").mkdir()
    (site / "xformers-0.0.29.dist-info" / "METADATA").write_text("Name: xformers\nVersion: 0.0.30\n")
    assert probe(checkout.install(python), tmp_path / "cache").packages["xformers"] == "0.0.30"


NOISES = {
    "prints": "import os, sys\nprint('noise' * 9999)\nos.write(1, b'noise')\nsys.stdout.close()\n",
    "reads": "import sys\nassert sys.stdin.read() == ''\n",
    "moves": "import os\nos.chdir(os.path.dirname(os.getcwd()))\n",
    "argv": "import sys\nassert sys.argv[0].startswith('train_') and len(sys.argv) == 1\n",
    "thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()\n",
    "atexit": "import atexit, time\natexit.register(time.sleep, 600)\n",
}


def test_that_what_a_script_does_on_import_does_not_disturb(checkout, tmp_path):
    for name, text in NOISES.items():
        checkout.script(f"train_{name}", text)
    facts = ask(checkout, tmp_path)
    assert {name: script.error for name, script in facts.scripts.items() if script.error} == {}


FAILURES = [
    ("import nothere_at_all.part\n", "ModuleNotFoundError", "nothere_at_all"),
    ("import library.gone\n", "ModuleNotFoundError", None),
    ("raise SystemExit('use Python 3.10')\n", "exit", None),
    ("raise KeyboardInterrupt\n", "KeyboardInterrupt", None),
    ("raise OSError('')\n", "OSError", None),
    ("import os\nos._exit(3)\n", "crash", None),
    ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", "crash", None),
    ("def broken(:\n", "SyntaxError", None),
    (
        "try:\n    import nothere\nexcept ImportError as e:\n    raise RuntimeError('cannot') from e\n",
        "RuntimeError",
        "nothere",
    ),
]


@pytest.mark.parametrize(("text", "exception", "missing"), FAILURES)
def test_that_one_failing_script_is_a_fact_and_the_rest_is_kept(checkout, tmp_path, text, exception, missing):
    if "SIGSEGV" in text and os.name == "nt":
        pytest.skip("a signal of Linux")
    checkout.script("train_bad", text)
    checkout.script("train_later", "")
    facts = ask(checkout, tmp_path)
    error = facts.scripts["train_bad.py"].error
    assert (error.exception, error.missing) == (exception, missing)
    assert [name for name, script in facts.scripts.items() if script.error] == ["train_bad.py"]
    assert len(facts.problems) == 1
    assert "train_bad.py" in facts.problems[0]
    assert "Traceback" not in facts.problems[0]
    assert facts.torch == "2.6.0+cu124"
    with pytest.raises(ScriptNotUsable, match=missing or "train_bad"):
        Catalogue.from_facts(facts).script("train_bad")


def test_that_a_failure_names_its_place_in_the_checkout(checkout, tmp_path):
    (checkout.root / "library" / "util.py").write_text("\nimport json\njson.loads('{')\n")
    checkout.script("train_bad", "import library.util\n")
    assert ask(checkout, tmp_path).scripts["train_bad.py"].error.where == "library/util.py:3"


def test_that_a_hanging_import_is_given_up_and_the_rest_is_kept(checkout, tmp_path):
    checkout.script("train_a_hangs", "import time\ntime.sleep(600)\n")
    facts = ask(checkout, tmp_path, patience=1.5)
    assert facts.scripts["train_a_hangs.py"].error.exception == "hang"
    assert facts.scripts["train_network.py"].error is None


def test_that_hanging_imports_are_not_waited_for_one_after_the_other_for_ever(checkout, tmp_path):
    for name in ("train_z1", "train_z2", "train_z3", "train_z4"):
        checkout.script(name, "import time\ntime.sleep(600)\n")
    runs = []
    facts = ask(checkout, tmp_path, patience=0.7, progress=lambda stage, *_counts: runs.append(stage))
    hanging = [name for name, script in facts.scripts.items() if script.error]
    assert hanging == ["train_z1.py", "train_z2.py", "train_z3.py", "train_z4.py"]
    assert "train_z4.py" not in runs


def test_that_endless_noise_is_given_up(checkout, tmp_path, monkeypatch):
    monkeypatch.setattr("gui.engine.trainer.stage_run._NOISE_BYTES", 1000)
    checkout.script("train_loud", "import os\nwhile True:\n    os.write(2, b'x' * 9999)\n")
    assert "without end" in ask(checkout, tmp_path).scripts["train_loud.py"].error.message


def test_that_many_crashes_lose_nothing_of_the_others(checkout, tmp_path):
    for number in range(6):
        checkout.script(f"train_{number}", "import os\nos._exit(9)\n")
    facts = ask(checkout, tmp_path)
    crashes = [script.error.exception for script in facts.scripts.values() if script.error]
    assert crashes == ["crash"] * 6
    assert len(facts.problems) == 1


def broken(checkout, tmp_path, **how):
    with pytest.raises(TrainerBroken) as caught:
        ask(checkout, tmp_path, **how)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert "Traceback" not in sentence
    return sentence


def test_that_a_missing_torch_is_one_sentence(checkout, tmp_path):
    (checkout.root / "torch.py").unlink()
    venv.create(tmp_path / "venv", symlinks=os.name != "nt", with_pip=False)
    checkout.write("train_third", "import toml_of_nobody\n\ndef setup_parser():\n    pass\n")
    checkout.write("train_network", "import toml_of_nobody\n\ndef setup_parser():\n    pass\n")
    checkout.write("train_other", "import torch\n\ndef setup_parser():\n    pass\n")
    with pytest.raises(TrainerBroken, match="“torch”") as caught:
        probe(checkout.install(executable_in(tmp_path / "venv")), tmp_path / "cache")
    assert caught.value.missing == "torch"


def test_that_a_trainer_that_can_be_asked_without_torch_still_cannot_train(checkout, tmp_path):
    (checkout.root / "torch.py").unlink()
    venv.create(tmp_path / "venv", symlinks=os.name != "nt", with_pip=False)
    install = checkout.install(executable_in(tmp_path / "venv")).model_copy(update={"practice": True})
    facts = probe(install, tmp_path / "cache")
    assert facts.torch is None
    assert "“torch” is missing" in facts.problems[0]
    with pytest.raises(TrainerBroken, match="pip install torch"):
        require_torch(install, facts)


def test_that_the_package_is_named_as_pip_knows_it(checkout, tmp_path):
    checkout.script("train_network", "import importlib\nraise ModuleNotFoundError('x', name='cv2')\n")
    assert "“opencv-python”" in broken(checkout, tmp_path)


def test_that_a_torch_that_crashes_is_one_sentence_at_once(checkout, tmp_path):
    checkout.write("torch", "import os\nos._exit(77)\n")
    checkout.script("train_network", "import torch\n")
    assert "77" in broken(checkout, tmp_path)


def test_that_a_torch_that_fails_otherwise_is_told(checkout, tmp_path):
    checkout.write("torch", "raise OSError('[WinError 126] c10.dll')\n")
    facts = ask(checkout, tmp_path)
    assert "c10.dll" in facts.torch_problem
    assert any("c10.dll" in problem for problem in facts.problems)
    with pytest.raises(TrainerBroken, match=r"c10\.dll"):
        require_torch(checkout.install(), facts)


@pytest.mark.parametrize(
    ("more", "backend"),
    [
        ("class xpu: is_available = staticmethod(lambda: True)", "xpu"),
        ("class backends:\n    class mps: is_available = staticmethod(lambda: True)", "mps"),
    ],
)
def test_that_other_backends_are_told(checkout, tmp_path, more, backend):
    with checkout.write("torch", TORCH).open("a") as file:
        file.write(more + "\n")
    facts = ask(checkout, tmp_path)
    assert (facts.backend, facts.gpus) == (backend, ())


def test_that_gpus_that_cannot_be_asked_are_a_problem_only(checkout, tmp_path):
    checkout.write("torch", GPUS.replace("staticmethod(lambda: 3)", "staticmethod(lambda: 1 // 0)"))
    facts = ask(checkout, tmp_path)
    assert facts.torch == "2.6.0+cu124"
    assert "the GPUs cannot be asked" in facts.problems[0]


@pytest.mark.skipif(os.name == "nt", reason="shell scripts as interpreters")
@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("#!/bin/sh\nexit 0\n", "no working Python"),
        ("#!/bin/sh\necho No pyvenv.cfg file >&2\nexit 106\n", "No pyvenv.cfg file"),
        ("garbage", "cannot be started"),
    ],
)
def test_that_an_interpreter_that_is_none_is_one_sentence(checkout, tmp_path, content, words):
    python = tmp_path / "python"
    python.write_text(content)
    python.chmod(0o755)
    with pytest.raises(TrainerBroken, match=words):
        probe(checkout.install(python), tmp_path / "cache")


def test_that_what_can_be_imported_is_known(checkout, tmp_path):
    modules = ask(checkout, tmp_path).modules
    assert {"json", "train_network", "pydantic"} <= set(modules)
    assert "no_such_module" not in modules


def test_that_a_checkout_without_scripts_is_one_sentence(checkout, tmp_path):
    (checkout.root / "train_network.py").write_text("")
    assert "no training script" in broken(checkout, tmp_path)


@pytest.mark.usefixtures("no_leftovers")
def test_that_progress_is_told_and_the_probe_can_be_called_off(checkout, tmp_path):
    checkout.script(
        "train_slow",
        "import subprocess, sys, time\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\ntime.sleep(600)\n",
    )
    seen = []
    with pytest.raises(Cancelled, match="Cancelled"):
        ask(
            checkout,
            tmp_path,
            progress=lambda *what: seen.append(what),
            cancelled=lambda: bool(seen[-1:]) and seen[-1][0] == "train_slow.py",
        )
    assert seen[-1][:2] == ("train_slow.py", 5)


def runs_of(monkeypatch):
    runs = []
    started = subprocess.Popen

    def popen(words, **how):
        runs.append(words)
        return started(words, **how)

    monkeypatch.setattr("gui.engine.trainer.stage_run.subprocess.Popen", popen)
    return runs


def test_that_the_answer_is_remembered_until_something_changes(checkout, tmp_path, monkeypatch):
    runs = runs_of(monkeypatch)
    first = ask(checkout, tmp_path)
    assert ask(checkout, tmp_path) == first
    assert len(runs) == 1
    ask(checkout, tmp_path, refresh=True)
    assert len(runs) == 2
    (checkout.root / "library" / "new.py").touch()
    ask(checkout, tmp_path)
    assert len(runs) == 3
    checkout.script("train_network", "# changed\n")
    ask(checkout, tmp_path)
    assert len(runs) == 4


def test_that_what_is_remembered_can_be_seen_without_asking(checkout, tmp_path, monkeypatch):
    runs = runs_of(monkeypatch)
    cache = tmp_path / "cache"
    assert remembered_facts(checkout.install(), cache) is None
    ask(checkout, tmp_path)
    assert remembered_facts(checkout.install(), cache).torch == ask(checkout, tmp_path).torch
    checkout.script("train_network", "# changed\n")
    assert remembered_facts(checkout.install(), cache) is None
    assert len(runs) == 1


def test_that_another_driver_or_choice_of_gpus_is_asked_anew(checkout, tmp_path, monkeypatch):
    runs = runs_of(monkeypatch)
    driver = tmp_path / "nvidia" / "version"
    monkeypatch.setattr("gui.engine.trainer.probe._DRIVER", driver)
    ask(checkout, tmp_path)
    driver.parent.mkdir()
    driver.write_text("NVRM version: 560.94")
    ask(checkout, tmp_path)
    os.utime(driver, (0, 0))  # /proc gives any time it likes
    ask(checkout, tmp_path)
    assert len(runs) == 2
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    ask(checkout, tmp_path)
    assert len(runs) == 3


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"key": 1}', None])
def test_that_a_damaged_or_unwritable_cache_costs_only_time(checkout, tmp_path, damage):
    ask(checkout, tmp_path)
    (kept,) = (tmp_path / "cache" / "trainers").iterdir()
    content = json.loads(kept.read_text())
    kept.write_text(json.dumps(content | {"facts": {"schema": 99}}) if damage is None else damage)
    assert ask(checkout, tmp_path).torch == "2.6.0+cu124"
    blocked = tmp_path / "file"
    blocked.touch()
    assert probe(checkout.install(), blocked).torch == "2.6.0+cu124"


def test_that_the_accelerate_config_is_always_the_one_in_force(checkout, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    assert ask(checkout, tmp_path).accelerate is None
    config = tmp_path / "hf" / "accelerate" / "default_config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("mixed_precision: bf16\nnum_processes: 2\n")
    found = ask(checkout, tmp_path).accelerate
    assert (found.path, found.values) == (str(config), {"mixed_precision": "bf16", "num_processes": 2})


@pytest.mark.parametrize(
    "content", [b"\xff\xff", b"a: [", b"just words", b"a: !!python/object:os.x {}", b"a: 2020-99-99"]
)
def test_that_a_damaged_accelerate_config_is_told(tmp_path, content):
    config = tmp_path / "cache" / "huggingface" / "accelerate" / "default_config.json"
    config.parent.mkdir(parents=True)
    config.write_bytes(content)
    found = accelerate_config({"XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert found.values == {}
    assert found.problem


def test_that_a_trainer_inherits_nothing_of_this_programs_python(monkeypatch):
    given = {"PYTHONPATH": "a", "PYTHONHOME": "b", "VIRTUAL_ENV": sys.prefix, "_PYI_X": "1", "PATH": "p"}
    assert clean_environment(given) == {"PATH": "p"}
    assert "VIRTUAL_ENV" not in variables_to_unset({"VIRTUAL_ENV": "/other"})
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    packed = {"LD_LIBRARY_PATH": "/tmp/_MEI", "LD_LIBRARY_PATH_ORIG": "/usr/lib/wsl/lib"}
    assert variables_to_set(packed) == {"LD_LIBRARY_PATH": "/usr/lib/wsl/lib"}
    assert clean_environment({"LD_LIBRARY_PATH": "/tmp/_MEI"}) == {}


def test_that_the_probe_program_is_written_for_old_pythons():
    source = resource_path("trainer_probe", "probe.py").read_text("utf-8")
    compile(source, "probe.py", "exec", dont_inherit=True, _feature_version=8)


def test_that_the_practice_trainer_answers_like_any_other(tmp_path):
    facts = probe(practice_install(), tmp_path / "cache")
    assert facts.name == "practice"
    assert facts.scripts["train_network.py"].error is None
    assert "tensorboard" in facts.packages
