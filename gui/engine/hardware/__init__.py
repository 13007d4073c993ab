"""GPU and host."""
