"""Amazon EC2: capacity, instances, launch templates and placement groups."""

__all__: list[str] = []
