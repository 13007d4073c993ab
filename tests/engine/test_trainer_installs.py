"""Trainers and their interpreters are found where people have them."""

import json
import os
import re
import sys
import venv
from pathlib import Path

import pytest

from gui.engine.errors import InterpreterNotFound, TrainerNotFound
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.installs import (
    find_checkouts,
    find_installs,
    install_at,
    missing_part,
    practice_install,
    usual_places,
)
from gui.engine.trainer.interpreters import executable_in, find_interpreter, package_folders

WINDOWS = os.name == "nt"
NO_ENVIRONMENT = {"PATH": ""}


def make_checkout(root):
    (root / "library").mkdir(parents=True)
    (root / "library" / "train_util.py").touch()
    (root / "train_network.py").write_text("def setup_parser():\n    pass\n")
    return root


def make_environment(folder, *packages):
    """Lay out an environment: an interpreter file and the folders of packages."""
    executable = folder / ("Scripts/python.exe" if WINDOWS else "bin/python")
    executable.parent.mkdir(parents=True)
    executable.write_text("")
    executable.chmod(0o755)
    site = folder / ("Lib/site-packages" if WINDOWS else "lib/python3.10/site-packages")
    site.mkdir(parents=True)
    for package in packages:
        (site / package).mkdir()
    return executable


def usual_below(folder, **variables):
    """Return what is found in the usual places, but for what this machine itself has in fixed ones."""
    found = find_checkouts(usual_places(variables))
    return [checkout.root for checkout in found if folder in checkout.root.parents]


def find(path):
    return install_at(path, environment=NO_ENVIRONMENT)


LAYOUTS = [
    ("sd-scripts", ".", "venv", "sd-scripts"),
    ("my trainer", ".", ".venv", "sd-scripts"),
    ("kohya_ss", "sd-scripts", "venv", "kohya_ss"),
    ("kohya_ss", "sd-scripts", ".venv", "kohya_ss"),
    (
        "LoRA_Easy_Training_Scripts",
        "backend/sd_scripts",
        "backend/sd_scripts/venv",
        "LoRA_Easy_Training_Scripts",
    ),
    ("LoRA_Easy_Training_Scripts", "sd_scripts", "sd_scripts/venv", "LoRA_Easy_Training_Scripts"),
    ("LoRA_Easy_Training_Scripts", "backend/sd_scripts", "venv", "LoRA_Easy_Training_Scripts"),
    ("fluxgym.git", "sd-scripts", "env", "FluxGym"),
    ("lora-scripts", "scripts/dev", "venv", "lora-scripts"),
    ("lora-scripts", "scripts", "venv", "lora-scripts"),
]
MARKS = {
    "kohya_ss": "kohya_gui.py",
    "LoRA_Easy_Training_Scripts": "main_ui_files/",
    "lora-scripts": "mikazuki/",
}


def make_gui(folder, origin):
    folder.mkdir(parents=True, exist_ok=True)
    mark = MARKS.get(origin)
    if mark and mark.endswith("/"):
        (folder / mark).mkdir()
    elif mark:
        (folder / mark).touch()


@pytest.mark.parametrize(("gui", "inside", "environment", "origin"), LAYOUTS)
def test_that_an_install_is_found_from_its_folder_and_from_the_gui_around_it(
    tmp_path, gui, inside, environment, origin
):
    folder = tmp_path / gui
    make_gui(folder, origin)
    root = make_checkout(folder / inside)
    python = make_environment(folder / environment, "torch")
    for path in (folder, root, root / "train_network.py"):
        install = find(path)
        assert (install.root.resolve(), install.python.resolve(), install.origin) == (root, python, origin)
        assert not install.practice
        assert "sd-scripts" in install.label


@pytest.mark.parametrize("data", ["Data/Packages", "Packages"])
def test_that_stability_matrix_is_looked_into(tmp_path, data):
    package = tmp_path / "StabilityMatrix" / data / "kohya_ss"
    root = make_checkout(package / "sd-scripts")
    make_gui(package, "kohya_ss")
    python = make_environment(package / "venv", "torch")
    (tmp_path / "StabilityMatrix" / data / "ComfyUI").mkdir()
    install = find(tmp_path / "StabilityMatrix")
    assert (install.root, install.python, install.origin) == (root, python, "Stability Matrix")


def test_that_stability_matrix_is_found_by_its_own_settings(tmp_path):
    library = tmp_path / "big disk" / "Data"
    settings = tmp_path / "settings" / "StabilityMatrix"
    settings.mkdir(parents=True)
    (settings / "library.json").write_text(json.dumps({"LibraryPath": str(library)}))
    root = make_checkout(library / "Packages" / "kohya_ss" / "sd-scripts")
    assert usual_below(tmp_path, APPDATA=str(tmp_path / "settings"), HOME=str(tmp_path / "nobody")) == [root]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"LibraryPath": 5}'])
