"""The rollout file, and the stacks that `cdk deploy` deploys."""

__all__: list[str] = []
