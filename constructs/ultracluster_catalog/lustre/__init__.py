"""FSx for Lustre: tiers, sizes and associations."""
