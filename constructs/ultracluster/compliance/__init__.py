"""Keys, role paths, cdk-nag acknowledgments and template checks."""
