"""The parts of the practice trainer."""
