"""Pydantic models of the rollout file."""
