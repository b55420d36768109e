"""CloudWatch alarms, evaluated on the metrics of the local AWS as CloudWatch documents it."""

__all__: list[str] = []
