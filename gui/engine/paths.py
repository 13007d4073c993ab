"""Where the program keeps its own things."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

HOME_VARIABLE = "KOHYA_PREFLIGHT_HOME"


@dataclass(frozen=True)
class Home:
    """The folder of runs, caches and preferences, and what lies in it.

    Attributes:
        root: The folder itself; made when something is first written.
    """

    root: Path

    @classmethod
    def find(cls, chosen: str | Path | None = None) -> Home:
        """Return the home: the chosen folder, else the environment's, else the platform's."""
        value = chosen or os.environ.get(HOME_VARIABLE)
        if value:
            return cls(Path(value).expanduser().absolute())
        return cls(Path(platformdirs.user_data_dir("kohya-preflight", appauthor=False)))

    @property
    def runs(self) -> Path:
        """One folder a run."""
        return self.root / "runs"

    @property
    def rehearsals(self) -> Path:
        """One folder a rehearsal; they are no runs, and can be removed."""
        return self.root / "rehearsals"

    @property
    def queue(self) -> Path:
        """Plans that wait for their turn, a document each, and in which order."""
        return self.root / "queue"

    @property
    def cache(self) -> Path:
        """What can be made again."""
        return self.root / "cache"

    @property
    def hashes(self) -> Path:
        """Hashes of model files, as long as these do not change."""
        return self.cache / "hashes"

    @property
    def memory(self) -> Path:
        """What runs have taught about the memory of this machine's GPUs, a file each."""
        return self.root / "memory"

    @property
    def captioning(self) -> Path:
        """One folder for each time that captions were made, until they are written or thrown away."""
        return self.root / "captioning"

    @property
    def caption_drafts(self) -> Path:
        """Captions that were typed and are not written yet."""
        return self.root / "caption_drafts.json"

    @property
    def presets(self) -> Path:
        """The user's own presets, a file each."""
        return self.root / "presets"

    @property
    def preferences(self) -> Path:
        """The user's choices."""
        return self.root / "preferences.toml"

    @property
    def tokens(self) -> Path:
        """Which tokens lie in the system's keyring; none of them is in it."""
        return self.root / "tokens.json"

    @property
    def window_state(self) -> Path:
        """How the window was left."""
        return self.root / "window.json"
