"""Number formats: what overflows, what the GPU cannot do, what the trainer refuses."""

from table import findings, make_plan, make_view

OLD_GPU = {"gpu": [{"name": "T4", "vram_gib": 16.0, "compute_capability": "7.5"}]}


def test_that_no_bf16_is_offered_to_a_gpu_that_cannot() -> None:
    view = make_view(make_plan({"mixed_precision": "fp16"}), "flux_train_network.py", **OLD_GPU)
    (finding,) = findings("nan-flux-fp16", view)
    assert [fix.id for fix in finding.fixes] == ["use-fp32"]
    assert "not suited" in finding.detail
