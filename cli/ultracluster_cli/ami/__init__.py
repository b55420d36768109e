"""`ultracluster ami`."""

__all__: list[str] = []
