"""`ultracluster local` and `ultracluster demo`."""
