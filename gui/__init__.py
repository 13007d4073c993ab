"""Kohya Preflight: checks, launches and watches trainings with kohya-ss/sd-scripts."""

__version__ = "0.1.0"
