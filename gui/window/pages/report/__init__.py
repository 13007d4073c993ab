"""A report of a run for those who help: looked through, then saved."""
