"""Jobs of a cluster: submitted, listed, explained, followed and ended."""

__all__: list[str] = []
