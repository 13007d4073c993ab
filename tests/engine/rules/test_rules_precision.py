"""Number formats: what overflows, what the GPU cannot do, what the trainer refuses."""

from table import findings, make_plan, make_view

OLD_GPU = {"gpu": [{"name": "T4", "vram_gib": 16.0, "compute_capability": "7.5"}]}


def test_that_a_gpu_without_bf16_is_offered_it_only_where_nothing_else_is_left() -> None:
    view = make_view(make_plan({"mixed_precision": "fp16"}), "flux_train_network.py", **OLD_GPU)
    (finding,) = findings("nan-flux-fp16", view)
    assert [(fix.id, fix.safe) for fix in finding.fixes] == [("use-bf16", False), ("use-fp32", False)]
    assert "emulated" in finding.fixes[0].label
    assert "not suited" in finding.detail
    view = make_view(make_plan({"mixed_precision": "fp16"}), "sdxl_train_network.py", **OLD_GPU)
    (finding,) = findings("sdxl-vae", view)
    assert [fix.id for fix in finding.fixes] == ["no-half-vae"]
