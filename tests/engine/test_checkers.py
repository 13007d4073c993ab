"""One door to checking: on this machine or for another, with a trainer or without."""

from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.checking import checker_for
from gui.engine.preflight.facts import Facts
from gui.engine.trainer.argument import Argument
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.choosing import Trainer
from gui.engine.trainer.facts import ScriptFacts, TrainerFacts
from gui.engine.trainer.installs import practice_install

PLAN = TrainingPlan.model_validate({"script": "train_network.py", "arguments": {"no_such_thing": 1}})


def ids(checker):
    return {finding.id for finding in checker.findings(PLAN)}


def test_that_without_a_trainer_the_bundled_arguments_count(home, tmp_path):
    checker = checker_for(tmp_path, None, home)
    assert checker.collector is not None
    assert checker.facts.os in ("linux", "windows", "macos")
    assert "arg-unknown" in ids(checker)


def test_that_of_another_machine_only_what_was_told_is_known(home, tmp_path):
    machine = Facts(os="windows", ram_gib=1)
    checker = checker_for(tmp_path, None, home, machine=machine)
    assert checker.collector is None
    assert not checker.files_known
    assert checker.facts == machine


def test_that_a_trainers_own_arguments_count(home, tmp_path):
    install = practice_install()
    facts = TrainerFacts(schema=1, root=str(install.root), python=str(install.python), version="9")
    own = Argument(dest="no_such_thing", flags=("--no_such_thing",), type="int")
    catalogue = Catalogue({"train_network.py": ScriptFacts(arguments=(own,))})
    checker = checker_for(tmp_path, Trainer(install, facts, catalogue), home)
    assert checker.facts.trainer is not None
    assert (checker.facts.trainer.version, checker.facts.trainer.practice) == ("9", True)
    assert "arg-unknown" not in ids(checker)
