"""`ultracluster capacity`."""
