"""Watch a cluster every minute and publish metrics that AWS and nodes do not: queue, paid nodes, stalled steps."""
