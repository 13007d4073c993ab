"""A writer of TensorBoard event files: enough for the practice trainer, under the usual name."""

from tensorboard.writer import EventFileWriter

__version__ = "2.0.0+practice"
__all__ = ["EventFileWriter"]
