"""File systems, buckets and compile caches."""
