"""Room on the disk."""

import pytest
from table import assert_fixes_mend, findings, make_plan, make_view

LORA = {"network_module": "networks.lora", "network_dim": 128, "max_train_epochs": 20}
EVERY = {**LORA, "save_every_n_epochs": 1}
STEPS = {**LORA, "max_train_epochs": None, "max_train_steps": 2000, "save_every_n_steps": 100}
STATES = {**EVERY, "save_state": True}


@pytest.mark.parametrize(
    ("arguments", "free", "severity", "fixes"),
    [
        (EVERY, 20.0, "stop", {"keep-epochs"}),
        (STEPS, 20.0, "stop", {"keep-steps"}),
        (STATES, 60.0, "stop", {"keep-epochs", "last-state"}),
        (STATES, 150.0, None, set()),
        (EVERY, 34.5, "warning", {"keep-epochs"}),
        (LORA, 0.1, "stop", set()),
        (LORA, 4.0, None, set()),
        (LORA, None, None, set()),
    ],
)
def test_that_what_does_not_fit_is_said_with_what_would(arguments, free, severity, fixes) -> None:
    view = make_view(make_plan(arguments), disk_free_gib=free)
    found = findings("disk", view)
    assert [finding.severity for finding in found] == ([severity] if severity else [])
    if severity:
        assert {fix.id for fix in found[0].fixes} == fixes
        assert not any(fix.safe for fix in found[0].fixes)
        assert_fixes_mend("disk", view, None if fixes else ())


def test_that_caches_beside_the_images_are_only_a_warning() -> None:
    plan = make_plan({"cache_text_encoder_outputs_to_disk": True, "network_module": "networks.lora_flux"})
    facts = {"disk_free_gib": 20.0, "dataset": {"images": 3000, "repeats": 1}}
    (finding,) = findings("disk", make_view(plan, "flux_train_network.py", **facts))
    assert finding.severity == "warning"
    assert "caches beside the images" in finding.detail
