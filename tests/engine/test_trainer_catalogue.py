"""The catalogue of arguments as forms and previews use it."""

from gui.engine.trainer.catalogue import Catalogue


def test_that_arguments_come_in_the_trainers_order() -> None:
    script = Catalogue.bundled().script("sdxl_train_network.py")
    assert list(script.arguments) == list(dict.fromkeys(row.dest for row in script.rows if row.is_setting))
    assert next(iter(script.arguments)) == "console_log_level"
