"""Other people's files to plans."""
