"""Regions, Availability Zones and addresses."""
