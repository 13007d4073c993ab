"""What the bootstrap does, one matter a module; standard library only."""
