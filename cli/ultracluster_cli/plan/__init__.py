"""`ultracluster plan`."""
