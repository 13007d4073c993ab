"""Gathers what a scan finds, an image at a time, into what reports are made of; a few bytes an image."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gui.engine.dataset.buckets import BucketSettings, Size
from gui.engine.dataset.image_facts import ImageFacts
from gui.engine.dataset.likeness import alike
from gui.engine.dataset.pairing import same_stems
from gui.engine.dataset.report import AlikeGroup, ImageName
from gui.engine.dataset.scan import ScannedImage
from gui.engine.dataset.size_problems import size_problems
from gui.engine.dataset.spec import DatasetSpec
from gui.engine.dataset.thresholds import Thresholds

_NO_SIZE: Size = (0, 0)
_PLAIN: frozenset[str] = frozenset({"", "00" * 16})
"""Looks that say nothing: no picture, or one without any change of brightness."""


class Gathering:
    """What is known so far.

    Args:
        folders: The folders of the scan, in its order.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self._problems: list[dict[str, list[str]]] = [{} for _folder in folders]
        self._names: list[list[str]] = [[] for _folder in folders]
        self._sizes: list[list[Size]] = [[] for _folder in folders]
        self._extended: list[set[str]] = [set() for _folder in folders]
        self._contents: list[list[bytes]] = [[] for _folder in folders]
        self._looks: list[list[bytes]] = [[] for _folder in folders]
        self._known_sizes: dict[Size, Size] = {_NO_SIZE: _NO_SIZE}

    def add(self, image: ScannedImage, problems: Sequence[str]) -> None:
        """Take one image and the keys of what is wrong with it."""
        place, name, facts, _state = image
        for key in problems:
            self._problems[place].setdefault(key, []).append(name)
        if facts.fault == "gone":
            return
        size = facts.size if facts.fault is None else _NO_SIZE
        self._names[place].append(name)
        self._sizes[place].append(self._known_sizes.setdefault(size, size))
        if facts.extended:
            self._extended[place].add(name)
        self._contents[place].append(bytes.fromhex(facts.content))
        self._looks[place].append(b"" if facts.looks in _PLAIN else bytes.fromhex(facts.looks))

    def finish(self, limits: Thresholds, is_masks: Callable[[int], bool]) -> Gathered:
        """Compare the images with one another and return all that is known.

        Args:
            limits: From where on images look alike.
            is_masks: Whether a folder is not to be compared.
        """
        compared = [place for place in range(len(self._folders)) if not is_masks(place)]
        every = [(place, name) for place in compared for name in self._names[place]]
        contents = [content for place in compared for content in self._contents[place]]
        looks = [bits for place in compared for bits in self._looks[place]]
        same = _same(contents)
        problems = [{key: list(names) for key, names in found.items()} for found in self._problems]
        near = _nearly(alike(looks, limits.near_bits), contents)
        for key, groups in (("img-dup", same), ("img-near", near)):
            for place, name in (every[at] for group in groups for at in group):
                problems[place].setdefault(key, []).append(name)
        for place in compared:
            shared = same_stems(self._names[place])
            if shared:
                problems[place]["img-dupstem"] = shared
        return Gathered(
            problems=problems,
            names=self._names,
            sizes=self._sizes,
            extended=self._extended,
            groups=[*((True, _named(group, every)) for group in same)]
            + [(False, _named(group, every)) for group in near],
        )


class Gathered:
    """All that is known about the images of all folders.

    Attributes:
        problems: For each folder, key to names, of what holds whatever the plan.
    """

    def __init__(
        self,
        problems: list[dict[str, list[str]]],
        names: list[list[str]],
        sizes: list[list[Size]],
        extended: list[set[str]],
        groups: list[tuple[bool, list[tuple[int, str]]]],
    ) -> None:
        self.problems = problems
        self._names = names
        self._sizes = sizes
        self._extended = extended
        self._groups = groups

    def true_sizes(self, place: int) -> dict[str, Size]:
        """Return the name of each image of a folder to its size; (0, 0) for those without pixels."""
        return dict(zip(self._names[place], self._sizes[place], strict=True))

    def seen_sizes(self, place: int) -> dict[str, Size]:
        """Return the name of each image of a folder to its size as the trainer sees it."""
        return {
            name: self._facts(place, name, size).seen_size for name, size in self.true_sizes(place).items()
        }

    def counts(self, place: int) -> Counter[Size]:
        """Return sizes as the trainer sees them, of readable images, to their number."""
        return Counter(size for size in self.seen_sizes(place).values() if 0 not in size)

    def size_problems(
        self, place: int, settings: BucketSettings | None, limits: Thresholds
    ) -> dict[str, list[str]]:
        """Return key to names of what is wrong with sizes under a plan."""
        judged: dict[tuple[Size, bool], tuple[str, ...]] = {}
        found: dict[str, list[str]] = {}
        for name, size in self.true_sizes(place).items():
            kind = (size, name in self._extended[place])
            if kind not in judged:
                judged[kind] = size_problems(self._facts(place, name, size), settings, limits)
            for key in judged[kind]:
                found.setdefault(key, []).append(name)
        return found

    def groups_of(self, spec: DatasetSpec, folders: Sequence[Path]) -> tuple[AlikeGroup, ...]:
        """Return the groups of images that are the same or look alike."""
        first = _first_subsets(spec, folders)
        return tuple(
            AlikeGroup(
                exact=exact,
                images=tuple(ImageName(subset=first[place], name=name) for place, name in images),
            )
            for exact, images in self._groups
        )

    def _facts(self, place: int, name: str, size: Size) -> ImageFacts:
        return ImageFacts(width=size[0], height=size[1], extended=name in self._extended[place])


def _first_subsets(spec: DatasetSpec, folders: Sequence[Path]) -> Mapping[int, int]:
    found: dict[int, int] = {}
    for number, subset in enumerate(spec.subsets):
        if subset.image_dir in folders:
            found.setdefault(folders.index(subset.image_dir), number)
    return found


def _same(contents: Sequence[bytes]) -> list[list[int]]:
    groups: dict[bytes, list[int]] = {}
    for at, content in enumerate(contents):
        if content:
            groups.setdefault(content, []).append(at)
    return [group for group in groups.values() if len(group) > 1]


def _nearly(groups: list[list[int]], contents: Sequence[bytes]) -> list[list[int]]:
    """Leave out groups whose images are all the very same file: those are told already."""
    return [group for group in groups if len({contents[at] for at in group}) > 1]


def _named(group: list[int], every: list[tuple[int, str]]) -> list[tuple[int, str]]:
    return [every[at] for at in group]
