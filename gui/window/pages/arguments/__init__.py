"""The step that shows every argument of the trainer."""
