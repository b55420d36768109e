"""A whole cluster: `UltraCluster`."""

__all__: list[str] = []
