"""`ultracluster dashboard` and `ultracluster advise`."""

__all__: list[str] = []
