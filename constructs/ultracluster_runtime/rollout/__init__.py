"""Rollouts, cluster by cluster and wave by wave: plan, journal, and next steps."""
