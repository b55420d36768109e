"""Amazon S3."""

__all__: list[str] = []
