"""Takes terminal escape sequences out of a stream of bytes, however it is cut.

A terminal gets SGR colours and OSC-8 links from rich; even a plain pipe gets cursor moves from
nested tqdm bars (trainer-output 2 and 3.4). None of them carries meaning here.
"""

from __future__ import annotations

import re

ESCAPE = b"\x1b"

_COMPLETE = re.compile(
    rb"\x1b(?:"
    rb"\[[0-?]{0,64}[ -/]{0,8}[@-~]"  # CSI: colours, cursor moves
    rb"|\][^\x07\x1b\r\n]{0,4096}(?:\x07|\x1b\\)"  # OSC: links, titles
    rb"|[ -/]{0,4}[0-Z\\^-~]"  # two-character sequences; not the starts of the two above
    rb")"
)
_UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}|\][^\x07\x1b\r\n]{0,4096}\x1b?|[ -/]{0,4})?\Z")


class EscapeStripper:
    """Removes escape sequences; a sequence that is cut by the end of the data waits for its rest.

    What begins like a sequence but is none loses only its escape character, so that the result
    depends on the bytes alone. At most 4 KiB wait.
    """

    def __init__(self) -> None:
        self._waiting = b""

    @property
    def waiting(self) -> bool:
        """Whether the start of a sequence is held back."""
        return bool(self._waiting)

    def feed(self, data: bytes) -> bytes:
        """Return the data without its escape sequences, as far as that is decided."""
        data = self._waiting + data
        self._waiting = b""
        kept: list[bytes] = []
        at = 0
        while (start := data.find(ESCAPE, at)) >= 0:
            kept.append(data[at:start])
            complete = _COMPLETE.match(data, start)
            if complete is not None:
                at = complete.end()
            elif _UNFINISHED.match(data, start):
                self._waiting = data[start:]
                at = len(data)
                break
            else:
                at = start + 1
        kept.append(data[at:])
        return b"".join(kept)

    def finish(self) -> bytes:
        """Return what was held back, now that no rest will come."""
        waiting, self._waiting = self._waiting, b""
        return waiting.replace(ESCAPE, b"")
