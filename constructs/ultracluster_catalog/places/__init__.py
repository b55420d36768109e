"""Regions, Availability Zones and addresses."""

__all__: list[str] = []
