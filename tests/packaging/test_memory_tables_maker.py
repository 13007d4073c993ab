"""One command makes the memory tables, takes up where it was ended, and checks what is stored."""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path

import pytest

import memory_grid
import memory_tables
from gui.engine.hardware.memory import tracing
from gui.engine.hardware.memory.tables import PassSetting, read_table
from gui.engine.plan.families import families

PROGRAM = """
    import json, sys
    from pathlib import Path

    task = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    bytes_ = int(Path("bytes").read_text()) if Path("bytes").exists() else 100
    with Path(sys.argv[2]).open("a") as results, Path("asked").open("a") as asked:
        def write(**line):
            results.write(json.dumps(line) + "\\n")
            results.flush()

        for stage in task["stages"]:
            write(stage=stage, state="begin")
            if stage == "about":
                torch = Path("torch").read_text()
                write(stage=stage, state="end", result=dict(torch=torch, transformers="4.0"))
            elif stage.startswith("parameters:"):
                write(stage=stage, state="end", result=dict(network=10))
            elif Path("broken").exists():
                write(stage=stage, state="failed", error=dict(exception="KeyError", message="flux"))
            else:
                setting = task["settings"][stage]
                asked.write("x")
                result = dict(weights=10, peak=bytes_, peak_operation="mul", reserved=bytes_, operations=1)
                if "part" not in setting:
                    result.update(trainable_parameters=1, adapter=1, gradients=1, optimizer_state=0,
                        phases=dict(load=bytes_), peak_phase="load")
                write(stage=stage, state="end", result=result)
"""


@pytest.fixture
def trainer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "resources" / "memory_tracer" / "trace.py"
    program.parent.mkdir(parents=True)
    program.write_text(textwrap.dedent(PROGRAM), "utf-8")
    monkeypatch.setattr(tracing, "resource_path", (tmp_path / "resources").joinpath)
    root = tmp_path / "sd-scripts"
    (root / "library").mkdir(parents=True)
    (root / "train_network.py").touch()
    (root / "torch").write_text("2.9")
    return root


def run(trainer: Path, *words: str) -> int:
    place = [
        "--trainer",
        str(trainer),
        "--python",
        sys.executable,
        "--folder",
        str(trainer.parent / "tables"),
    ]
    return memory_tables.main([*place, *words])


def table_of(trainer: Path, family: str = "sd2"):
    return read_table(trainer.parent / "tables" / f"{family}.json")


def asked(trainer: Path) -> int:
    return len((trainer / "asked").read_text())


def test_that_a_table_has_every_setting_of_the_grid_in_its_order(trainer: Path):
    assert run(trainer, "--only", "sd2") == 0
    table = table_of(trainer)
    wanted = memory_tables.wanted("sd2")
    assert [row.setting for row in table.passes] == [s for s in wanted if isinstance(s, PassSetting)]
    assert [row.setting for row in table.steps] == [s for s in wanted if not isinstance(s, PassSetting)]
    assert (table.torch, table.trainer_commit, table.parameters) == ("2.9", "unknown", {"network": 10})


def test_that_rows_that_are_there_are_not_traced_again(trainer: Path):
    run(trainer, "--only", "sd2", "--first", "4")
    assert asked(trainer) == 4
    run(trainer, "--only", "sd2", "--first", "7")
    assert asked(trainer) == 7


def test_that_another_torch_makes_the_table_anew(trainer: Path):
    run(trainer, "--only", "sd2", "--first", "2")
    (trainer / "torch").write_text("2.10")
    run(trainer, "--only", "sd2", "--first", "1")
    assert asked(trainer) == 3
    assert len(table_of(trainer).steps) == 1


def test_that_what_cannot_be_traced_is_left_out_and_said(trainer: Path, capsys: pytest.CaptureFixture[str]):
    (trainer / "broken").touch()
    run(trainer, "--only", "sd2", "--first", "1")
    assert "KeyError: flux" in capsys.readouterr().err
    assert table_of(trainer).steps == ()


def test_that_a_check_compares_every_byte(trainer: Path, capsys: pytest.CaptureFixture[str]):
    run(trainer, "--only", "sd2", "--first", "3")
    assert run(trainer, "--only", "sd2", "--check") == 0
    (trainer / "bytes").write_text("101")
    assert run(trainer, "--only", "sd2", "--check", "--first", "1") == 1
    assert "sd2: DIFFERS" in capsys.readouterr().out


def test_that_without_torch_it_ends_with_the_reason(trainer: Path):
    (trainer / "torch").unlink()
    with pytest.raises(SystemExit, match="about"):
        run(trainer, "--only", "sd2")


def test_that_the_grid_has_every_family_that_has_networks_of_its_own():
    assert len(set(memory_grid.FAMILIES)) == len(memory_grid.FAMILIES)
    own = {name for name, family in families().items() if family.extends is None}
    assert own <= set(memory_grid.FAMILIES) <= set(families())


@pytest.mark.parametrize("family", memory_grid.FAMILIES)
def test_that_the_grid_asks_nothing_twice_and_tells_how_things_grow(family: str):
    settings = memory_tables.wanted(family)
    assert len(settings) == len(memory_grid.grid(family)), "something is asked twice"
    steps = [setting for setting in settings if not isinstance(setting, PassSetting)]
    for checkpointing in (True, False):
        alike = [step for step in steps if step.checkpointing == checkpointing and step.optimizer is None]
        assert len({step.width_px for step in alike}) > 1, "no slope in pixels"
        assert len({step.batch for step in alike}) > 1, "no slope in images"
    parts = {setting.part for setting in settings if isinstance(setting, PassSetting)}
    assert {"vae_encode", "vae_decode", "sample"} <= parts


def test_that_a_table_is_written_as_plain_json(trainer: Path):
    run(trainer, "--only", "sd2", "--first", "1")
    content = json.loads((trainer.parent / "tables" / "sd2.json").read_text("utf-8"))
    assert content["schema"] == 1
    assert content["steps"][0]["result"]["peak"] == 100
