"""Keys, role paths, cdk-nag acknowledgments and template checks."""

__all__: list[str] = []
