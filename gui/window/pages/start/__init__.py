"""The first page: a trainer, practice, a setup that is brought; and what was done lately."""
