"""CDK constructs for AWS Trainium UltraClusters."""

__all__: list[str] = []
