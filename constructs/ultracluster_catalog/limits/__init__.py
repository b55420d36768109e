"""Quotas and limits of AWS services."""
