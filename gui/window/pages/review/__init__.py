"""Review: what is wrong with the plan and how it is mended, what will happen, and the launch."""

from gui.window.pages.review.step import ReviewStep

__all__ = ["ReviewStep"]
