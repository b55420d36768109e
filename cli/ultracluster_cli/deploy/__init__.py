"""`ultracluster deploy`."""

__all__: list[str] = []
