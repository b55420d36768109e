"""`ultracluster rollout`."""