def test_that_damaged_settings_of_others_do_no_harm(tmp_path, content):
    settings = tmp_path / "StabilityMatrix"
    settings.mkdir()
    (settings / "library.json").write_text(content)
    assert usual_below(tmp_path, APPDATA=str(tmp_path), HOME=str(tmp_path)) == []


def test_that_the_usual_places_hold_folders_that_are_named_like_a_trainer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("sd-scripts-0.9.1", "Kohya_SS", "holiday"):
        make_checkout(tmp_path / "home" / "git" / name)
    make_checkout(tmp_path / "SD_scripts")
    names = {root.name for root in usual_below(tmp_path, HOME=str(tmp_path / "home"))}
    assert names == {"sd-scripts-0.9.1", "Kohya_SS", "SD_scripts"}


def test_that_every_install_is_listed_once_and_incomplete_ones_only_as_checkouts(tmp_path):
    complete = make_checkout(tmp_path / "kohya_ss" / "sd-scripts")
    make_environment(tmp_path / "kohya_ss" / "venv", "torch")
    bare = make_checkout(tmp_path / "sd-scripts")
    places = [complete, tmp_path / "kohya_ss", bare, tmp_path / "missing"]
    assert [c.root for c in find_checkouts(places)] == [complete, bare]
    assert [i.root for i in find_installs(places, environment=NO_ENVIRONMENT)] == [complete]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "does not exist"),
        (lambda path: path.write_text("x"), "it is a file"),
        (lambda path: path.mkdir(), "train_network.py"),
        (lambda path: [make_checkout(path / "scripts" / n) for n in ("stable", "dev")], "several"),
    ],
)
def test_that_a_wrong_folder_is_told_plainly(tmp_path, make, words):
    place = tmp_path / "some place"
    make(place)
    with pytest.raises(TrainerNotFound, match=words) as caught:
        find(place)
    assert str(place) in str(caught.value)


def test_that_what_goes_of_an_install_is_told(tmp_path):
    root = make_checkout(tmp_path / "sd-scripts")
    python = make_environment(root / "venv", "torch")
    install = find(root)
    assert missing_part(install) is None
    python.unlink()
    assert str(python) in str(missing_part(install))
    root.rename(tmp_path / "elsewhere")
    assert "does not exist" in str(missing_part(install))


def test_that_no_trainer_anywhere_names_the_ways_out():
    words = str(TrainerNotFound())
    assert "--trainer" in words
    assert "--practice" in words
    assert "trainer use" in words


def test_that_an_environment_with_torch_is_preferred(tmp_path):
    root = make_checkout(tmp_path / "sd-scripts")
    make_environment(root / "venv")
    with_torch = make_environment(root / ".venv", "torch")
    assert find(root).python == with_torch


def test_that_a_near_environment_without_torch_is_still_the_trainers_own(tmp_path):
    root = make_checkout(tmp_path / "sd-scripts")
    own = make_environment(root / "venv")
    other = make_environment(tmp_path / "elsewhere", "torch")
    environment = {"PATH": "", "VIRTUAL_ENV": str(other.parents[1])}
    assert install_at(root, environment=environment).python == own


def test_that_an_environment_beside_a_plain_checkout_is_found(tmp_path):
    root = make_checkout(tmp_path / "sd-scripts")
    python = make_environment(tmp_path / "venv", "torch")
    assert find(root).python == python


@pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "CONDA_PREFIX"])
def test_that_an_active_environment_counts_only_with_torch(tmp_path, variable):
    root = make_checkout(tmp_path / "my checkout")
    python = make_environment(tmp_path / "active" / "prefix", "torch")
    bare = make_environment(tmp_path / "bare" / "prefix")
    found = install_at(root, environment={"PATH": "", variable: str(python.parents[1])})
    assert found.python == python
    with pytest.raises(InterpreterNotFound):
        install_at(root, environment={"PATH": "", variable: str(bare.parents[1])})


def test_that_our_own_environment_is_never_taken_for_the_trainers(tmp_path):
    root = make_checkout(tmp_path / "my checkout")
    environment = {"PATH": str(Path(sys.executable).parent), "VIRTUAL_ENV": sys.prefix}
    with pytest.raises(InterpreterNotFound, match="--python"):
        install_at(root, environment=environment)


def test_that_a_conda_environment_is_found_by_its_name(tmp_path):
    root = make_checkout(tmp_path / "checkout")
    python = make_environment(tmp_path / "envs" / "kohya", "torch")
    other = make_environment(tmp_path / "envs" / "astronomy", "torch")
    listing = tmp_path / "home" / ".conda" / "environments.txt"
    listing.parent.mkdir(parents=True)
    listing.write_text(f"{other.parents[1]}\n{python.parents[1]}\n{tmp_path / 'envs' / 'lora-gone'}\n\n")
    environment = {"PATH": "", "HOME": str(tmp_path / "home")}
    assert find_interpreter(root, (), environment) == python


