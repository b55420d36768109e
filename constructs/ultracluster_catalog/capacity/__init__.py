"""Capacity Blocks: sizes, durations and Regions."""
