"""`ultracluster jobs`."""

__all__: list[str] = []
