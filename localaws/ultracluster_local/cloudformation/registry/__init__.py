"""Schemas of the CloudFormation registry."""

__all__: list[str] = []
