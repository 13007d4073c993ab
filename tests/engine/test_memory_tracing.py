"""A setting is traced in the user's trainer by a child process, once; what goes wrong is one sentence."""

from __future__ import annotations

import ast
import sys
import textwrap
from pathlib import Path

import pytest

from gui.engine.errors import Cancelled, CannotTrace, TrainerBroken
from gui.engine.hardware.memory import tracing
from gui.engine.hardware.memory.tables import PassSetting, StepSetting
from gui.engine.hardware.memory.tracing import Tracer, task_of
from gui.engine.resources import resource_path
from gui.engine.trainer.installs import TrainerInstall

STEP = StepSetting(width_px=512, height_px=512, text_tokens=77)
PASS = PassSetting(part="vae_decode", width_px=512, height_px=512)

PROGRAM = """
    import json, os, sys, time
    from pathlib import Path

    task = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    Path("runs").open("a").write("x")
    with Path(sys.argv[2]).open("a") as results:
        def write(**line):
            results.write(json.dumps(dict(stage="trace", **line)) + "\\n")
            results.flush()

        write(state="begin")
        setting = task["settings"]["trace"]
        what = Path("what").read_text() if Path("what").exists() else ""
        exec(what)
        if setting.get("part") == "vae_decode":
            write(state="end", result=dict(weights=1, peak=2, peak_operation="mul", reserved=3, operations=4))
        else:
            write(state="progress", operations=2000)
            time.sleep(0.2)
            write(state="progress", operations=4000)
            time.sleep(0.2)
            result = dict(trainable_parameters=1, weights=2, adapter=1, gradients=1, optimizer_state=0,
                phases=dict(load=3, forward_1=9), peak=9, peak_phase="forward_1", peak_operation="mul",
                allocated=10, reserved=11, operations=5)
            write(state="end", result=result)
"""
"""Speaks as the tracer does, and needs no torch."""


class Trainer:
    """A folder of training scripts whose tracer does what a test needs."""

    def __init__(self, root: Path, python: str) -> None:
        self.root = root
        (root / "library").mkdir(parents=True)
        (root / "train_network.py").write_text("")
        self.install = TrainerInstall(root=root, python=Path(python), origin="sd-scripts", label="sd-scripts")

    def does(self, words: str) -> None:
        (self.root / "what").write_text(textwrap.dedent(words), "utf-8")

    @property
    def runs(self) -> int:
        return len((self.root / "runs").read_text())


@pytest.fixture
def trainer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trainer:
    program = tmp_path / "resources" / "memory_tracer" / "trace.py"
    program.parent.mkdir(parents=True)
    program.write_text(textwrap.dedent(PROGRAM), "utf-8")
    monkeypatch.setattr(tracing, "resource_path", (tmp_path / "resources").joinpath)
    return Trainer(tmp_path / "sd scripts ✓", sys.executable)


def tracer(trainer: Trainer, tmp_path: Path, **how) -> Tracer:
    return Tracer(trainer.install, tmp_path / "cache", **how)


def test_that_a_step_is_traced_once_and_then_remembered(trainer: Trainer, tmp_path: Path):
    row = tracer(trainer, tmp_path).trace_step("sdxl", STEP)
    assert row.setting == STEP
    assert (row.result.peak, row.result.reserved) == (9, 11)
    assert tracer(trainer, tmp_path).trace_step("sdxl", STEP) == row
    assert trainer.runs == 1
    tracer(trainer, tmp_path).trace_step("sdxl", STEP.model_copy(update={"batch": 2}))
    tracer(trainer, tmp_path).trace_step("sd15", STEP)
    assert trainer.runs == 3


def test_that_a_pass_is_traced_like_a_step(trainer: Trainer, tmp_path: Path):
    row = tracer(trainer, tmp_path).trace_pass("sdxl", PASS)
    assert (row.setting, row.result.reserved) == (PASS, 3)


def test_that_another_state_of_the_trainer_is_traced_anew(trainer: Trainer, tmp_path: Path):
    tracer(trainer, tmp_path).trace_step("sdxl", STEP)
    (trainer.root / "library" / "flux_models.py").write_text("# changed")
    tracer(trainer, tmp_path).trace_step("sdxl", STEP)
    assert trainer.runs == 2


@pytest.mark.parametrize("content", ["", "{", "[]", '{"weights": 1}'])
def test_that_a_damaged_memory_of_a_trace_never_becomes_a_number(
    trainer: Trainer, tmp_path: Path, content: str
):
    tracer(trainer, tmp_path).trace_step("sdxl", STEP)
    (place,) = (tmp_path / "cache" / "memory").iterdir()
    place.write_text(content, "utf-8")
    assert tracer(trainer, tmp_path).trace_step("sdxl", STEP).result.peak == 9
    assert trainer.runs == 2


