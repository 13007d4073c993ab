"""``trainer`` finds, examines and remembers installs; every sub-command finds its trainer alike."""

import argparse
import io
import json
import os
import sys
import textwrap
import venv

import pytest

from gui.cli import main
from gui.cli.context import install_of, trainer_of
from gui.engine.errors import InterpreterNotFound, TrainerNotFound
from gui.engine.plan.model import TrainingPlan
from gui.engine.preferences import OwnTrainer, change_preferences, load_preferences
from gui.engine.trainer import choosing
from gui.engine.trainer.installs import practice_install
from gui.engine.trainer.interpreters import executable_in

TORCH = """
    __version__ = "2.6.0+cu124"
    bfloat16 = float16 = None
    class version:
        cuda, hip = "12.4", None
    class _Gpu:
        name, major, minor, total_memory = "RTX 3060", 8, 6, 12 * 2**30
    class _Old(_Gpu):
        name, major, minor = "GTX 1080", 6, 1
    def ones(*shape, **how): raise RuntimeError("no kernel image")
    class cuda:
        is_available = staticmethod(lambda: True)
        device_count = staticmethod(lambda: 2)
        get_arch_list = staticmethod(lambda: [])
        get_device_properties = staticmethod(lambda index: [_Gpu, _Old][index])
"""


def make_checkout(root, torch=TORCH):
    (root / "library").mkdir(parents=True)
    (root / "library" / "__init__.py").touch()
    script = "import argparse\nimport torch\n\n\ndef setup_parser():\n    return argparse.ArgumentParser()\n"
    (root / "train_network.py").write_text(script)
    (root / "torch.py").write_text(textwrap.dedent(torch))
    return root


@pytest.fixture
def checkout(tmp_path):
    return make_checkout(tmp_path / "sd-scripts")


@pytest.fixture(autouse=True)
def nothing_else_on_this_machine(home, monkeypatch, tmp_path):
    """Keep this machine's own trainers out of sight."""
    monkeypatch.delenv(choosing.TRAINER_VARIABLE, raising=False)
    monkeypatch.delenv(choosing.PYTHON_VARIABLE, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setattr("gui.engine.trainer.installs.usual_places", lambda: [tmp_path])
    monkeypatch.setattr("gui.engine.trainer.choosing.usual_places", lambda: [tmp_path])


def options(**given):
    return argparse.Namespace(**{"trainer": None, "python": None, "home": None} | given)


def run(capsys, *words):
    status = main.run(["trainer", *map(str, words)])
    return status, capsys.readouterr()


def test_that_an_install_is_described(checkout, capsys):
    status, said = run(capsys, "probe", checkout, "--python", sys.executable)
    assert (status, said.err) == (0, "")
    for words in ("torch 2.6.0+cu124, built for CUDA 12.4", "GPU 0: RTX 3060", "8.6", "12.0 GiB", "no bf16"):
        assert words in said.out
    assert "not usable: no kernel image" in said.out
    assert "train_network.py" in said.out


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("lambda: True", "lambda: False", "it sees no GPU"),
        ('"12.4", None', 'None, "6.2"', "built for ROCm 6.2"),
        ('"12.4", None', "None, None", "built for CPU"),
    ],
)
def test_that_builds_of_torch_are_told_apart(tmp_path, capsys, old, new, words):
    root = make_checkout(tmp_path / "sd-scripts", TORCH.replace(old, new))
    _status, said = run(capsys, "probe", root, "--python", sys.executable)
    assert words in said.out


def test_that_json_is_the_whole_answer(checkout, capsys, tmp_path):
    config = tmp_path / "hf" / "accelerate" / "default_config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("num_processes: 2\n")
    status, said = run(capsys, "probe", checkout, "--python", sys.executable, "--json", "--refresh")
    document = json.loads(said.out)
    assert (status, document["schema"], document["torch"]) == (0, 1, "2.6.0+cu124")
    assert document["accelerate"]["values"] == {"num_processes": 2}
    assert run(capsys, "probe", checkout, "--python", sys.executable)[1].out.count(str(config)) == 1


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_that_a_broken_install_is_the_answer_no_in_one_sentence(checkout, capsys, tmp_path, more):
    (checkout / "torch.py").unlink()
    venv.create(tmp_path / "venv", symlinks=os.name != "nt", with_pip=False)
    status, said = run(capsys, "probe", checkout, *more)
    assert status == 1
    assert "“torch”" in said.out
    assert "Traceback" not in said.out + said.err
    if more:
        assert len(json.loads(said.out)["problems"]) == 1


@pytest.mark.parametrize("words", [["probe", "/not/there"], ["probe"], ["use", "/not/there"], []])
def test_that_wrong_use_is_one_line_and_status_2(capsys, words):
    status, said = run(capsys, *words)
    assert (status, said.out) == (2, "")
    assert said.err.count("\n") == 1


def test_that_a_remembered_trainer_is_the_default_and_marked_in_the_list(checkout, capsys, home):
    assert run(capsys, "use", checkout, "--python", sys.executable)[0] == 0
    kept = load_preferences(home.preferences)
    assert (kept.trainer, kept.trainer_python) == (str(checkout), sys.executable)
    assert install_of(options()).root == checkout
    status, said = run(capsys, "list", "--json")
    listed = json.loads(said.out)["trainers"]
    assert status == 0
    assert [(entry["root"], entry["default"]) for entry in listed if not entry["practice"]] == [
        (str(checkout), True)
    ]
    assert listed[-1]["practice"]
    assert f"* sd-scripts at {checkout}" in run(capsys, "list")[1].out


