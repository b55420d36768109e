"""`ultracluster local` and `ultracluster demo`."""

__all__: list[str] = []
