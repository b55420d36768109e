"""State, clock and environment of one local AWS."""

__all__: list[str] = []
