"""The one door: no arguments open the window, otherwise a sub-command runs."""

import sys

from gui.cli.main import run


def main() -> None:
    """Run the program with the arguments of this process."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
