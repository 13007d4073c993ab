"""What has to be traced for a plan, so that its memory forecast is exact."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from memory_scene import sdxl_plan

from gui.engine.errors import CannotRead
from gui.engine.hardware.memory.tables import StepResult, StepRow, TracedStep
from gui.engine.paths import Home
from gui.engine.preflight import exact_forecast
from gui.engine.preflight.checking import checker_for
from gui.engine.preflight.exact_forecast import exact_question, is_exact
from gui.engine.preflight.facts import Facts, GpuFact
from gui.engine.preflight.rules.memory_needs import forecast_memory
from gui.engine.preflight.view import View

GPU = GpuFact(name="A card", vram_gib=12.0, free_gib=11.0)


def seen(tmp_path: Path, gpu: tuple[GpuFact, ...] = (GPU,), **arguments: object) -> View:
    facts = Facts(os="linux", gpu=gpu)
    kind = arguments.pop("kind", None)
    plan = sdxl_plan(tmp_path, **arguments)
    plan = plan.model_copy(update={"kind": kind}) if kind else plan
    view, findings = checker_for(tmp_path, None, Home(tmp_path / "home"), machine=facts).view(plan)
    assert view is not None, findings
    return view


def test_that_the_question_is_the_plan_as_it_stands(tmp_path: Path) -> None:
    question = exact_question(seen(tmp_path, batch=3, fp8_base=True))
    assert question is not None
    setting = question.setting
    assert question.family == "sdxl"
    assert (setting.width_px, setting.height_px, setting.batch) == (1024, 1024, 3)
    assert (setting.kind, setting.rank, setting.weights, setting.adapter) == ("lora", 64, "fp8", "fp32")
    assert setting.checkpointing and setting.autocast and setting.text_encoders
    assert setting.optimizer is None, "what an optimizer keeps is known without a trace"
    assert question.operations > 0


def test_that_a_fused_step_is_traced_with_its_optimizer(tmp_path: Path) -> None:
    fused = {"optimizer_type": "Adafactor", "fused_backward_pass": True, "network_module": None}
    question = exact_question(seen(tmp_path, kind="full", **fused))
    assert question is not None
    assert (question.setting.kind, question.setting.rank) == ("full", None)
    assert question.setting.fused_backward and question.setting.optimizer == "Adafactor"


@pytest.mark.parametrize(
    "arguments",
    [
        {"torch_compile": True},
        {"gpu": ()},
        {"batch": 10**6},
        {"batch": 0},
        {"vae_batch_size": 10**6},
        {"network_module": "my.network"},
        {"network_dim": 0},
    ],
)
def test_that_nothing_is_asked_where_no_trace_could_answer(tmp_path: Path, arguments) -> None:
    assert exact_question(seen(tmp_path, **arguments)) is None


def test_that_damaged_tables_ask_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged() -> None:
        raise CannotRead(tmp_path, "damaged")

    view = seen(tmp_path)
    monkeypatch.setattr(exact_forecast, "load_tables", damaged)
    assert exact_question(view) is None


def test_that_a_trace_takes_the_place_of_the_table_and_is_known_again(tmp_path: Path) -> None:
    view = seen(tmp_path)
    question = exact_question(view)
    assert question is not None and not is_exact(question, view)
    gib = 2**30
    result = StepResult(
        trainable_parameters=1,
        weights=5 * gib,
        adapter=gib // 8,
        gradients=gib // 8,
        optimizer_state=0,
        phases={"load": 5 * gib, "forward_1": 9 * gib, "backward_1": 10 * gib},
        peak=10 * gib,
        peak_phase="backward_1",
        peak_operation="mul",
        reserved=11 * gib,
        operations=5,
    )
    traced = replace(
        view, traced=(TracedStep(question.family, StepRow(setting=question.setting, result=result)),)
    )
    assert is_exact(question, traced)
    before, after = (forecast_memory(each).phase("step") for each in (view, traced))
    assert before is not None and after is not None
    assert after.parts.activations > before.parts.activations + 2
