"""What a run leaves behind: names, formats, how often."""

import pytest

from gui.engine.trainer.final_file import is_written_by


@pytest.mark.parametrize(
    ("name", "base", "written"),
    [
        ("mira.safetensors", "mira", True),
        ("mira-000012.safetensors", "mira", True),
        ("mira-step00000500.ckpt", "mira", True),
        ("mira-state", "mira", True),
        ("mira-step00000500-state", "mira", True),
        ("mira-000012", "mira", True),
        ("mira-2.safetensors", "mira", False),
        ("mira.txt", "mira", False),
        ("amira.safetensors", "mira", False),
        ("m.x.safetensors", "m.x", True),
        ("mxx.safetensors", "m.x", False),
        ("last.safetensors", None, True),
        ("epoch-000001.safetensors", None, True),
        ("at-step00000001-state", None, True),
        ("mira.safetensors", None, False),
    ],
)
def test_that_names_which_a_run_writes_are_known(name, base, written) -> None:
    assert is_written_by(name, base) is written
