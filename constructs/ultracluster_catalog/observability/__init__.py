"""Metrics, alarm thresholds and dashboard panels."""

__all__: list[str] = []