def test_that_a_cache_that_cannot_be_written_costs_only_time(trainer: Trainer, tmp_path: Path):
    (tmp_path / "cache").write_text("a file")
    assert tracer(trainer, tmp_path).trace_step("sdxl", STEP).result.peak == 9


def test_that_progress_is_told(trainer: Trainer, tmp_path: Path):
    told: list[int] = []
    tracer(trainer, tmp_path, progress=told.append).trace_step("sdxl", STEP)
    assert set(told) <= {2000, 4000}
    assert told == sorted(told)
    assert told


def test_that_a_trace_can_be_called_off(trainer: Trainer, tmp_path: Path):
    trainer.does("time.sleep(60)")
    with pytest.raises(Cancelled):
        tracer(trainer, tmp_path, cancelled=(trainer.root / "runs").exists).trace_step("sdxl", STEP)


@pytest.mark.parametrize(
    ("does", "words"),
    [
        (
            """write(state="failed", error=dict(exception="KeyError", message="x"))\nsys.exit()""",
            "KeyError: x",
        ),
        ("""write(state="failed", error=dict(exception="A"))\nsys.exit()""", r"\(A: –\)"),
        (
            """write(state="failed", error=dict(exception="ImportError", missing="torch"))\nsys.exit()""",
            "no package “torch”",
        ),
        ("os._exit(3)", "crashed: it ended with status 3"),
        ("os._exit(0)", "ended early"),
        ("time.sleep(60)", "stuck: no end after"),
        ("""write(state="end", result=dict(weights=1))\nsys.exit()""", "makes no sense"),
        ("""write(state="end", result=None)\nsys.exit()""", "makes no sense"),
    ],
)
def test_that_a_trace_that_fails_is_one_sentence_and_not_remembered(
    trainer: Trainer, tmp_path: Path, does: str, words: str
):
    trainer.does(does)
    patience = 2.0 if "sleep" in does else tracing.PATIENCE_SECONDS
    with pytest.raises(CannotTrace, match=words) as caught:
        tracer(trainer, tmp_path, patience=patience).trace_step("sdxl", STEP)
    assert "\n" not in str(caught.value)
    trainer.does("")
    assert tracer(trainer, tmp_path).trace_step("sdxl", STEP).result.peak == 9


def test_that_an_interpreter_that_is_none_is_told(trainer: Trainer, tmp_path: Path):
    broken = trainer.install.model_copy(update={"python": tmp_path / "no python"})
    with pytest.raises(TrainerBroken, match="no python"):
        Tracer(broken, tmp_path / "cache").trace_step("sdxl", STEP)
    away = trainer.install.model_copy(update={"root": tmp_path / "moved"})
    with pytest.raises(TrainerBroken, match="its folder is no longer there"):
        Tracer(away, tmp_path / "cache").trace_step("sdxl", STEP)


def test_that_the_tracer_is_written_for_the_pythons_of_trainers():
    files = sorted(resource_path("memory_tracer").rglob("*.py"))
    assert len(files) > 10
    for file in files:
        ast.parse(file.read_text("utf-8"), feature_version=(3, 10))


def test_that_a_part_that_an_old_trainer_lacks_is_no_missing_package(tmp_path: Path):
    (tmp_path / "library").mkdir()
    (tmp_path / "torch.py").write_text("import library.chroma_models\n")
    install = TrainerInstall(
        root=tmp_path, python=Path(sys.executable), origin="sd-scripts", label="sd-scripts"
    )
    run = tracing.run_tracer(install, ["about"], {})
    assert "no package" not in tracing.reason_of_failure(run.failures["about"])
    assert "library.chroma_models" in tracing.reason_of_failure(run.failures["about"])


def test_that_a_trainer_without_torch_is_told_what_it_lacks(tmp_path: Path):
    (tmp_path / "torch.py").write_text("import a_package_that_nobody_has\n")
    install = TrainerInstall(
        root=tmp_path, python=Path(sys.executable), origin="sd-scripts", label="sd-scripts"
    )
    run = tracing.run_tracer(install, ["about"], {})
    assert "no package “a_package_that_nobody_has”" in tracing.reason_of_failure(run.failures["about"])


def test_that_a_setting_is_given_to_the_tracer_in_its_own_words():
    full = STEP.model_copy(update={"kind": "full", "rank": None, "weights": "fp32"})
    task = task_of("sdxl", full)
    assert task["family"] == "sdxl"
    assert (task["kind"], task["weights"], task["width_px"]) == ("full", "fp32", 512)
    assert "rank" not in task
    assert "optimizer" not in task
