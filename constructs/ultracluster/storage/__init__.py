"""File systems, buckets and compile caches."""

__all__: list[str] = []
