"""The one door: no arguments open the window, otherwise a sub-command runs."""

import sys

LOOKING = "look-at-images"
"""The one sub-command of which many are started: it does without all that the others need."""


def main() -> None:
    """Run the program with the arguments of this process."""
    if sys.argv[1:] == [LOOKING]:
        from gui.engine.dataset import worker

        sys.exit(worker.main())
    try:
        from gui.cli.main import run  # here, so that Ctrl+C during it is no traceback
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
