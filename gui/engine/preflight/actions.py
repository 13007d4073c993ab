"""Fixes that are no values of a plan and that the program does itself, by the name in their ``action``.

Any other action is done by hand: the program touches nothing of it, and checks again when it is said to be
done.
"""

from __future__ import annotations

KEEP_TOKEN = "keep-token"  # noqa: S105 - the name of an action
"""Put the token at the finding's first place into the system's keyring; the other changes take it out."""

END_RUN = "end-run"
"""End what still lives of the run whose folder is the finding's ``where``; asked first."""

CONVERT_CAPTIONS = "convert-captions"
"""Write the captions of the subset that the finding's ``where`` names in UTF-8, beside kept originals; asked
first."""
