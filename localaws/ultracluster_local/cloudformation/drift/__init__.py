"""Drift detection."""

__all__: list[str] = []
