"""Looks at a cluster once a minute and publishes what neither AWS nor a node can say: queue, paid nodes, stalled steps."""

__all__: list[str] = []
