"""CloudWatch: metrics, alarms, dashboards and logs."""

__all__: list[str] = []
