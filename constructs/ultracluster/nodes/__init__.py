"""Nodes: launch template, instance role, user data, boot checks and metrics."""
