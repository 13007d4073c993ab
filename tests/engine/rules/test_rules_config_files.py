"""Settings that are said twice, files of settings, and runs that train nothing."""

from table import findings, make_plan, make_view

from gui.engine.preflight.view import View


def test_that_what_the_user_wrote_is_compared_not_what_was_made_of_it() -> None:
    own = make_plan({"train_batch_size": 4}, {"batch_size": 2})
    effective = make_plan({}, {"batch_size": 2})
    view = make_view(effective)
    assert findings("dup-arg", View(effective, view.facts, view.script, view.arguments, own))
