"""The one door: no arguments open the window, otherwise a sub-command runs."""

import sys


def main() -> None:
    """Run the program with the arguments of this process."""
    try:
        from gui.cli.main import run  # here, so that Ctrl+C during it is no traceback
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
