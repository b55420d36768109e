"""Stacks and stages that `cdk deploy` deploys."""
