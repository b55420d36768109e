"""Building blocks shared by the constructs."""

__all__: list[str] = []
