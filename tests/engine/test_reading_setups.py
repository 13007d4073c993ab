"""What somebody brings becomes a plan, or one sentence that says what it is instead."""

import pytest

from gui.engine.errors import CannotRead, ScriptNeeded, ScriptNotUsable
from gui.engine.importers.reading import read_setup
from gui.engine.trainer.catalogue import Catalogue


@pytest.fixture(scope="module")
def bundled():
    return Catalogue.bundled()


def test_that_a_plan_file_is_read_as_it_is(tmp_path, bundled):
    file = tmp_path / "plan.toml"
    file.write_text('name = "cat"\nscript = "train_network.py"\n[arguments]\nnetwork_dim = 8\n')
    given = read_setup(file, None, bundled)
    assert (given.file.path, given.file.plan.name, given.findings) == (file, "cat", ())
    assert given.file.plan.arguments == {"network_dim": 8}
    assert read_setup(file, "sdxl_train_network.py", bundled).file.plan.script == "sdxl_train_network.py"


def test_that_a_list_of_arguments_needs_its_script(tmp_path, bundled):
    file = tmp_path / "cat.txt"
    file.write_text("--network_dim 8\n--network_dim 16\n")
    with pytest.raises(ScriptNeeded) as caught:
        read_setup(file, None, bundled)
    assert caught.value.path == file
    given = read_setup(file, "train_network", bundled)
    assert given.file.path is None
    assert given.file.plan.arguments == {"network_dim": 16}
    assert [finding.id for finding in given.findings] == ["dup-arg"]
    with pytest.raises(ScriptNotUsable):
        read_setup(file, "paint_network", bundled)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.json", b"{}", "JSON"),
        ("a.txt", b'{"a": 1}', "JSON"),
        ("a.bat", b"accelerate launch train_network.py", "script"),
        ("a.txt", b"accelerate launch train_network.py", "script"),
        ("a.txt", b"hello there", "no list of arguments"),
        ("a.txt", b"\xff\xfe", "UTF-8"),
        ("a.toml", b"name = ", "not TOML"),
    ],
)
def test_that_other_files_are_told_what_they_seem_to_be(tmp_path, bundled, name, content, words):
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(CannotRead, match=words):
        read_setup(file, None, bundled)


def test_that_a_plan_without_the_usual_ending_is_read(tmp_path, bundled):
    file = tmp_path / "plan.txt"
    file.write_text('name = "cat"\n')
    assert read_setup(file, None, bundled).file.plan.name == "cat"
