"""`ultracluster cost`."""
