"""The Run page: a live or past run, and what one can do about it."""
