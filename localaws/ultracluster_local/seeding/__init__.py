"""Initial content of a local AWS."""

__all__: list[str] = []
