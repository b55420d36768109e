"""IAM: roles, policies, their grammar and their simulation."""

__all__: list[str] = []