def test_that_an_install_without_a_python_is_listed_as_such(checkout, capsys):
    status, said = run(capsys, "list")
    assert status == 0
    assert "no Python found" in said.out
    with pytest.raises(InterpreterNotFound, match="--python"):
        install_of(options())
    assert install_of(options(python=sys.executable)).root == checkout


def test_that_a_trainer_that_cannot_train_is_not_remembered(checkout, capsys, home, tmp_path):
    (checkout / "torch.py").unlink()
    venv.create(tmp_path / "venv", symlinks=os.name != "nt", with_pip=False)
    status, said = run(capsys, "use", checkout)
    assert status == 2
    assert "torch" in said.err
    assert load_preferences(home.preferences).trainer is None


def test_that_partial_trouble_is_told_when_a_trainer_is_remembered(checkout, capsys):
    (checkout / "train_more.py").write_text("import nothere\n\n\ndef setup_parser():\n    pass\n")
    status, said = run(capsys, "use", checkout, "--python", sys.executable)
    assert status == 0
    assert "nothere" in said.err
    assert run(capsys, "probe", checkout, "--python", sys.executable)[0] == 1


@pytest.mark.torch
def test_that_the_practice_trainer_can_be_the_default(capsys, home):
    pytest.importorskip("torch")
    assert run(capsys, "use", "practice")[0] == 0
    assert load_preferences(home.preferences).trainer == "practice"
    assert trainer_of(options()).install == practice_install()


def test_that_the_named_trainer_wins_over_the_plans_and_that_over_the_default(tmp_path, home, monkeypatch):
    roots = {name: make_checkout(tmp_path / name) for name in ("named", "planned", "kept", "variable")}
    plan = TrainingPlan(trainer="planned")
    given = options(python=sys.executable)
    monkeypatch.setenv(choosing.TRAINER_VARIABLE, str(roots["variable"]))
    monkeypatch.setenv(choosing.PYTHON_VARIABLE, sys.executable)
    assert install_of(options()).root == roots["variable"]
    change_preferences(home.preferences, trainer=str(roots["kept"]), trainer_python=sys.executable)
    assert install_of(options()).root == roots["kept"]
    assert install_of(given, TrainingPlan()).root == roots["kept"]
    assert install_of(given, plan, base=tmp_path).root == roots["planned"]
    named = options(trainer=str(roots["named"]), python=sys.executable)
    assert install_of(named, plan, base=tmp_path).root == roots["named"]
    assert install_of(named, plan, practice=True).practice
    assert install_of(options(), TrainingPlan(trainer="practice"), base=tmp_path).practice


def test_that_trainers_in_unusual_places_are_listed_and_keep_their_python(tmp_path, home):
    far = make_checkout(tmp_path / "far" / "away" / "from" / "all" / "trainer")
    change_preferences(home.preferences, trainers=(OwnTrainer(path=str(far), python=sys.executable),))
    known = {each.checkout.root: each for each in choosing.known_trainers(home)}
    assert known[far].install is not None
    assert str(known[far].install.python) == sys.executable
    assert not known[far].default
    assert str(install_of(options(trainer=str(far))).python) == sys.executable
    plan = TrainingPlan(trainer=str(far))
    assert str(install_of(options(), plan, base=tmp_path).python) == sys.executable
    change_preferences(home.preferences, trainer=str(far), trainer_python=sys.executable, trainers=None)
    assert choosing.known_trainers(home)[0].default
    assert str(install_of(options(trainer=str(far))).python) == sys.executable


def test_that_the_first_complete_install_is_taken_when_none_is_named(tmp_path):
    make_checkout(tmp_path / "scripts" / "dev")
    complete = make_checkout(tmp_path / "sd-scripts")
    venv.create(complete / "venv", symlinks=os.name != "nt", with_pip=False)
    install = install_of(options())
    assert (install.root, install.python) == (complete, executable_in(complete / "venv"))


def test_that_no_trainer_at_all_names_the_ways_out():
    with pytest.raises(TrainerNotFound, match="--practice"):
        install_of(options())


def test_that_a_remembered_trainer_that_is_gone_says_how_to_choose_another(home, tmp_path):
    change_preferences(home.preferences, trainer=str(tmp_path / "gone"))
    with pytest.raises(TrainerNotFound, match="trainer use") as caught:
        install_of(options())
    assert str(tmp_path / "gone") in str(caught.value)


def test_that_progress_is_one_line_on_a_terminal_and_nothing_in_a_pipe(checkout, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    (checkout / "library" / "__init__.py").write_text("import time\ntime.sleep(0.5)\n")
    with (checkout / "train_network.py").open("a") as file:
        file.write("import library\n")
    for stream, shown in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        trainer_of(options(trainer=str(checkout), python=sys.executable), refresh=True)
        assert ("asking the trainer" in stream.getvalue()) is shown
        assert "\n" not in stream.getvalue()


def test_that_the_chosen_language_is_spoken(home, monkeypatch):
    spoken = []
    monkeypatch.setattr(main, "use_language", spoken.append)
    main.run(["--version"])
    assert spoken == []
    change_preferences(home.preferences, language="ko")
    main.run(["--version"])
    assert spoken == ["ko"]
