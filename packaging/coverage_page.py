"""Writes the page that shows what of the program's knowledge is checked, by what, and what is left open.

Run with the project's own Python: ``.venv/bin/python packaging/coverage_page.py [FILE]``. Without a file
the page goes to standard output. The status is 1 when a row has neither an answer nor a reason, or names
what does not exist.

Each row of the guides, each thing the trainer insists on and each real case is data
(``tests/data/coverage``). What answers it stands there, or is told by the sources of rules, diagnoses and
presets.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import yaml

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT))

from gui.engine.preflight.rules import ALL_RULES  # noqa: E402 - the project must be found first

DATA = PROJECT / "tests" / "data" / "coverage"
CASES_OF_RULES = "tests/data/rules"
CASES_OF_DIAGNOSES = "tests/data/diagnosis_words.yaml"


@dataclass(frozen=True)
class Answer:
    """Something that answers rows.

    Attributes:
        id: Its name.
        kind: ``rule``, ``diagnosis``, ``preset`` or ``part``.
        test: Where it is tested.
        sources: Rows that it names itself.
    """

    id: str
    kind: str
    test: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """One thing that must be answered.

    Attributes:
        id: Such as ``N7``, ``1.4``, ``NAN-01``.
        says: What it is about.
        answers: What answers it.
        unknown: Names of answers that do not exist.
        gap: Why nothing does; empty where something does.
    """

    id: str
    says: str
    answers: tuple[Answer, ...] = ()
    unknown: tuple[str, ...] = ()
    gap: str = ""

    @property
    def is_open(self) -> bool:
        """Whether it has neither an answer nor a reason, or both, or names what does not exist."""
        return bool(self.unknown) or bool(self.answers) == bool(self.gap)


@dataclass
class Coverage:
    """All rows and answers.

    Attributes:
        data: The folder with the rows.
    """

    data: Path = field(default_factory=lambda: DATA)

    def _read(self, name: str) -> Any:
        return yaml.safe_load((self.data / name).read_text("utf-8"))

    @cached_property
    def answers(self) -> dict[str, list[Answer]]:
        """Everything that answers rows, by its name: a rule and a diagnosis may share one."""
        named: dict[str, list[Answer]] = {}
        for answer in (*_rules(), *_diagnoses(), *self._parts()):
            named.setdefault(answer.id, []).append(answer)
        return named

    @cached_property
    def presets(self) -> list[Answer]:
        """The presets, by what their values and notes are taken from."""
        return list(_presets())

    @cached_property
    def names(self) -> Mapping[str, list[str]]:
        """Names that the cases use for answers, to the names of those here."""
        parts = self._read("parts.yaml")
        own = {name: [part] for part, said in parts["parts"].items() for name in said.get("names", ())}
        return {**own, **parts["names"]}

    def _parts(self) -> Iterator[Answer]:
        for name, said in self._read("parts.yaml")["parts"].items():
            yield Answer(name, "part", said["test"])

    def _row(self, identity: str, says: str, named: list[str], gap: str, *, cited: bool) -> Row:
        meant = [name for each in named for name in self.names.get(each, [each])]
        found = [answer for name in meant for answer in self.answers.get(name, ())]
        if cited:
            every = (*chain.from_iterable(self.answers.values()), *self.presets)
            found += [answer for answer in every if identity in answer.sources]
        unique = {(answer.kind, answer.id): answer for answer in found}
        unknown = tuple(name for name in meant if name not in self.answers)
        return Row(identity, says, tuple(unique.values()), unknown, gap)

    def knowledge(self) -> list[Row]:
        """Return the rows of the guides."""
        rows = self._read("knowledge.yaml")["rows"]
        return [
            self._row(identity, row["says"], row.get("by", []), row.get("gap", ""), cited="gap" not in row)
            for identity, row in rows.items()
        ]

    def facts(self) -> list[tuple[str, list[Row]]]:
        """Return what the trainer insists on, section by section."""
        sections = self._read("facts.yaml")["sections"]
        return [
            (
                f"{number} {section['title']}",
                [
                    self._row(number, row["says"], row.get("by", []), row.get("gap", ""), cited=False)
                    for row in section["rows"]
                ],
            )
            for number, section in sections.items()
        ]

    def cases(self) -> list[Row]:
        """Return the real cases."""
        rows = self._read("cases.yaml")["cases"]
        return [
            self._row(identity, row["says"], row["asks"], row.get("gap", ""), cited=True)
            for identity, row in rows.items()
        ]

    def all_rows(self) -> list[Row]:
        """Return all rows."""
        return [*self.knowledge(), *(row for _title, rows in self.facts() for row in rows), *self.cases()]

    def page(self) -> str:
        """Return the page as Markdown."""
        rows = self.all_rows()
        every = chain.from_iterable(self.answers.values())
        diagnoses = sum(answer.kind == "diagnosis" for answer in every)
        answered = sum(bool(row.answers) for row in rows)
        lines = [
            "# What is checked",
            "",
            f"{len(rows)} rows, {answered} answered, {len(rows) - answered} left open with a reason. "
            f"{len(ALL_RULES)} rules before a run, {diagnoses} diagnoses after it.",
            "",
            "## The guides",
            "",
            *_table(self.knowledge()),
            "",
            "## The trainer",
        ]
        for title, section in self.facts():
            lines += ["", f"### {title}", "", *_table(section)]
        return "\n".join([*lines, "", "## Real cases", "", *_table(self.cases()), ""])


def _rules() -> Iterator[Answer]:
    places = {
        identity: f"{CASES_OF_RULES}/{path.name}"
        for path in (PROJECT / CASES_OF_RULES).glob("*.yaml")
        for identity in yaml.safe_load(path.read_text("utf-8"))
    }
    for rule in ALL_RULES:
        yield Answer(rule.id, "rule", places.get(rule.id, ""), rule.sources)


def _diagnoses() -> Iterator[Answer]:
    for path in sorted((PROJECT / "resources" / "diagnoses").glob("*.yaml")):
        said = yaml.safe_load(path.read_text("utf-8"))
        yield Answer(said["id"], "diagnosis", CASES_OF_DIAGNOSES, tuple(said.get("sources", ())))


def _presets() -> Iterator[Answer]:
    for path in sorted((PROJECT / "resources" / "presets").rglob("*.yaml")):
        said = yaml.safe_load(path.read_text("utf-8"))
        entries = [*said.get("values", ()), *said.get("notes", ()), said]
        sources = {source for entry in entries for source in entry.get("sources", ())}
        yield Answer(path.stem, "preset", "tests/engine/test_presets_composition.py", tuple(sorted(sources)))


def _table(rows: list[Row]) -> list[str]:
    lines = ["| row | says | answered by | tested in |", "|---|---|---|---|"]
    for row in rows:
        answers = ", ".join(f"`{answer.id}` ({answer.kind})" for answer in row.answers)
        tests = ", ".join(dict.fromkeys(answer.test for answer in row.answers))
        open_ = f"unknown: {', '.join(row.unknown)}" if row.unknown else f"— {row.gap or 'open'}"
        says = row.says.replace("|", "\\|")
        lines.append(f"| {row.id} | {says} | {answers or open_} | {tests} |")
    return lines


def main(arguments: list[str]) -> int:
    """Write the page.

    Returns:
        1 when a row is open, else 0.
    """
    parser = argparse.ArgumentParser(description="Write the page that shows what is checked.")
    parser.add_argument("file", nargs="?", type=Path, help="where to; else it is printed")
    file: Path | None = parser.parse_args(arguments).file
    coverage = Coverage()
    page = coverage.page()
    if file is not None:
        file.write_text(page, "utf-8")
    else:
        sys.stdout.write(page)
    wrong = [row for row in coverage.all_rows() if row.is_open]
    for row in wrong:
        print(f"open: {row.id} {row.says} {', '.join(row.unknown)}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
