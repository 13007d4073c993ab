"""What the output folder holds already, and the figures that a report gives."""

from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.check import Checker
from gui.engine.preflight.collect import existing_outputs
from gui.engine.preflight.facts import Facts
from gui.engine.preflight.view import View
from gui.engine.trainer.catalogue import Catalogue

CATALOGUE = Catalogue.bundled()
SCRIPT = CATALOGUE.script("sdxl_train_network.py")


def view_of(**arguments) -> View:
    return View(TrainingPlan(arguments=arguments), Facts(), SCRIPT.name, SCRIPT)


def test_that_only_what_would_be_written_over_is_named(tmp_path) -> None:
    for name in ("mira.safetensors", "mira-000001.safetensors", "other.safetensors", "notes.txt"):
        (tmp_path / name).touch()
    (tmp_path / "mira-state").mkdir()
    found = existing_outputs(view_of(output_dir=str(tmp_path), output_name="mira"))
    assert found == ("mira-000001.safetensors", "mira-state", "mira.safetensors")
    assert existing_outputs(view_of(output_dir=str(tmp_path))) == ()
    assert existing_outputs(view_of(output_dir=str(tmp_path / "not there"), output_name="mira")) == ()
    assert existing_outputs(view_of(output_name="mira")) == ()


def test_that_a_report_tells_steps_and_disk_where_they_are_known(tmp_path) -> None:
    facts = Facts.model_validate({"dataset": {"images": 20, "repeats": 10}})
    checker = Checker(tmp_path, CATALOGUE, facts, files_known=False)
    arguments = {"network_dim": 16, "max_train_epochs": 10, "save_every_n_epochs": 5}
    plan = TrainingPlan.model_validate(
        {
            "family": "sdxl",
            "arguments": arguments,
            "dataset": {"resolution": 1024, "batch_size": 2, "subsets": [{"image_dir": "a"}]},
        }
    )
    report = checker.report(plan)
    assert report.steps is not None
    assert (report.steps.batches_per_epoch, report.steps.total_steps) == (10, 100)
    assert report.forecast.disk_gib is not None and 0.4 < report.forecast.disk_gib < 0.5
    foreign = plan.model_copy(update={"arguments": {**arguments, "network_module": "lycoris.kohya"}})
    assert checker.report(foreign).forecast.disk_gib is None
    nothing = checker.report(plan.model_copy(update={"family": "no such family"}))
    assert nothing.steps is None and nothing.forecast.disk_gib is None
