"""Run folders, supervision, verdicts."""
