"""Finding, approving and buying Capacity Blocks, each order at most once."""

__all__: list[str] = []
