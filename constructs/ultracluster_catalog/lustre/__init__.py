"""FSx for Lustre: tiers, sizes and associations."""

__all__: list[str] = []
