"""Identifiers and tags."""

__all__: list[str] = []
