"""Quotas and limits of AWS services."""

__all__: list[str] = []
