"""`ultracluster dashboard` and `ultracluster advise`."""
