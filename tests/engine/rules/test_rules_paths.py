"""Paths: what must be there, as what, and blanks around names."""

from table import findings, make_plan, make_view

from gui.engine.plan.changes import apply_changes
from gui.engine.preflight.view import View


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
