"""`ultracluster export`."""
