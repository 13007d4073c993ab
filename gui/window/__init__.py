"""The window: everything that needs Qt. It shows what the engine knows and asks it to act."""
