"""What the file of network modules says, and what happens when it is broken."""

import pytest

from gui.engine.errors import CannotRead
from gui.engine.plan.families import families
from gui.engine.plan.network_modules import network_modules


def test_that_every_module_a_family_names_is_known() -> None:
    named = {
        module
        for family in families().values()
        for kind in family.kinds.values()
        for module in kind.network_modules
        if module.startswith("networks.")
    }
    assert named <= network_modules().keys()


def test_that_groups_are_filled_in() -> None:
    modules = network_modules()
    assert "conv_dim" in modules["networks.lora_flux"].keys
    assert "loraplus_lr_ratio" not in modules["networks.lora_fa"].keys
    assert modules["networks.lora"].keys["block_dims"].count(sdxl=True) == 23
    assert modules["networks.lora_flux"].keys["in_dims"].count(sdxl=False) == 5


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("schema: 1\nmodules: [", "did not find"),
        ("schema: 1\nmodules: {a: {groups: [b]}}", "groups that do not exist: b"),
        ("schema: 2\nmodules: {}", "schema"),
    ],
)
def test_that_a_broken_file_is_named_with_its_reason(tmp_path, text, reason) -> None:
    path = tmp_path / "modules.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CannotRead, match=reason):
        network_modules(path)
