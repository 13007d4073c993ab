"""Between the engine and Qt: blocking work in threads, its news as signals."""
