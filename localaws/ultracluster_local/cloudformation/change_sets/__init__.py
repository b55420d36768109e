"""Change sets, and the changes that they list."""

__all__: list[str] = []
