"""Pydantic models of the rollout file."""

__all__: list[str] = []
