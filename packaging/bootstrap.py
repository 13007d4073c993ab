"""Sets the program up on a fresh machine: `python3 packaging/bootstrap.py run`, or `test`.

Only this door is written so that any Python can read it, to refuse an old one in one line;
the rooms behind it (`house/`) need Python 3.11 and nothing but its standard library.
"""

import os
import sys

if sys.version_info < (3, 11):  # noqa: UP036 - an old Python does come here
    sys.exit(
        "Kohya Preflight needs Python 3.11 or newer; this is Python %d.%d. "  # noqa: UP031
        "Install a newer one and start this file with it." % sys.version_info[:2]
    )

HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
sys.path[:0] = [HERE]
sys.path.append(os.path.dirname(HERE))  # noqa: PTH120

if __name__ == "__main__":
    from house.commands import main

    sys.exit(main(sys.argv[1:]))
