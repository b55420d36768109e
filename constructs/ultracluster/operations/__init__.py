"""Life cycle of a Capacity Block, alarms, watch function and budget."""
