"""`ultracluster deploy`."""
