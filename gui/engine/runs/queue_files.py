"""The files of the queue: where they are, and what they say."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from gui.engine.documents import reason_of
from gui.engine.errors import CannotRead, NewerDocument
from gui.engine.runs.queue_items import Queue, QueueBoard, QueueItem


class _Known(NamedTuple):
    """An item as it was read, and what its file was like then."""

    mark: tuple[int, int, int]
    item: QueueItem


class QueueFiles:
    """Reads them, again and again: an item whose file is as it was is not read anew.

    Attributes:
        board: How the queue as a whole is set.

    Args:
        folder: Where they are.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.board = folder / "queue.json"
        self._known: dict[int, _Known] = {}

    def item(self, number: int) -> Path:
        """Return the place of an item."""
        return self._folder / f"{number}.json"

    def plan(self, number: int) -> Path:
        """Return the place of its plan."""
        return self._folder / f"{number}.toml"

    def read(self) -> Queue:
        """Return the queue; what cannot be read is told in it.

        Raises:
            NewerDocument: A newer version of this program has set it.
            CannotRead: The folder cannot be read.
        """
        board, problem = self._look_at_board()
        problems = [problem] if problem else []
        found: dict[int, QueueItem] = {}
        for number in board.order:
            try:
                found[number] = self.read_item(number)
            except (CannotRead, NewerDocument) as error:
                if self.item(number).exists():  # else somebody has just taken it out
                    problems.append(str(error))
        return Queue(board, tuple(found.values()), tuple(problems))

    def read_board(self) -> QueueBoard:
        """Return how the queue is set; its order names all items.

        A damaged one counts as paused: nobody knows any more what was to be started.

        Raises:
            NewerDocument: A newer version of this program has set it.
            CannotRead: The folder cannot be read.
        """
        return self._look_at_board()[0]

    def read_item(self, number: int) -> QueueItem:
        """Return an item.

        Raises:
            CannotRead: It is gone or damaged.
            NewerDocument: A newer version of this program wrote it.
        """
        path, known = self.item(number), self._known.get(number)
        try:
            facts = os.stat(path)  # noqa: PTH116 - for each item, several times a second
        except OSError as error:
            raise CannotRead(path, reason_of(error)) from error
        mark = facts.st_mtime_ns, facts.st_size, facts.st_ino
        if known is None or known.mark != mark:
            known = self._known[number] = _Known(mark, QueueItem.read(path))
        return known.item

    def _look_at_board(self) -> tuple[QueueBoard, str]:
        board, problem = QueueBoard(), ""
        if self.board.exists():
            try:
                board = QueueBoard.read(self.board)
            except CannotRead as error:
                board, problem = QueueBoard(paused=True), str(error)
        numbers = self._numbers()
        order = [number for number in dict.fromkeys(board.order) if number in numbers]
        order += sorted(numbers.difference(order))
        whole = {"order": tuple(order), "last": max([board.last, *numbers])}
        return board.model_copy(update=whole), problem

    def _numbers(self) -> set[int]:
        try:
            names = [path.name for path in self._folder.iterdir()]
        except (FileNotFoundError, NotADirectoryError):
            return set()
        except OSError as error:
            raise CannotRead(self._folder, reason_of(error)) from error
        return {int(name[:-5]) for name in names if name.endswith(".json") and name[:-5].isdecimal()}
