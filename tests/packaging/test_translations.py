"""Sentences go from the sources to the translators and back to the person."""

from __future__ import annotations

import gettext
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import translations
from gui.engine.texts import _, ngettext, use_language


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "gui").mkdir()
    (tmp_path / "packaging").mkdir()
    (tmp_path / "resources" / "diagnoses").mkdir(parents=True)
    (tmp_path / "resources" / "translations").mkdir()
    (tmp_path / "gui" / "one.py").write_text(
        "_('Hello {name}')\nngettext('{n} step', '{n} steps', 3)\nnot_a_text('no')\n", "utf-8"
    )
    (tmp_path / "resources" / "diagnoses" / "one.yaml").write_text(
        "id: cuda-oom\ntitle: The GPU is full\nfixes:\n  - label: Halve the batch\n    changes: {a: b}\n",
        "utf-8",
    )
    return tmp_path


def test_that_sentences_come_from_python_and_from_text_fields_of_yaml(project: Path):
    found = {message.id for message in translations.collect(project) if message.id}
    assert found == {"Hello {name}", ("{n} step", "{n} steps"), "The GPU is full", "Halve the batch"}


def test_that_updating_keeps_translations_and_drops_what_is_gone(project: Path):
    file = translations.add("ko", project)
    text = file.read_text("utf-8").replace(
        'msgid "Halve the batch"\nmsgstr ""', 'msgid "Halve the batch"\nmsgstr "반으로"'
    )
    file.write_text(text, "utf-8")
    (project / "gui" / "one.py").write_text("_('Goodbye')\n", "utf-8")
    translations.update(project)
    text = file.read_text("utf-8")
    assert "반으로" in text
    assert "Goodbye" in text
    assert "Hello" not in text


def test_that_updating_twice_changes_nothing(project: Path):
    translations.add("ja", project)
    first = {file: file.read_bytes() for file in translations.update(project)}
    assert {file: file.read_bytes() for file in translations.update(project)} == first


def test_that_a_language_is_not_begun_twice(project: Path):
    translations.add("ko", project)
    with pytest.raises(FileExistsError):
        translations.add("ko", project)


def test_that_a_compiled_catalogue_speaks(project: Path):
    file = translations.add("de", project)
    text = file.read_text("utf-8").replace(
        'msgid "The GPU is full"\nmsgstr ""', 'msgid "The GPU is full"\nmsgstr "Voll"'
    )
    file.write_text(text, "utf-8")
    folder = project / "resources" / "translations"
    (made,) = translations.compile_all(folder)
    assert made == file.with_suffix(".mo")
    use_language("de", folder)
    try:
        assert _("The GPU is full") == "Voll"
        assert _("Halve the batch") == "Halve the batch"
    finally:
        use_language("en")


def test_that_every_committed_catalogue_is_compiled():
    folder = translations.PROJECT / "resources" / "translations"
    for file in translations.catalogues(folder):
        with file.open("rb") as stream:
            catalog = translations.read_po(stream, locale=file.parents[1].name)
        assert file.with_suffix(".mo").read_bytes() == translations.mo_bytes(catalog), file


def test_that_the_template_is_there_for_new_languages():
    template = translations.PROJECT / "resources" / "translations" / f"{translations.DOMAIN}.pot"
    assert "pause a run" in template.read_text("utf-8")


PLACEHOLDER = re.compile(r"\{\w+\}")


@given(
    st.lists(st.sampled_from(["{path}", "{n}", "stop", " ", "é", "“", "\n", "100", "{x:.2f}"])).map("".join)
)
def test_that_the_pseudo_language_is_half_as_long_again_and_keeps_the_placeholders(sentence: str):
    made = translations.pseudo(sentence)
    assert made.count("·") == -(-len(sentence) // 2)
    assert PLACEHOLDER.findall(made) == PLACEHOLDER.findall(sentence)
    assert made.endswith("\n") == sentence.endswith("\n")


def test_that_a_line_of_the_pseudo_language_can_break():
    made = translations.pseudo("x" + " word" * 30)
    assert max(map(len, made.split())) <= 2 * translations.LONGEST_RUN


def test_that_the_pseudo_language_speaks_through_the_door(pseudo_language: str):
    assert _("pause a run") == translations.pseudo("pause a run")
    assert _("pause a run").endswith("·")


def test_that_plural_forms_are_in_the_pseudo_language_too(project: Path):
    file = translations.make_pseudo_language(project / "out", project)
    spoken = gettext.GNUTranslations(io.BytesIO(file.read_bytes()))
    assert spoken.ngettext("{n} step", "{n} steps", 1) == translations.pseudo("{n} step")
    assert spoken.ngettext("{n} step", "{n} steps", 2) == translations.pseudo("{n} steps")
    assert ngettext("{n} step", "{n} steps", 2) == "{n} steps"


def test_that_the_command_says_what_it_wrote(project: Path, capsys: pytest.CaptureFixture[str]):
    assert translations.main(["add", "fr"], project) == 0
    assert translations.main(["update"], project) == 0
    assert translations.main(["compile"], project) == 0
    told = capsys.readouterr().out.split()
    assert [Path(line).suffix for line in told] == [".po", ".pot", ".po", ".mo"]
