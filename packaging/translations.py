"""Collects every sentence of the program, and makes catalogues of translations from them.

Run with the project's own Python, ``.venv/bin/python packaging/translations.py COMMAND``:

* ``update``: read the sources, write ``kohya_preflight.pot``, and merge it into each catalogue;
* ``add LANGUAGE``: begin a catalogue (``ko``, ``ja``, ``zh_CN`` …);
* ``compile``: make the ``.mo`` file beside each ``.po``; both are committed, so that a source
  tree, a wheel and a frozen program speak alike without a build step.

The pseudo-language ``en_XA`` is made by the tests and never kept: accented letters and half as
much text again show a sentence that went past the door, and one that does not fit its place.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_file
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

PROJECT = Path(__file__).resolve().parents[1]
DOMAIN = "kohya_preflight"
PSEUDO_LANGUAGE = "en_XA"
SOURCES = ("gui", "packaging")
KEYWORDS = {"_": None, "ngettext": (1, 2)}
TEXT_FIELDS = frozenset(
    {
        "title",
        "label",
        "explanation",
        "detail",
        "summary",
        "description",
        "note",
        "hint",
        "sentence",
        "advice",
        "reason",
    }
)
"""The fields of the YAML files in resources/ that hold sentences for people, or lists of them."""

LONGEST_RUN = 10
"""After so many dots a line of the pseudo-language may break; words of real languages are as long."""

_ACCENTS = str.maketrans("aceinosuyACEINOSUY", "áçéíñóšúýÁÇÉÍÑÓŠÚÝ")
_PLACEHOLDER = re.compile(r"(\{[^{}]*\}|%[a-z%]|%\([a-z_]+\)[a-z])")


def collect(project: Path = PROJECT) -> Catalog:
    """Return all sentences of the Python sources and of the YAML resources."""
    catalog = _empty()
    for folder in SOURCES:
        for file in sorted((project / folder).rglob("*.py")):
            place = file.relative_to(project).as_posix()
            for line, message, comments, _context in extract_from_file(
                "python", file, keywords=KEYWORDS, comment_tags=("Translators:",)
            ):
                catalog.add(message, locations=[(place, line)], auto_comments=comments)
    for file in sorted((project / "resources").rglob("*.yaml")):
        place = file.relative_to(project).as_posix()
        for sentence in _sentences(yaml.safe_load(file.read_text("utf-8"))):
            catalog.add(sentence, locations=[(place, 0)])
    return catalog


def _empty(language: str | None = None) -> Catalog:
    return Catalog(
        locale=language,
        domain=DOMAIN,
        header_comment="# The sentences of Kohya Preflight; made by packaging/translations.py.",
        project="Kohya Preflight",
        version="any",
        fuzzy=False,
    )


def _sentences(value: Any, field: str = "") -> Iterator[str]:
    """Walk a document and yield what stands in its text fields."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _sentences(inner, str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _sentences(inner, field)
    elif isinstance(value, str) and field in TEXT_FIELDS and value.strip():
        yield value


def po_text(catalog: Catalog) -> str:
    """Return a catalogue as text that only changes when its sentences do."""
    buffer = io.BytesIO()
    write_po(buffer, catalog, width=100, include_lineno=False, sort_output=True, ignore_obsolete=True)
    lines = buffer.getvalue().decode("utf-8").splitlines(keepends=True)
    dates = ('"POT-Creation-Date:', '"PO-Revision-Date:', '"Generated-By:', '"Report-Msgid-Bugs-To:')
    return "".join(line for line in lines if not line.startswith(dates))


def catalogues(folder: Path) -> list[Path]:
    """Return the ``.po`` files of all languages."""
    return sorted(folder.glob(f"*/LC_MESSAGES/{DOMAIN}.po"))


def update(project: Path = PROJECT) -> list[Path]:
    """Write the template anew and merge it into each catalogue.

    Returns:
        The files written.
    """
    folder = project / "resources" / "translations"
    template = collect(project)
    written = [folder / f"{DOMAIN}.pot"]
    written[0].write_text(po_text(template), "utf-8", newline="\n")
    for file in catalogues(folder):
        catalog = _read(file)
        catalog.update(template, update_header_comment=False)
        file.write_text(po_text(catalog), "utf-8", newline="\n")
        written.append(file)
    return written


def add(language: str, project: Path = PROJECT) -> Path:
    """Begin the catalogue of one language from the sentences of today.

    Raises:
        FileExistsError: There is one already.
    """
    file = project / "resources" / "translations" / language / "LC_MESSAGES" / f"{DOMAIN}.po"
    if file.exists():
        raise FileExistsError(file)
    catalog = _empty(language)
    catalog.update(collect(project))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(po_text(catalog), "utf-8", newline="\n")
    return file


def compile_all(folder: Path) -> list[Path]:
    """Make the ``.mo`` file beside each ``.po`` and return those made."""
    made = []
    for file in catalogues(folder):
        target = file.with_suffix(".mo")
        target.write_bytes(mo_bytes(_read(file)))
        made.append(target)
    return made


def mo_bytes(catalog: Catalog) -> bytes:
    """Return a catalogue in the form that gettext reads."""
    buffer = io.BytesIO()
    write_mo(buffer, catalog)
    return buffer.getvalue()


def make_pseudo_language(folder: Path, project: Path = PROJECT) -> Path:
    """Compile the pseudo-language of all sentences into a translations folder.

    Args:
        folder: The folder that holds languages; for tests, one that will be thrown away.
        project: Where the sentences are read.

    Returns:
        The ``.mo`` file.
    """
    catalog = _empty("en")
    for message in collect(project):
        if message.id:
            catalog.add(message.id, _pseudo_message(message))
    target = folder / PSEUDO_LANGUAGE / "LC_MESSAGES" / f"{DOMAIN}.mo"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(mo_bytes(catalog))
    return target


def _pseudo_message(message: Message) -> str | tuple[str, ...]:
    if isinstance(message.id, str):
        return pseudo(message.id)
    return tuple(pseudo(form) for form in message.id)


def pseudo(sentence: str) -> str:
    """Return a sentence with accents, half as long again, its placeholders and line ends kept."""
    pieces = _PLACEHOLDER.split(sentence)
    accented = "".join(
        piece if _PLACEHOLDER.fullmatch(piece) else piece.translate(_ACCENTS) for piece in pieces
    )
    body = accented.rstrip("\n")
    runs, rest = divmod(-(-len(sentence) // 2), LONGEST_RUN)
    padding = " ".join(["·" * LONGEST_RUN] * runs + ["·" * rest] * (rest > 0))
    return body + padding + accented[len(body) :]


def _read(file: Path) -> Catalog:
    with file.open("rb") as stream:
        return read_po(stream, locale=file.parents[1].name, domain=DOMAIN)


def main(arguments: list[str], project: Path = PROJECT) -> int:
    """Run one command."""
    parser = argparse.ArgumentParser(description="Collect, update and compile translations.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("update", help="collect the sentences and merge them into the catalogues")
    commands.add_parser("add", help="begin a catalogue").add_argument("language")
    commands.add_parser("compile", help="make the .mo files")
    options = parser.parse_args(arguments)
    if options.command == "update":
        done = update(project)
    elif options.command == "add":
        done = [add(options.language, project)]
    else:
        done = compile_all(project / "resources" / "translations")
    print("\n".join(str(file.relative_to(project)) for file in done))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
