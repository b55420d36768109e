"""The life of a Capacity Block in a cluster: opened at its start, drained before its end, reported afterwards."""

__all__: list[str] = []
