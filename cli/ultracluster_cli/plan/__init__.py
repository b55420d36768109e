"""`ultracluster plan`."""

__all__: list[str] = []
