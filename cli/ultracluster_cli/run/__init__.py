"""`ultracluster run`."""

__all__: list[str] = []
