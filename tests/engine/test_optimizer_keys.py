"""What each optimizer takes is data, judged when it is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from gui.engine.errors import CannotRead
from gui.engine.plan.optimizers import optimizer_keys
from gui.engine.preflight.rules.optimizer_names import BUILT_IN


def test_that_every_optimizer_of_the_trainers_own_is_known() -> None:
    assert set(optimizer_keys()) >= BUILT_IN
    assert not any("lr" in keys for keys in optimizer_keys().values())


@pytest.mark.parametrize(
    "text", ["schema: 2\noptimizers: []\n", "schema: 1\noptimizers: [{names: []}]\n", "a: [\n"]
)
def test_that_a_file_of_another_form_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "optimizers.yaml"
    file.write_text(text, "utf-8")
    with pytest.raises(CannotRead):
        optimizer_keys(file)
