"""Read YAML with source positions and defaults."""

__all__: list[str] = []
