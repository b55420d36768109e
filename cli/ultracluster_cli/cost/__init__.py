"""`ultracluster cost`."""

__all__: list[str] = []
