"""Whether a window can be opened is known before Qt would end the process over it."""

from __future__ import annotations

import sys

import pytest

from gui.engine import displays
from gui.engine.displays import Library, has_display, is_there, missing_packages, package_of, why_no_window

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="sonames are Linux's")


@pytest.mark.parametrize("name", ["DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"])
def test_that_the_display_is_known(monkeypatch, name):
    monkeypatch.setattr(sys, "platform", "linux")
    assert not has_display({})
    assert not has_display({name: ""})
    assert has_display({name: "x"})
    monkeypatch.setattr(sys, "platform", "win32")
    assert has_display({})
    assert why_no_window({}) is None


def test_that_missing_libraries_are_named_by_package_once():
    libraries = [Library("a.so", "liba"), Library("b.so", "libb"), Library("c.so", "liba")]
    assert missing_packages(libraries, lambda library: False) == ["liba", "libb"]
    assert missing_packages(libraries, lambda library: True) == []


@linux_only
def test_that_a_library_is_there_when_the_loader_finds_it():
    assert is_there(Library("libc.so.6", "libc6"))
    assert not is_there(Library("libnothing-of-the-kind.so.0", "libnothing"))


@pytest.mark.parametrize(
    ("text", "package"),
    [
        ("libEGL.so.1: cannot open shared object file: No such file or directory", "libegl1"),
        ("No module named 'PySide6'", None),
    ],
)
def test_that_the_package_of_a_library_in_an_error_is_known(text, package):
    assert package_of(text) == package


@pytest.fixture
def linux(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(displays, "missing_packages", lambda libraries: [])
    monkeypatch.setattr(displays, "_answers", lambda: True)


def test_that_no_display_is_one_sentence(linux):
    assert "no display" in why_no_window({})


def test_that_a_display_that_answers_is_enough(linux):
    assert why_no_window({"DISPLAY": ":0"}) is None
    assert why_no_window({"WAYLAND_DISPLAY": "wayland-0"}) is None
    assert why_no_window({"QT_QPA_PLATFORM": "offscreen"}) is None


def test_that_missing_libraries_of_the_screen_are_named_with_the_command(linux, monkeypatch):
    monkeypatch.setattr(displays, "missing_packages", lambda libraries: ["libxcb-cursor0"])
    assert "sudo apt-get install libxcb-cursor0" in why_no_window({"DISPLAY": ":0"})


@linux_only
def test_that_a_display_that_does_not_answer_is_named(monkeypatch):
    monkeypatch.setattr(displays, "missing_packages", lambda libraries: [])
    if not is_there(Library("libxcb.so.1", "libxcb1")):
        pytest.skip("no libxcb here")
    monkeypatch.setenv("DISPLAY", ":4711")
    assert ":4711" in why_no_window({"DISPLAY": ":4711"})


def test_that_without_libxcb_nothing_is_claimed(monkeypatch):
    def fail(name):
        raise OSError(name)

    monkeypatch.setattr(displays.ctypes, "CDLL", fail)
    assert displays._answers()
