"""Amazon FSx for Lustre."""

__all__: list[str] = []
