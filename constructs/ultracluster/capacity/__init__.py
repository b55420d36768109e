"""Sources of capacity: Capacity Blocks, reservations, on-demand and Spot."""
