"""The command line `ultracluster`."""

__all__: list[str] = []
