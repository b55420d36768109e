"""Capacity Blocks: sizes, durations and Regions."""

__all__: list[str] = []
