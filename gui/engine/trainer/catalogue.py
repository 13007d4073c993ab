"""Which arguments exist: from the installed trainer where one was probed, else from the bundle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from gui.engine.documents import read_json
from gui.engine.errors import ScriptNotUsable
from gui.engine.resources import resource_path
from gui.engine.trainer.argument import Argument
from gui.engine.trainer.facts import ScriptFacts, TrainerFacts

BUNDLED = ("trainer_arguments", "sd-scripts-0.10.1.json")


@dataclass(frozen=True)
class ScriptArguments:
    """The arguments of one training script.

    Attributes:
        name: The script's file name, ``sdxl_train_network.py``.
        rows: Its parser's rows in their order.
    """

    name: str
    rows: tuple[Argument, ...] = field(repr=False)

    @cached_property
    def arguments(self) -> dict[str, Argument]:
        """What a plan can set, by name (argparse's ``dest``), in the trainer's order."""
        found: dict[str, Argument] = {}
        for row in self.rows:
            if row.is_setting:
                found.setdefault(row.dest, row)
        return found

    @cached_property
    def _by_flag(self) -> dict[str, Argument]:
        return {flag: row for row in self.rows if row.is_setting for flag in row.flags}

    def find(self, name: str) -> Argument | None:
        """Return the argument of this name or exact flag; None when the script has none."""
        return self.arguments.get(name) or self._by_flag.get(name) or self._by_flag.get(f"--{name}")


class Catalogue:
    """The training scripts of one trainer and their arguments.

    Attributes:
        name: The trainer's name.
        version: Its version, where known.
        commit: Its commit, where known.
        live: Whether it comes from an installed trainer, not from the bundle.
    """

    def __init__(
        self,
        scripts: Mapping[str, ScriptFacts],
        *,
        name: str = "sd-scripts",
        version: str | None = None,
        commit: str | None = None,
        live: bool = False,
    ) -> None:
        """Make a catalogue.

        Args:
            scripts: File name to parser or import failure.
            name: The trainer's name.
            version: Its version.
            commit: Its commit.
            live: Whether ``scripts`` was read from an installed trainer.
        """
        self.name = name
        self.version = version
        self.commit = commit
        self.live = live
        self._facts = dict(scripts)
        self._scripts = {
            script: ScriptArguments(script, known.arguments)
            for script, known in scripts.items()
            if known.error is None
        }

    @classmethod
    def bundled(cls) -> Catalogue:
        """Return the catalogue that comes with the program: sd-scripts 0.10.1, without help texts."""
        document = read_json(resource_path(*BUNDLED))
        rows = [Argument.model_validate(row) for row in document["arguments"]]
        scripts = {
            name: ScriptFacts.model_construct(arguments=tuple(rows[index] for index in indices), error=None)
            for name, indices in document["scripts"].items()
        }
        return cls(
            scripts, name=document["name"], version=document["version"], commit=document["commit"], live=False
        )

    @classmethod
    def from_facts(cls, facts: TrainerFacts) -> Catalogue:
        """Return the catalogue of a probed trainer, with its own help texts."""
        return cls(facts.scripts, name=facts.name, version=facts.version, commit=facts.commit, live=True)

    @property
    def scripts(self) -> tuple[str, ...]:
        """The scripts whose arguments are known, by file name."""
        return tuple(self._scripts)

    def script(self, name: str) -> ScriptArguments:
        """Return the arguments of one script.

        Args:
            name: The file name; ``.py`` may be left out.

        Raises:
            ScriptNotUsable: This trainer has no such script, or cannot import it.
        """
        file_name = name if name.endswith(".py") else f"{name}.py"
        if file_name in self._scripts:
            return self._scripts[file_name]
        facts = self._facts.get(file_name)
        failure = facts.error if facts else None
        raise ScriptNotUsable(
            file_name,
            trainer=" ".join(filter(None, (self.name, self.version))),
            known=self.scripts,
            missing=failure.missing if failure else None,
            reason=f"{failure.exception}: {failure.message}".rstrip(": ") if failure else None,
        )

    def scripts_with(self, name: str, among: Iterable[str] | None = None) -> tuple[str, ...]:
        """Return the scripts that know an argument.

        Args:
            name: The argument's name.
            among: Look only at these scripts; None looks at all.
        """
        wanted = self.scripts if among is None else [script for script in among if script in self._scripts]
        return tuple(script for script in wanted if self._scripts[script].find(name))
