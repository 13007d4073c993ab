"""What pages show, as Qt models."""
