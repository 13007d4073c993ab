"""What somebody brings becomes a plan, or one sentence that says what it is instead."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.errors import CannotRead, ScriptNeeded, ScriptNotUsable
from gui.engine.importers.reading import read_setup
from gui.engine.trainer.catalogue import Catalogue


@pytest.fixture(scope="module")
def bundled():
    return Catalogue.bundled()


def test_that_a_plan_file_is_read_as_it_is(tmp_path, bundled):
    file = tmp_path / "plan.toml"
    file.write_text('name = "cat"\nscript = "train_network.py"\n[arguments]\nnetwork_dim = 8\n')
    brought = read_setup(file, None, bundled)
    assert (brought.file.path, brought.file.plan.name, brought.findings) == (file, "cat", ())
    assert brought.file.plan.arguments == {"network_dim": 8}
    assert read_setup(file, "sdxl_train_network.py", bundled).file.plan.script == "sdxl_train_network.py"


def test_that_a_list_of_arguments_needs_its_script(tmp_path, bundled):
    file = tmp_path / "cat.txt"
    file.write_text("--network_dim 8\n--network_dim 16\n")
    with pytest.raises(ScriptNeeded) as caught:
        read_setup(file, None, bundled)
    assert caught.value.path == file
    brought = read_setup(file, "train_network", bundled)
    assert brought.file.path is None
    assert brought.file.plan.arguments == {"network_dim": 16}
    assert [finding.id for finding in brought.findings] == ["dup-arg"]
    with pytest.raises(ScriptNotUsable):
        read_setup(file, "paint_network", bundled)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.json", b"{}", "JSON"),
        ("a.txt", b'{"a": 1}', "JSON"),
        ("a.json", b'{"a": 1', "not JSON"),
        ("a.json", b'{"LoRA_type": "Standard", "LoRA_type": "x"}', "LoRA_type is said twice"),
        ("a.json", b'{"LoRA_type": "Standard", "seed": NaN}', "NaN is no finite number"),
        ("a.json", b'{"LoRA_type": "Standard", "seed": 1e400}', "seed is no finite number"),
        ("a.json", b'{"LoRA_type": "Standard", "seed": [1e400]}', "seed is no finite number"),
        ("a.json", b'{"LoRA_type":' + b"[" * 200_000, "nested too deeply"),
        ("a.json", b'{"LoRA_type": "Standard", "num_processes": 1, "gpu_ids": "\xb0"}', "UTF-8"),
        ("a.bat", b"accelerate launch other.py", "no command"),
        ("a.bat", b'accelerate launch train_network.py "--seed', "line 1: a quote is not closed"),
        ("a.sh", b"\nA='", "line 2: a quote is not closed"),
        ("a.sh", b"A=aaaaaaaaaa\n" + b"A=$A$A$A$A\n" * 40, "grow beyond"),
        ("a.txt", b"accelerate launch other.py", "no command"),
        ("a.txt", b"", "nothing in it"),
        ("a.txt", b"a: &a [x]\nb: [*a, *a]\n", "no list of arguments"),
        ("a.toml", b"learning_rate = nan", "no finite number"),
        ("a.toml", b"seed = 1\nseed = 2", "not TOML"),
        ("a.toml", b"datasets = [1]", "list of tables"),
        ("a.toml", "name = '이름'".encode("cp949"), "UTF-8"),
        ("a.txt", "hello there".encode("utf-16"), "no list of arguments"),
        ("a.safetensors", b"", "safetensors"),
        ("a.txt", b"hello there", "no list of arguments"),
        ("a.txt", b"\xff\xfea", "UTF-8"),
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


def test_that_folders_loops_and_huge_files_are_refused_in_a_sentence(tmp_path, bundled):
    loop = tmp_path / "loop.json"
    loop.symlink_to(loop)
    huge = tmp_path / "huge.toml"
    with huge.open("wb") as file:
        file.truncate(50 * 1024 * 1024)
    folder = tmp_path / "x.safetensors"
    folder.mkdir()
    for path in (loop, huge, folder, tmp_path, tmp_path / "missing.bat"):
        with pytest.raises(CannotRead) as caught:
            read_setup(path, None, bundled)
        assert str(path) in str(caught.value)


def test_that_a_byte_order_mark_and_lines_of_windows_are_taken(tmp_path, bundled):
    file = tmp_path / "a.bat"
    file.write_bytes(b"\xef\xbb\xbfpython train_network.py ^\r\n --seed 5\r\n")
    brought = read_setup(file, None, bundled)
    assert (brought.kind, brought.file.plan.arguments) == ("script", {"seed": 5})


@given(
    st.binary(max_size=200),
    st.sampled_from([".txt", ".json", ".toml", ".bat", ".sh", ".ps1", ".safetensors"]),
)
def test_that_any_bytes_are_a_plan_or_a_clear_refusal(tmp_path_factory, content, suffix):
    path = tmp_path_factory.getbasetemp() / f"any{suffix}"
    path.write_bytes(content)
    try:
        read_setup(path, "train_network.py", Catalogue.bundled())
    except CannotRead as error:
        assert path.name in str(error)


def test_that_two_lines_with_an_argument_each_are_a_list_and_no_pasted_command(tmp_path, bundled):
    file = tmp_path / "arguments.txt"
    file.write_text("--output_dir C:\\out\n--resolution 768, 768\n--unet_lr 1e-4\n", "utf-8")
    plan = read_setup(file, "train_network.py", bundled).file.plan
    assert plan.arguments["output_dir"].endswith("C:\\out")
    assert plan.dataset["resolution"] == "768, 768"  # as it stands: preflight says what is wrong with it
