"""Record metrics, and compare those of bake-offs."""

__all__: list[str] = []
