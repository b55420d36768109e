"""Amazon EC2 Auto Scaling groups that launch one instance type from a launch template."""

__all__: list[str] = []
