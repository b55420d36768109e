"""`ultracluster rehearse`."""
