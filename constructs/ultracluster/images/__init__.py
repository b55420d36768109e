"""Machine images and container images."""

__all__: list[str] = []
