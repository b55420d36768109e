"""AWS Batch jobs as processes of this machine, for a local AWS that is configured to run them."""

__all__: list[str] = []
