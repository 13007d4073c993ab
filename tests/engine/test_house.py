"""The house stands as it was drawn: imports, places, sentences, and what the repository may say."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import translations

PROJECT = Path(__file__).resolve().parents[2]
TOP_LEVEL = {
    ".ci",
    ".gitignore",
    "LICENSE",
    "README.md",
    "gui",
    "packaging",
    "pyproject.toml",
    "resources",
    "tests",
}

IMPORT_ALL_WITHOUT_QT = """
import importlib, pkgutil, sys

class NoQt:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"PySide6", "shiboken6", "pyqtgraph"}:
            raise ImportError(f"{name} is not installed")

sys.meta_path.insert(0, NoQt())
import gui.engine, gui.cli
for package in (gui.engine, gui.cli):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
print(len([name for name in sys.modules if name.startswith("gui.")]))
"""


def run_python(program: str, *, cwd: Path = PROJECT) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=cwd, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def tracked_files() -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True)
    if done.returncode:
        pytest.skip("not a git checkout")
    names = done.stdout.decode("utf-8").split("\0")
    return [PROJECT / name for name in names if name and (PROJECT / name).is_file()]


def own_python_files() -> list[Path]:
    return [file for folder in translations.SOURCES for file in sorted((PROJECT / folder).rglob("*.py"))]


def test_that_engine_and_command_line_import_without_qt():
    assert int(run_python(IMPORT_ALL_WITHOUT_QT)) > 20


def test_that_the_door_of_the_command_line_imports_nothing_heavy():
    heavy = "{'numpy', 'torch', 'PIL', 'pydantic', 'PySide6'}"
    assert run_python(f"import sys, gui.cli.main; print(*{heavy} & set(sys.modules))") == ""


def test_that_the_top_of_the_repository_holds_only_what_belongs_there():
    assert {file.relative_to(PROJECT).parts[0] for file in tracked_files()} <= TOP_LEVEL


def test_that_the_folder_packaging_does_not_hide_the_library_of_that_name():
    assert not (PROJECT / "packaging" / "__init__.py").exists()
    assert run_python("import packaging.version as v; print(v.Version('1.0'))") == "1.0"


def forbidden() -> list[tuple[re.Pattern[bytes], str]]:
    # Put together here, so that this file does not contain them.
    places = "|".join(["/" + "work/", "/" + "root/", "/" + r"opt/(?:sd-scripts|trainer-|wheels|pypi)"])
    hosts = "|".join(["pypi" + r"\.org", "python" + "hosted", "registry" + r"\.npmjs", "deb" + r"\.debian"])
    return [
        (re.compile(places.encode()), "a path of one machine"),
        (re.compile(hosts.encode()), "the host of a registry"),
        (re.compile(rb"\.\./" + b"shared"), "a place outside the repository"),
        (re.compile(rb"hf_[A-Za-z]{30}\b"), "a token"),
    ]


def test_that_no_tracked_file_names_a_machine_a_registry_or_a_place_outside():
    found = []
    for file in tracked_files():
        place = file.relative_to(PROJECT).as_posix()
        content = file.read_bytes()
        for pattern, what in forbidden():
            if place != ".ci/run" and (match := pattern.search(content)):
                found.append(f"{place}: {what}: {content[match.start() : match.start() + 60]!r}")
    assert found == []


def test_that_no_module_outgrows_its_reader():
    long = {
        file.relative_to(PROJECT).as_posix(): lines
        for file in own_python_files()
        if (lines := file.read_text("utf-8").count("\n")) > 400
    }
    assert long == {}


def marked(tree: ast.Module) -> Iterator[tuple[ast.Call, list[ast.expr]]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "_":
                yield node, node.args[:1]
            elif node.func.id == "ngettext":
                yield node, node.args[:2]


COUNTED = re.compile(
    r"\{(count|images|captions|files)[^}]*\} (\w+ )?(images|captions|files|caches|models) (?!at most)"
)


def test_that_one_image_is_not_told_of_as_if_it_were_many():
    told = {
        f"{file}:{call.lineno}"
        for file in own_python_files()
        for call, forms in marked(ast.parse(file.read_text("utf-8")))
        if len(forms) == 1 and isinstance(forms[0], ast.Constant) and COUNTED.search(str(forms[0].value))
    }
    assert told == set()


def test_that_every_marked_sentence_reaches_the_translators():
    collected = {
        form
        for message in translations.collect()
        for form in ([message.id] if isinstance(message.id, str) else message.id)
    }
    lost = []
    for file in own_python_files():
        for call, sentences in marked(ast.parse(file.read_text("utf-8"))):
            for sentence in sentences:
                place = f"{file.relative_to(PROJECT)}:{call.lineno}: {ast.unparse(sentence)}"
                if isinstance(sentence, ast.Constant):
                    lost += [] if sentence.value in collected else [place]
                elif not isinstance(sentence, ast.Name | ast.Attribute | ast.Subscript):
                    # A sentence put together is another one each time. A name may stand for a field
                    # of a YAML file, and those are collected.
                    lost.append(place)
    assert lost == []


def test_that_no_sentence_is_translated_while_modules_are_imported():
    early = []
    for file in own_python_files():
        tree = ast.parse(file.read_text("utf-8"))
        inside = {
            id(node)
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for node in ast.walk(function)
        }
        early += [
            f"{file.relative_to(PROJECT)}:{call.lineno}"
            for call, _args in marked(tree)
            if id(call) not in inside
        ]
    assert early == []


def test_that_no_sentence_is_kept_in_a_cache():
    kept = [
        f"{file.relative_to(PROJECT)}:{function.lineno}"
        for file in own_python_files()
        for function in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(function, ast.FunctionDef)
        and any(
            "cache" in ast.unparse(each) and "property" not in ast.unparse(each)
            for each in function.decorator_list
        )
        and any(isinstance(each, ast.Name) and each.id in ("_", "ngettext") for each in ast.walk(function))
    ]
    # What is raised is not kept.
    assert [place for place in kept if "memory/tables.py" not in place] == [], "it would outlive a language"


def test_that_no_layout_is_asked_for_its_items():
    # What Python gets for an item outlives it, and stands for whatever Qt puts at its address next.
    # `gui.window.widgets.layouts.widgets_of` answers the same question.
    files = [file for folder in ("gui", "tests") for file in sorted((PROJECT / folder).rglob("*.py"))]
    asked = [
        f"{file.relative_to(PROJECT)}:{node.lineno}"
        for file in files
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("itemAt", "itemAtPosition")
    ]
    assert asked == []
