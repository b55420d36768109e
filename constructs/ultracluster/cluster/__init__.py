"""A whole cluster: `UltraCluster`."""
