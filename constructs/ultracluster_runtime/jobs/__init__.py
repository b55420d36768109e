"""Jobs of a cluster: submit, list, diagnose, follow and stop them."""
