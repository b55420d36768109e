"""`ultracluster preflight`."""

__all__: list[str] = []
