"""What stories stand on."""

from story import bare_machine, known_home, qtbot, sit_down, write_plan

__all__ = ["bare_machine", "known_home", "qtbot", "sit_down", "write_plan"]
