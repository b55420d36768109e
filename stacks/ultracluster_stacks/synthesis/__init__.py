"""Synthesis of a rollout into a cloud assembly."""

__all__: list[str] = []
