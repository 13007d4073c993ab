"""What the bootstrap fetches and says: parts, sizes, pip's troubles, system libraries."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from packaging.requirements import Requirement

from gui.engine.displays import Library
from house import parts, system
from house.environment import Environment
from house.trouble import pip_trouble

PROJECT = Path(__file__).resolve().parents[2]
CONSTRAINTS = (PROJECT / "packaging" / "constraints.txt").read_text("utf-8").splitlines()
PINS = [line for line in CONSTRAINTS if line and not line.startswith("#")]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_that_every_constraint_is_one_public_version():
    assert [line for line in PINS if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []


def test_that_every_requirement_is_pinned_to_a_version_that_it_allows():
    pinned = {normal(name): version for name, version in (line.split("==") for line in PINS)}
    for text in parts.requirements(PROJECT, [parts.PROGRAM, parts.TOOLS, parts.TORCH]):
        requirement = Requirement(text)
        assert pinned[normal(requirement.name)] in requirement.specifier, text


def test_that_the_build_backend_is_installed_with_the_program():
    data = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))
    assert set(data["build-system"]["requires"]) <= set(parts.requirements(PROJECT, []))


def test_that_torch_and_tools_are_asked_for_only_as_parts():
    assert not [
        text for text in parts.requirements(PROJECT, [parts.PROGRAM]) if text.startswith(("torch", "pytest"))
    ]


@pytest.mark.parametrize(
    ("installed", "expected"),
    [
        ({}, ["program", "torch"]),
        ({"Pydantic": "2.1", "hatchling": "1.27", "torch": "2.13.0+cpu"}, []),
        ({"pydantic": "2.0", "hatchling": "1.27", "torch": "2.13.0"}, ["program"]),
        ({"pydantic": "2.1", "hatchling": "1.27", "torch": "2.6.0"}, ["torch"]),
    ],
)
def test_that_only_what_is_not_there_is_announced(
    checkout: Environment, installed: dict[str, str], expected: list[str]
):
    checkout.constraints.write_text("# pins\npydantic==2.1\ntorch==2.13.0\n", "utf-8")
    wanted = [parts.PROGRAM, parts.TORCH]
    assert parts.parts_to_fetch(checkout.project, checkout.constraints, wanted, installed) == expected


@pytest.mark.parametrize("place", parts.SIZES)
def test_that_the_fetch_is_announced_with_torch_apart(place: tuple[str, str]):
    sizes = parts.sizes_here(*place)
    text = parts.announcement([parts.PROGRAM, parts.TORCH], sizes, place[0])
    assert "MB" in text or "GB" in text
    assert "torch" in text
    assert "--light" in text
    assert ("NVIDIA" in text) == (place[0] == "linux")


def test_that_without_torch_nothing_is_said_of_it():
    text = parts.announcement([parts.PROGRAM], parts.Sizes(117, 46, 2741))
    assert "117 MB" in text
    assert "torch" not in text


def test_that_an_unmeasured_machine_is_told_so():
    assert parts.sizes_here("plan9", "mips") is None
    assert "not known" in parts.announcement([parts.PROGRAM], None)


LOGS = {
    "no network": "2026-11-30T01:00:00,000 WARNING: Retrying after NewConnectionError('x')\n",
    "disk is full": "2026-11-30T01:00:00,000 ERROR: [Errno 28] No space left on device\n",
    "no release": "2026-11-30T01:00:00,000 ERROR: No matching distribution found for torch==2.13.0\n",
    "could not install": "2026-11-30T01:00:00,000 something else\n",
}


@pytest.mark.parametrize("words", LOGS)
def test_that_the_cause_of_a_failed_pip_is_said_with_its_last_lines(tmp_path: Path, words: str):
    log = tmp_path / "pip.log"
    log.write_text(LOGS[words], "utf-8")
    text = str(pip_trouble(log, 1))
    assert words in text
    assert LOGS[words].split(" ", 1)[1].strip() in text
    assert str(log) in text


def test_that_a_missing_log_is_no_second_trouble(tmp_path: Path):
    assert "status 3" in str(pip_trouble(tmp_path / "none", 3))


@pytest.mark.skipif(sys.platform != "linux", reason="packages are Debian's")
def test_that_the_libraries_of_a_screen_are_needed_only_with_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    assert system.needed_libraries() == system.DRAWING
    monkeypatch.setenv("DISPLAY", ":0")
    assert "libxcb-cursor0" in {library.package for library in system.needed_libraries()}


@pytest.mark.parametrize(
    ("release", "expected"),
    [("ID=debian\n", True), ('NAME="x"\nID=ubuntu\nID_LIKE="a debian"\n', True), ("ID=fedora\n", False)],
)
def test_that_debian_and_its_children_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str, expected: bool
):
    file = tmp_path / "os-release"
    file.write_text(release, "utf-8")
    monkeypatch.setattr(system.shutil, "which", lambda name: "/usr/bin/" + name)
    assert system.is_debian(file) is expected
    assert not system.is_debian(tmp_path / "none")


def test_that_fonts_are_missing_until_one_is_there(tmp_path: Path):
    assert system.asian_fonts_missing([tmp_path])
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "NotoSansCJK-Regular.ttc").touch()
    assert not system.asian_fonts_missing([tmp_path])


@pytest.fixture
def bare_debian(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Make this machine a Debian that lacks one library; returns what gets installed."""
    calls: list[list[str]] = []
    monkeypatch.setattr(system, "needed_libraries", lambda: (Library("no-such.so.9", "libnosuch9"),))
    monkeypatch.setattr(system, "is_debian", lambda: True)
    monkeypatch.setattr(system, "may_install", lambda: True)
    monkeypatch.setattr(system, "install", lambda packages, log: calls.append(packages))
    return calls


