"""Preflight: whether an account has what a rollout needs, found out by reading only."""

__all__: list[str] = []
