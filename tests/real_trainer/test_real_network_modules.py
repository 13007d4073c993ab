"""The keys that we say a network module reads are those that it reads."""

import re

import pytest

from gui.engine.plan.network_modules import network_modules

PASSED_OVER = {"networks.oft_flux": {"enable_conv"}}
"""Read in lines that are commented out."""


@pytest.mark.parametrize("name", network_modules())
def test_that_a_module_reads_exactly_the_keys_that_are_known(real_trainer, name) -> None:
    source = (real_trainer.root / (name.replace(".", "/") + ".py")).read_text(encoding="utf-8")
    read = set(re.findall(r'kwargs\.get\("([a-z0-9_]+)"', source))
    assert read - PASSED_OVER.get(name, set()) == set(network_modules()[name].keys)