def test_that_an_unreadable_list_of_conda_environments_does_no_harm(tmp_path):
    (tmp_path / ".conda").mkdir()
    (tmp_path / ".conda" / "environments.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(InterpreterNotFound):
        find_interpreter(tmp_path, (), {"PATH": "", "HOME": str(tmp_path)})


@pytest.mark.skipif(WINDOWS, reason="lays out a Linux system's Python")
def test_that_the_systems_python_counts_when_it_has_torch(tmp_path):
    root = make_checkout(tmp_path / "checkout")
    python = make_environment(tmp_path / "usr", "torch")
    python.rename(python.with_name("python3"))
    found = find_interpreter(root, (), {"PATH": str(python.parent)})
    assert found == python.with_name("python3")


@pytest.mark.parametrize("layout", ["bin/python", "bin/python3"])
def test_that_environments_of_linux_are_known(tmp_path, layout):
    (tmp_path / layout).parent.mkdir(parents=True)
    (tmp_path / layout).touch()
    assert executable_in(tmp_path, windows=False) == tmp_path / layout
    assert executable_in(tmp_path / "missing", windows=False) is None


@pytest.mark.parametrize("layout", ["Scripts/python.exe", "python.exe"])
def test_that_environments_of_windows_are_known(tmp_path, layout):
    (tmp_path / layout).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / layout).touch()
    assert executable_in(tmp_path, windows=True) == tmp_path / layout


def test_that_packages_of_a_windows_environment_are_found(tmp_path):
    site = tmp_path / "Lib" / "site-packages"
    site.mkdir(parents=True)
    assert package_folders(tmp_path / "Scripts" / "python.exe") == [site]
    assert package_folders(tmp_path / "python.exe") == [site]


def test_that_a_given_interpreter_may_be_a_file_an_environment_or_a_command(tmp_path, monkeypatch):
    root = make_checkout(tmp_path / "checkout")
    python = make_environment(tmp_path / "env of mine")
    project = make_environment(tmp_path / "project" / ".venv")
    assert install_at(root, python).python == python
    assert install_at(root, python.parents[1]).python == python
    assert install_at(root, tmp_path / "project").python == project
    monkeypatch.setenv("PATH", str(python.parent), prepend=os.pathsep)
    assert install_at(root, "python").python == python


@pytest.mark.parametrize("name", ["nowhere", "sub/nowhere", "empty", "text.txt"])
def test_that_a_given_interpreter_must_be_one(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    root = make_checkout(tmp_path / "checkout")
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.txt").write_text("no program")
    if name == "text.txt" and WINDOWS:
        pytest.skip("Windows has no mark for programs")
    with pytest.raises(InterpreterNotFound, match=re.escape(name)):
        install_at(root, name)


def test_that_an_interpreter_is_not_resolved_out_of_its_environment(tmp_path):
    root = make_checkout(tmp_path / "sd-scripts")
    venv.create(root / "venv", symlinks=not WINDOWS, with_pip=False)
    install = find(root)
    assert install.python.is_relative_to(root / "venv")


def test_that_the_practice_trainer_is_an_install_like_any_other():
    install = practice_install()
    assert install.practice
    assert install.origin == "practice"
    assert install.python == Path(sys.executable)
    assert install.label
    assert practice_install(sys.executable).practice


def test_that_a_packed_program_does_not_take_itself_for_a_python(monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr("gui.engine.trainer.installs.resource_path", lambda *parts: Path("practice_trainer"))
    with pytest.raises(InterpreterNotFound):
        practice_install()


def test_that_the_usual_places_are_looked_at_when_none_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    root = make_checkout(tmp_path / "sd-scripts")
    make_environment(root / "venv", "torch")
    assert root in [checkout.root for checkout in find_checkouts()]
    assert root in [install.root for install in find_installs()]


@pytest.mark.skipif(WINDOWS, reason="links need a right there")
def test_that_a_link_and_its_target_are_one_install(tmp_path):
    root = make_checkout(tmp_path / "sd-scripts")
    (tmp_path / "link").symlink_to(root)
    assert len(find_checkouts([root, tmp_path / "link"])) == 1


def test_that_the_bundle_holds_every_training_script_of_its_version():
    catalogue = Catalogue.bundled()
    assert len(catalogue.scripts) == 20
    assert (catalogue.version, catalogue.live) == ("0.10.1", False)
    script = catalogue.script("train_network")
    assert script is catalogue.script("train_network.py")
    assert script.arguments["network_dim"].type == "int"
    assert "help" not in script.arguments
    assert script.find("--network_dim") is script.arguments["network_dim"]
    assert script.find("--network") is None
    assert "train_db.py" not in catalogue.scripts_with("network_dim")
    assert catalogue.scripts_with("blocks_to_swap", ["flux_train.py", "train_db.py", "other.py"]) == (
        "flux_train.py",
    )
