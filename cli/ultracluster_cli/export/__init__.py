"""`ultracluster export`."""

__all__: list[str] = []
