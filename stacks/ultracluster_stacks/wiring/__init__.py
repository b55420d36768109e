"""Translate rollout settings into constructs."""

__all__: list[str] = []
