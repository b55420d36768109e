"""`ultracluster ami`."""
