"""`ultracluster dashboard`, and the recordings that `ultracluster cost advise` reads too."""
