"""Everything but the faces: no Qt, typed, importable with PySide6 absent."""
