"""Life cycle of a Capacity Block in a cluster: open at the start, drain before the end, report afterwards."""
