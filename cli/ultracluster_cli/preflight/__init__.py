"""`ultracluster preflight`."""
