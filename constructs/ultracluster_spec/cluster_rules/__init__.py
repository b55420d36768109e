"""Rules across the fields of a cluster and the clusters of a rollout."""
