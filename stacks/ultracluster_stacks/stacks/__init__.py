"""Stacks and stages that `cdk deploy` deploys."""

__all__: list[str] = []
