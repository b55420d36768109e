"""`ultracluster init`."""
