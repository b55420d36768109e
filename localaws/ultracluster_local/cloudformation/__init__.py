"""CloudFormation: templates, an engine over boto3, and change sets."""

__all__: list[str] = []
