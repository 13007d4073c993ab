"""Paths: what must be there, as what, and blanks around names."""

import pytest
from table import assert_fixes_mend, findings, make_plan, make_view

from gui.engine.plan.changes import apply_changes
from gui.engine.preflight.view import View

SDXL, FLUX, SD3 = "sdxl_train_network.py", "flux_train_network.py", "sd3_train_network.py"
MODEL = "pretrained_model_name_or_path"


def there(**kinds: str) -> dict:
    return {"paths": {f"/{name}": {"kind": kind} for name, kind in kinds.items()}}


FIRES = [
    ("path-missing", "stop", SDXL, {MODEL: "/m"}, there(m="missing"), ()),
    ("path-missing", "stop", SDXL, {"vae": "/v"}, there(v="missing"), None),
    ("path-missing", "stop", SDXL, {"base_weights": ["/a", "/b"]}, there(a="file", b="missing"), None),
    ("path-missing", "stop", SDXL, {"resume": "/r"}, there(r="missing"), ()),
    ("path-kind", "stop", FLUX, {MODEL: "/m"}, there(m="folder"), ()),
    ("path-kind", "stop", FLUX, {"clip_l": "/c"}, there(c="folder"), ()),
    ("path-kind", "stop", SDXL, {"resume": "/r"}, there(r="file"), ()),
    ("path-kind", "stop", SDXL, {"output_dir": "/o"}, there(o="file"), ()),
    ("path-kind", "stop", SDXL, {"logging_dir": "/l"}, there(l="file"), None),
    ("model-format", "stop", FLUX, {MODEL: "/flux1-Q8.GGUF"}, {}, ()),
    ("files-together", "danger", SD3, {"clip_l": "/l", "t5xxl": "/t"}, {}, None),
    ("trim", "warning", SDXL, {"output_dir": " /o"}, {}, None),
    ("trim", "warning", SDXL, {"output_name": "name "}, {}, None),
]


@pytest.mark.parametrize(("identity", "severity", "script", "arguments", "facts", "fixes"), FIRES)
def test_that_the_rule_fires_and_its_fixes_mend(identity, severity, script, arguments, facts, fixes) -> None:
    view = make_view(make_plan(arguments), script, **facts)
    assert [finding.severity for finding in findings(identity, view)] == [severity]
    assert_fixes_mend(identity, view, fixes)


SILENT = [
    ("path-missing", SDXL, {MODEL: "/m"}, there(m="file")),
    ("path-missing", SDXL, {MODEL: "org/name"}, there()),
    ("path-missing", SDXL, {"output_dir": "/o"}, there(o="missing")),
    ("path-missing", SDXL, {"sample_prompts": "/p.txt"}, {"paths": {"/p.txt": {"kind": "missing"}}}),
    ("path-missing", SDXL, {"resume": "/r", "resume_from_huggingface": True}, there(r="missing")),
    ("path-kind", SDXL, {MODEL: "/m"}, there(m="folder")),
    ("path-kind", "anima_train_network.py", {"vae": "/v"}, there(v="file")),
    ("path-kind", "anima_train_network.py", {"qwen3": "/q"}, there(q="folder")),
    ("path-kind", SDXL, {"output_dir": "/o"}, there(o="folder")),
    ("path-kind", SDXL, {MODEL: 5}, {}),
    ("model-format", FLUX, {MODEL: "/m.safetensors"}, {}),
    ("files-together", SD3, {"clip_l": "/l", "t5xxl": "/t", "clip_g": "/g"}, {}),
    ("files-together", SD3, {}, {}),
    ("files-together", FLUX, {"clip_l": "/l"}, {}),
    ("trim", SDXL, {"output_dir": "/my pictures", "output_name": " "}, {}),
]


@pytest.mark.parametrize(("identity", "script", "arguments", "facts"), SILENT)
def test_that_the_rule_keeps_silent(identity, script, arguments, facts) -> None:
    assert not findings(identity, make_view(make_plan(arguments), script, **facts))


def test_that_blanks_in_the_dataset_are_found_at_every_level() -> None:
    own = make_plan(
        {},
        {
            "datasets": [{"subsets": [{"image_dir": "/a", "metadata_file": "/m.json "}]}],
            "subsets": [{"image_dir": " /b"}],
        },
    )
    effective = make_plan({})
    view = make_view(effective)
    view = View(effective, view.facts, view.script, view.arguments, own)
    found = findings("trim", view)
    assert {f.where for f in found} == {
        "dataset.datasets.0.subsets.0.metadata_file",
        "dataset.subsets.0.image_dir",
    }
    for finding in found:
        own = apply_changes(own, finding.fixes[0].changes)
    assert not findings("trim", View(effective, view.facts, view.script, view.arguments, own))
