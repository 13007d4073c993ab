"""What the user wants to train."""
