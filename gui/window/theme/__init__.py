"""How the window looks: colours, type, spacing, icons."""
