"""Preflight: check with read-only calls whether an account has what a rollout needs."""
