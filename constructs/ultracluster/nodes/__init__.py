"""Nodes: launch template, instance role, user data, boot checks and metrics."""

__all__: list[str] = []
