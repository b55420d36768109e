"""CloudWatch alarms: evaluated as CloudWatch documents it, from the metrics that the local AWS holds."""

__all__: list[str] = []
