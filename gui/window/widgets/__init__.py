"""The kit of parts from which pages are made."""
