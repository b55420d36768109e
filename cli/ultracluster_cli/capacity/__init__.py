"""`ultracluster capacity`."""

__all__: list[str] = []
