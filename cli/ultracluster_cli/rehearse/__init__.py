"""`ultracluster rehearse`."""

__all__: list[str] = []
