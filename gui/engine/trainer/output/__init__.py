"""The trainer's raw output as typed events, and what they add up to."""

from gui.engine.trainer.output.parser import OutputParser, Said
from gui.engine.trainer.output.reading import as_utf8, read_log, read_stream
from gui.engine.trainer.output.tally import Tally

__all__ = ["OutputParser", "Said", "Tally", "as_utf8", "read_log", "read_stream"]
