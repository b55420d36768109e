"""`ultracluster jobs`."""
