"""Find, approve and buy Capacity Blocks; each order is bought at most once."""
