"""`ultracluster validate`, `explain`, `rules` and `check`."""

__all__: list[str] = []
