"""Metrics, alarm thresholds and dashboard panels."""
