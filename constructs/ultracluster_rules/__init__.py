"""Rules: findings, the records of rules and the checks that every layer shares."""

__all__: list[str] = []