def test_that_root_on_debian_installs_what_is_missing_once(bare_debian: list[list[str]], tmp_path: Path):
    told: list[str] = []
    for _attempt in range(2):
        system.look_after_libraries(told.append, tmp_path / "apt.log", fonts=False)
    assert bare_debian == [["libnosuch9"]]
    assert "sudo apt-get install libnosuch9" in told[-1]


def test_that_others_are_told_the_exact_command(
    bare_debian: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(system, "may_install", lambda: False)
    monkeypatch.setattr(system, "asian_fonts_missing", lambda: True)
    told: list[str] = []
    system.look_after_libraries(told.append, tmp_path / "apt.log", fonts=True)
    assert bare_debian == []
    assert "sudo apt-get install libnosuch9" in told[0]
    assert "sudo apt-get install fonts-wqy-microhei" in told[1]


def test_that_other_systems_are_told_the_names(
    bare_debian: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(system, "may_install", lambda: False)
    monkeypatch.setattr(system, "is_debian", lambda: False)
    told: list[str] = []
    system.look_after_libraries(told.append, tmp_path / "apt.log", fonts=False)
    assert "libnosuch9" in told[0]
    assert "apt-get" not in told[0]


def test_that_apt_is_asked_without_questions_and_its_words_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    calls: list[Any] = []

    def apt(words: list[str], **options: Any) -> SimpleNamespace:
        calls.append((words, options["env"]["DEBIAN_FRONTEND"]))
        options["stdout"].write(b"said\n")
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(system.subprocess, "run", apt)
    assert system.install(["liba"], tmp_path / "apt.log")
    assert [words[-1] for words, _frontend in calls] == ["update", "liba"]
    assert {frontend for _words, frontend in calls} == {"noninteractive"}
    assert (tmp_path / "apt.log").read_bytes() == b"said\nsaid\n"


def test_that_a_machine_without_apt_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def missing(*_words: Any, **_options: Any) -> None:
        raise FileNotFoundError("apt-get")

    monkeypatch.setattr(system.subprocess, "run", missing)
    assert system.install(["liba"], tmp_path / "apt.log") is False
