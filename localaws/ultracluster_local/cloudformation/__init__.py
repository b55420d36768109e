"""CloudFormation: templates, an engine over boto3, change sets and drift."""

__all__: list[str] = []
