"""The probe asks a real sd-scripts; its parsers are those of the bundle when the commit is the same."""

import os
import venv

import pytest

from gui.engine.errors import TrainerBroken
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.installs import install_at
from gui.engine.trainer.interpreters import executable_in
from gui.engine.trainer.probe import probe, require_torch


def test_that_the_parsers_of_the_real_trainer_are_those_of_the_bundle(real_trainer, tmp_path):
    install = install_at(real_trainer.root, real_trainer.python)
    facts = probe(install, tmp_path)
    bundle, live = Catalogue.bundled(), Catalogue.from_facts(facts)
    if facts.commit != bundle.commit:
        pytest.skip(f"the bundle is of {bundle.commit}, this trainer is at {facts.commit}")
    assert live.scripts == bundle.scripts
    for name in bundle.scripts:
        rows = [row.model_copy(update={"help": ""}) for row in live.script(name).rows]
        assert rows == list(bundle.script(name).rows), name
    assert live.script("train_network").arguments["network_dim"].help
    assert facts.version == bundle.version
    assert facts.problems == ()
    assert {"accelerate", "torch", "transformers", "diffusers"} <= facts.packages.keys()
    require_torch(install, facts)
    assert probe(install, tmp_path) == facts


def test_that_a_python_without_torch_is_one_sentence(real_trainer, tmp_path):
    venv.create(tmp_path / "venv", symlinks=os.name != "nt", with_pip=False)
    install = install_at(real_trainer.root, executable_in(tmp_path / "venv"))
    with pytest.raises(TrainerBroken, match="no package “torch”") as caught:
        probe(install, tmp_path / "cache")
    assert "\n" not in str(caught.value)
