"""The command line: one thin module a sub-command."""
