"""The trainer's raw output as typed events, and what they add up to."""

from gui.engine.trainer.output.parser import OutputParser
from gui.engine.trainer.output.tally import Tally

__all__ = ["OutputParser", "Tally"]
